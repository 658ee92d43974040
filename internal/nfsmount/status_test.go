package nfsmount

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/status"
)

// TestNFSMountStatus asks a server for its status, before it runs, while it runs, and after it was killed.
func TestNFSMountStatus(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", home)
	const point = "/Users/me/cortex"
	if _, err := FetchStatus(point); err == nil || !strings.Contains(err.Error(), "no status for this user") {
		t.Errorf("before: %v", err)
	}
	meter := status.NewMeter(status.Options{Mountpoint: point, Cache: func() status.Cache { return status.Cache{} }, SourceIO: func() status.SourceIO { return status.SourceIO{} }})
	stop, err := ServeStatus(point, meter, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b, err := FetchStatus(point)
	if err != nil {
		t.Fatal(err)
	}
	var s status.Status
	if err := json.Unmarshal(b, &s); err != nil || s.Mountpoint != point || s.PID != os.Getpid() {
		t.Errorf("got %+v, %v", s, err)
	}
	address, err := StatusAddress(point)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(address.Address); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	if _, err := FetchStatus("/Users/me/liver"); err == nil {
		t.Error("another mount has the same status")
	}
	stop()
	if _, err := os.Stat(address.Address); err == nil {
		t.Error("the socket is left")
	}

	// A server that was killed leaves its socket.
	listener, err := address.Listen()
	if err != nil {
		t.Fatal(err)
	}
	listener.(interface{ SetUnlinkOnClose(bool) }).SetUnlinkOnClose(false)
	listener.Close()
	if _, err := FetchStatus(point); err == nil || !strings.Contains(err.Error(), "is dead") {
		t.Errorf("after: %v", err)
	}
	if stop, err = ServeStatus(point, meter, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatalf("beside the socket of a server that was killed: %v", err)
	}
	stop()
}
