package nfsmount

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/guard"
	"github.com/wkwfs/wkwfs/internal/hint"
	"github.com/wkwfs/wkwfs/internal/status"
)

// answerTime is how long a server may take to answer.
const answerTime = 2 * time.Second

// StatusAddress returns the socket at which the server of a mount tells its status: in the directory for caches of this user, because
// a file in the mount would have to have a size before its content is known.
func StatusAddress(mountpoint string) (status.Address, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return status.Address{}, err
	}
	sum := sha256.Sum256([]byte(mountpoint))
	return status.Address{Network: "unix", Address: filepath.Join(dir, "wkwfs", fmt.Sprintf("%x.sock", sum[:8]))}, nil
}

// ServeStatus tells the status of a mount to its user until stop is called.
func ServeStatus(mountpoint string, meter *status.Meter, log *slog.Logger) (stop func(), err error) {
	address, err := StatusAddress(mountpoint)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(address.Address), 0o700); err != nil {
		return nil, err
	}
	listener, err := address.Listen()
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: meter.StatusHandler(), ReadHeaderTimeout: answerTime}
	ended := make(chan struct{})
	go guard.Func("nfsmount.status", func() {
		defer close(ended)
		guard.Pass("nfsmount.status")
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the status is no longer served", "err", err)
		}
	})()
	return func() {
		_ = server.Close() // its listeners cannot fail
		<-ended
	}, nil
}

// FetchStatus asks the server of a mount for its status, as JSON. It does not access the mount.
func FetchStatus(mountpoint string) ([]byte, error) {
	address, err := StatusAddress(mountpoint)
	if err != nil {
		return nil, err
	}
	client := http.Client{
		Timeout: answerTime,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, address.Network, address.Address)
		}},
	}
	answer, err := client.Get("http://mount/")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, hint.Errorf("run it as the user who mounted", "%s has no status for this user", mountpoint)
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, hint.Errorf("wkwfs umount --lazy "+hint.Quote(mountpoint), "the mount on %s is dead: its server has ended", mountpoint)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("the server of %s does not answer: it may be stopped", mountpoint)
	case err != nil:
		return nil, fmt.Errorf("the status of %s: %w", mountpoint, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the status of %s: %s", mountpoint, answer.Status)
	}
	return io.ReadAll(answer.Body)
}
