package nfsmount

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"time"

	"github.com/wkwfs/wkwfs/internal/guard"
	"github.com/wkwfs/wkwfs/internal/mounts"
	"github.com/wkwfs/wkwfs/internal/nfs"
)

// Server is a mount and its server.
type Server struct {
	system *System
	mount  mounts.Mount
	log    *slog.Logger

	served chan struct{} // closed after the server has ended
	err    error         // of the server; set before served is closed
	ended  chan struct{} // closed after the mount and the server have ended
}

// errEnded is the error of a server that has ended.
var errEnded = errors.New("the server has ended")

// Mount serves the tree and mounts it on a directory, which must be resolved. The files of the tree are as [nfs.New] needs them.
func (s *System) Mount(point string, tree fs.FS, o nfs.Options) (*Server, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	m := &Server{system: s, log: o.Log, served: make(chan struct{}), ended: make(chan struct{})}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	go guard.Func("nfsmount.serve", func() {
		defer close(m.served)
		m.err = guard.Do("nfsmount.serve", func() error {
			guard.Pass("nfsmount.serve")
			return nfs.New(tree, o).Serve(ctx, listener)
		})
	})()
	err = run(s.MountProgram, arguments(listener.Addr().(*net.TCPAddr).Port, point))
	if err == nil {
		m.mount, err = s.at(point)
	}
	if err != nil {
		stop()
		<-m.served
		return nil, fmt.Errorf("mounting on %s: %w", point, err)
	}
	go guard.Func("nfsmount.watch", func() { m.watch(stop) })()
	return m, nil
}

// watch ends the server after the mount is gone.
func (m *Server) watch(stop func()) {
	defer close(m.ended)
	tick := time.NewTicker(m.system.Poll)
	defer tick.Stop()
	for m.exists() {
		select {
		case <-tick.C:
		case <-m.served:
			m.log.Error("the server has ended, and the mount with it", "err", m.err)
			if err := m.system.detach(m.mount, true); err != nil {
				m.log.Error("cannot unmount", "err", err)
			}
			stop()
			return
		}
	}
	stop()
	<-m.served
}

// exists reports whether the mount is in the table, or may be.
func (m *Server) exists() bool {
	exists, err := guard.Call("nfsmount.watch", func() (bool, error) {
		guard.Pass("nfsmount.watch")
		table, err := m.system.table()
		return err == nil && table.Has(m.mount), err
	})
	if err != nil {
		m.log.Warn("cannot read the table of mounts", "err", err)
		return true
	}
	return exists
}

// Wait returns after the mount and its server have ended.
func (m *Server) Wait() { <-m.ended }

// Check returns an error if the server has ended.
func (m *Server) Check() error {
	select {
	case <-m.served:
		return errors.Join(errEnded, m.err)
	default:
		return nil
	}
}

// Unmount removes the mount. If programs use it, they get errors.
func (m *Server) Unmount() error {
	if m.system.detach(m.mount, false) == nil {
		return nil
	}
	return m.system.detach(m.mount, true)
}
