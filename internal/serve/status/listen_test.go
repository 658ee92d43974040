package status

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

func TestSocket(t *testing.T) {
	dir := t.TempDir()
	at := &Address{"unix", filepath.Join(dir, "m.sock")}
	l, err := at.Listen()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(at.Address)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v; want 0600", info.Mode(), err)
	}
	if _, err := at.Listen(); err == nil || !strings.Contains(err.Error(), "another server listens at "+at.Address) {
		t.Errorf("a second server: %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as if the server had been killed
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = at.Listen(); err != nil {
		t.Fatalf("in place of a stale socket: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(at.Address); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}

// TestServePanics: after a panic of the server of the metrics, nobody can connect, so no client waits. The mount goes
// on and ends as usual.
func TestServePanics(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	passed := make(chan struct{})
	defer guard.Inject(func(place string) {
		if place == "status.serve" {
			close(passed)
			panic("injected")
		}
	})()
	stop := Serve(l, http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	<-passed
	stop()
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("the listener is open")
	}
}

func TestListenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, test := range []struct {
		at   Address
		want string
	}{
		{Address{"unix", file}, "is not a socket"},
		{Address{"unix", filepath.Join(file, "m.sock")}, "not a directory"},
		{Address{"unix", "/" + strings.Repeat("x", 200)}, "metrics: "},
		{Address{"tcp", busy.Addr().String()}, "address already in use"},
	} {
		if _, err := test.at.Listen(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.at, err, test.want)
		}
	}
	if b, err := os.ReadFile(file); string(b) != "precious" || err != nil {
		t.Errorf("the file that is no socket: %q, %v", b, err)
	}
}

// TestListenInUseForAMoment: an address that another server gives up soon is no error.
func TestListenInUseForAMoment(t *testing.T) {
	for _, at := range []*Address{{"tcp", "127.0.0.1:0"}, {"unix", filepath.Join(t.TempDir(), "m.sock")}} {
		first, err := at.Listen()
		if err != nil {
			t.Fatal(err)
		}
		if at.Network == "tcp" {
			at.Address = first.Addr().String()
		}
		time.AfterFunc(10*inUsePause, func() { first.Close() })
		second, err := at.Listen()
		if err != nil {
			t.Fatalf("%v: %v", at, err)
		}
		if c, err := net.Dial(at.Network, at.Address); err != nil {
			t.Errorf("%v: the second server: %v", at, err)
		} else {
			c.Close()
		}
		second.Close()
	}
}
