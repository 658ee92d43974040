//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/host/daemon"
)

// A service manager waits until the process that it has started ends, and then starts the next one. A server that is
// still in use after its mount was removed must not delay that. So the process of --wait starts a server in the
// background, and stands for it while it is mounted.

const (
	// stopTime is how long a server may take to unmount. It is shorter than TimeoutStopSec in the unit of systemd.
	stopTime = 5 * time.Second
	// lastTime is how long a server may take to end when its mount is removed, or to print where it hangs.
	lastTime = 300 * time.Millisecond
)

// mountAndWait starts a server, and returns when its mount is removed.
func mountAndWait(stderr io.Writer) error {
	m := daemon.FindManager()
	if err := m.LeaveWatchdog(); err != nil {
		return err
	}
	var signals <-chan os.Signal
	server, err := daemon.Start(os.Args, true, func(mountpoint string) error {
		// Before that, a signal ends this process, and the server sees that. The service manager sends SIGABRT to a
		// server that gives no sign of life.
		signals = endSignals(false, unix.SIGABRT)
		return checkMounted(mountpoint)
	}, stderr)
	if err != nil {
		return err
	}
	gone, err := whenGone(server.Mountpoint)
	if err == nil {
		err = daemon.DropPrivileges()
	}
	if err == nil {
		err = m.Ready()
	}
	if err != nil {
		return errors.Join(err, server.Stop(stopTime))
	}
	return wait(server, gone, m, signals)
}

// background is a server in another process.
type background interface {
	PID() int
	Ended() <-chan struct{}
	Err() error
	Signal(os.Signal) error
	Kill() error
}

// wait returns when the mount is removed, or its server has ended. It passes signals on. A server that does not unmount
// is killed.
func wait(server background, gone <-chan struct{}, m daemon.Manager, signals <-chan os.Signal) error {
	select {
	case <-server.Ended():
		return server.Err()
	case <-gone:
		return waitLast(server)
	case s := <-signals:
		if s == unix.SIGABRT {
			return abort(server)
		}
	}
	if err := errors.Join(m.Stopping(), server.Signal(unix.SIGTERM)); err != nil {
		return err
	}
	select {
	case <-server.Ended():
		return server.Err()
	case <-gone:
		return waitLast(server)
	case <-signals:
		return errors.Join(server.Signal(unix.SIGTERM), waitLast(server))
	case <-time.After(stopTime):
	}
	return errors.Join(fmt.Errorf("the server (process %d) did not unmount within %v, and was killed", server.PID(),
		stopTime), server.Kill())
}

// waitLast gives the server the time to end that it needs if nothing is open.
func waitLast(server background) error {
	select {
	case <-server.Ended():
		return server.Err()
	case <-time.After(lastTime):
		return nil
	}
}

// abort ends a server that hangs. It prints where, if it can.
func abort(server background) error {
	if err := server.Signal(unix.SIGABRT); err != nil {
		return err
	}
	select {
	case <-server.Ended():
		return server.Err()
	case <-time.After(lastTime):
	}
	return errors.Join(fmt.Errorf("the server (process %d) did not answer, and was killed", server.PID()),
		server.Kill())
}
