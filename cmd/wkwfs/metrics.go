package main

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
)

// metricsAddress is where metrics are served: a socket, or a port that only this machine
// reaches. The zero value is nowhere.
type metricsAddress struct{ network, address string }

const (
	unixPrefix  = "unix:"
	metricsHint = "write it like unix:/run/wkwfs.sock or 127.0.0.1:9100"
)

func (m *metricsAddress) Type() string { return "ADDRESS" }

func (m *metricsAddress) String() string {
	if m.network == "unix" {
		return unixPrefix + m.address
	}
	return m.address
}

func (m *metricsAddress) Set(text string) error {
	if path, ok := strings.CutPrefix(text, unixPrefix); ok {
		if path == "" {
			return usageError(metricsHint, "%q names no socket", text)
		}
		*m = metricsAddress{"unix", path}
		return nil
	}
	at := text
	if port, ok := strings.CutPrefix(text, "localhost:"); ok {
		at = "127.0.0.1:" + port
	}
	tcp, err := netip.ParseAddrPort(at)
	switch {
	case err != nil:
		return usageError(metricsHint, "%q is not an address for metrics", text)
	case !tcp.Addr().IsLoopback():
		return usageError(metricsHint+"; for other machines, put a proxy that knows them in front", "%s can be reached from other machines", text)
	}
	*m = metricsAddress{"tcp", tcp.String()}
	return nil
}

// makeAbsolute frees a socket from the working directory.
func (m *metricsAddress) makeAbsolute() (err error) {
	if m.network == "unix" {
		m.address, err = filepath.Abs(m.address)
	}
	return err
}

// listen returns nil where nothing is to be served. Closing the listener removes a socket.
func (m *metricsAddress) listen() (net.Listener, error) {
	var config net.ListenConfig
	switch m.network {
	case "":
		return nil, nil
	case "unix":
		if err := removeStale(m.address); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		config.Control = forOwnerOnly
	}
	l, err := config.Listen(context.Background(), m.network, m.address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return l, nil
}

// forOwnerOnly gives a socket the mode 0600 before it has a name.
func forOwnerOnly(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) })
	return errors.Join(err, failed)
}

// removeStale removes a socket that nobody listens at: its server was killed.
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
		return errors.Join(hinted("give each mount a socket of its own", "another server listens at %s", path), conn.Close())
	case !errors.Is(err, unix.ECONNREFUSED):
		return err
	}
	return os.Remove(path)
}

// serveMetrics serves until the function that it returns is called.
func serveMetrics(l net.Listener, handler http.Handler, log *slog.Logger) (stop func()) {
	if l == nil {
		return func() {}
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are no longer served", "err", err)
		}
	}()
	log.Info("metrics", "network", l.Addr().Network(), "address", l.Addr().String())
	return func() {
		if err := server.Close(); err != nil {
			log.Warn("ending the metrics", "err", err)
		}
		<-ended
	}
}
