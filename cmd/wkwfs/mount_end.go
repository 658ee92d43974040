//go:build linux

package main

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/wkwfs/wkwfs/internal/host/daemon"
	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// ending is how the server of a mount ends.
//
// A mount that is removed while programs use it still needs its server, perhaps for days. Another server may be mounted
// at its place by then. So the server gives up what only one of them can have, and most of its memory.
type ending struct {
	server  attached
	manager daemon.Manager
	signals <-chan os.Signal
	log     *slog.Logger
	release func() // gives up what a server at the same place needs; it may be called twice
	shrink  func() // gives up memory
}

// lingeringShare is the part of its cache that a server keeps when its mount is removed: an eighth.
const lingeringShare = 8

// settleTime is how long the kernel may take to end a mount that nobody uses.
const settleTime = 100 * time.Millisecond

// wait returns when the mount is removed and its last file is closed. The first signal removes it. A signal after that
// ends the server at once.
func (e ending) wait() error {
	ended := make(chan struct{})
	go guard.Func("mount.wait", func() {
		defer close(ended)
		e.server.Wait()
		guard.Pass("mount.wait")
	})()
	select {
	case <-ended:
		e.log.Info("unmounted")
		return nil
	case <-e.server.Gone():
		e.release()
	case s := <-e.signals:
		e.log.Info("unmounting", "signal", s.String())
		if err := e.manager.Stopping(); err != nil {
			e.log.Warn("cannot report the end to the service manager", "err", err)
		}
		e.release() // before another server can mount
		switch removed, err := e.server.Unmount(); {
		case errors.Is(err, errNotOurs):
			e.log.Info("ending: readers get errors until the mount is removed")
			return nil
		case err != nil:
			return err
		case !removed: // Gone is not closed yet
			e.endAtOnce()
			return nil
		}
	}
	select {
	case <-ended:
		e.log.Info("unmounted")
		return nil
	case <-e.signals:
		e.endAtOnce()
		return nil
	case <-time.After(settleTime):
	}
	e.linger(ended)
	return nil
}

// linger serves the files that are open.
func (e ending) linger(ended <-chan struct{}) {
	e.log.Info("unmounted, but in use: serving what is open until it is closed. A signal ends the server at once",
		"process", os.Getpid())
	e.shrink()
	select {
	case <-ended:
		e.log.Info("nothing is open any more")
	case <-e.signals:
		e.endAtOnce()
	}
}

// endAtOnce is called when a signal comes after the mount was removed.
func (e ending) endAtOnce() { e.log.Warn("ending at once: files are still open") }
