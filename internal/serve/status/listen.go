package status

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// Address is where metrics are served: a Unix socket, or a port that only this machine can
// reach. The zero Address is nowhere. It is the value of a flag.
type Address struct{ Network, Address string }

const (
	unixPrefix  = "unix:"
	addressHint = "write it like unix:/run/wkwfs.sock or 127.0.0.1:9100"
)

// Type returns what help texts call the value.
func (a *Address) Type() string { return "ADDRESS" }

// String returns the address as Set takes it.
func (a *Address) String() string {
	if a.Network == "unix" {
		return unixPrefix + a.Address
	}
	return a.Address
}

// Set parses an address.
func (a *Address) Set(text string) error {
	if path, ok := strings.CutPrefix(text, unixPrefix); ok {
		if path == "" {
			return hint.Usagef(addressHint, "%q names no socket", text)
		}
		*a = Address{"unix", path}
		return nil
	}
	at := text
	if port, ok := strings.CutPrefix(text, "localhost:"); ok {
		at = "127.0.0.1:" + port
	}
	tcp, err := netip.ParseAddrPort(at)
	switch {
	case err != nil:
		return hint.Usagef(addressHint, "%q is not an address for metrics", text)
	case !tcp.Addr().IsLoopback():
		return hint.Usagef(addressHint+"; for other machines, put a proxy with authentication in front",
			"%s can be reached from other machines", text)
	}
	*a = Address{"tcp", tcp.String()}
	return nil
}

// MakeAbsolute makes the path of a socket independent of the working directory.
func (a *Address) MakeAbsolute() (err error) {
	if a.Network == "unix" {
		a.Address, err = filepath.Abs(a.Address)
	}
	return err
}

const (
	inUseTimeout = time.Second
	inUsePause   = 20 * time.Millisecond
)

// Listen returns a listener; nil for the zero Address. Closing it removes a socket. The server of a mount that was just
// removed may hold the address for a moment. So if it is in use, Listen tries again for up to inUseTimeout.
func (a *Address) Listen() (net.Listener, error) {
	for deadline := time.Now().Add(inUseTimeout); ; time.Sleep(inUsePause) {
		l, err := a.listen()
		inUse := errors.Is(err, errListens) || errors.Is(err, unix.EADDRINUSE)
		if !inUse || time.Until(deadline) <= 0 {
			return l, err
		}
	}
}

func (a *Address) listen() (net.Listener, error) {
	var config net.ListenConfig
	switch a.Network {
	case "":
		return nil, nil
	case "unix":
		if err := removeStale(a.Address); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		config.Control = forOwnerOnly
	}
	l, err := config.Listen(context.Background(), a.Network, a.Address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return l, nil
}

var errListens = errors.New("another server listens")

// forOwnerOnly sets the mode of a socket to 0600 before it gets a name.
func forOwnerOnly(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(err, failed)
}

// removeStale removes the socket of a server that was killed. A socket in use is an error, and
// so is any other file.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is there and is not a socket", path)
	}
	conn, err := net.Dial("unix", path)
	switch {
	case err == nil:
		return errors.Join(hint.Errorf("give each mount a socket of its own", "%w at %s", errListens, path),
			conn.Close())
	case !errors.Is(err, unix.ECONNREFUSED):
		return err
	}
	return os.Remove(path)
}

// Serve serves HTTP at the listener until stop is called.
func Serve(l net.Listener, handler http.Handler, log *slog.Logger) (stop func()) {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ended := make(chan struct{})
	go guard.Func("status.serve", func() {
		defer close(ended)
		defer l.Close() // its error loses no data
		guard.Pass("status.serve")
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are no longer served", "err", err)
		}
	})()
	log.Info("metrics", "network", l.Addr().Network(), "address", l.Addr().String())
	return func() {
		if err := server.Close(); err != nil {
			log.Warn("cannot close the server of the metrics", "err", err)
		}
		<-ended
	}
}
