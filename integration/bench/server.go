package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// timeout limits the time that a server takes to mount or to end.
const timeout = 30 * time.Second

// mounted is a mounted file system.
type mounted struct {
	dir    string
	server *exec.Cmd    // nil: the kernel serves it
	ended  chan error   // gets the result of the server
	below  *mounted     // its source, if that is mounted too
	stop   func() error // ends the server of its source; nil: there is none
}

// kernelMount mounts an image with the kernel's own driver, through a loop device. The kernel caches the image
// in the page cache.
func kernelMount(kind, image string) (*mounted, error) {
	dir, err := os.MkdirTemp("", "wkwfs-bench-")
	if err != nil {
		return nil, err
	}
	m := &mounted{dir: dir}
	if err := callToEnd("mount", "-t", kind, "-o", "loop,ro", image, dir); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// serve starts a FUSE server in the foreground, and returns when it serves. With notifies, the server notifies
// NOTIFY_SOCKET. Otherwise serve waits until the mount exists.
func serve(ctx context.Context, notifies bool, program func(dir string) []string) (*mounted, error) {
	dir, err := os.MkdirTemp("", "wkwfs-bench-")
	if err != nil {
		return nil, err
	}
	socket, err := listen()
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	defer socket.close()
	args := program(dir)
	m := &mounted{dir: dir, server: command(context.Background(), args[0], args[1:]...), ended: make(chan error, 1)}
	m.server.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket.path)
	m.server.Stderr = os.Stderr
	if err := m.server.Start(); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	go func() { m.ended <- m.server.Wait() }()
	ready := func() (bool, error) { return isMountpoint(dir) }
	if notifies {
		ready = socket.ready
	}
	if err := m.await(ctx, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: wait for the mount: %w", args[0], err), m.close())
	}
	return m, nil
}

// await waits until the server is ready. It fails if the server ends.
func (m *mounted) await(ctx context.Context, ready func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		select {
		case err := <-m.ended:
			m.ended <- err // for close
			return errors.New("the server ended")
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isMountpoint reports whether something is mounted on a directory.
func isMountpoint(dir string) (bool, error) {
	var here, above unix.Stat_t
	err := errors.Join(unix.Lstat(dir, &here), unix.Lstat(filepath.Dir(dir), &above))
	return here.Dev != above.Dev, err
}

// close unmounts and waits until the server ends. Signals do not interrupt it.
func (m *mounted) close() error {
	var errs []error
	if on, err := isMountpoint(m.dir); on || err != nil {
		errs = append(errs, unmount(m.dir))
	}
	if m.server != nil {
		kill := time.AfterFunc(timeout, func() { _ = m.server.Process.Kill() }) // Wait returns the result
		errs = append(errs, serverError(<-m.ended))
		kill.Stop()
	}
	errs = append(errs, os.Remove(m.dir))
	if m.below != nil {
		errs = append(errs, m.below.close())
	}
	if m.stop != nil {
		errs = append(errs, m.stop())
	}
	return errors.Join(errs...)
}

// unmount removes a mount, if necessary while it is in use.
func unmount(dir string) error {
	name, lazily := []string{"umount"}, "-l"
	if os.Geteuid() != 0 {
		name, lazily = []string{"fusermount3", "-u"}, "-z"
	}
	err := callToEnd(name[0], append(name[1:], dir)...)
	if err != nil {
		err = errors.Join(err, callToEnd(name[0], append(name[1:], lazily, dir)...))
	}
	return err
}

// serverError returns an error if a server did not end well.
func serverError(err error) error {
	if err != nil {
		return fmt.Errorf("the server ended: %w", err)
	}
	return nil
}

// pid returns the process of the server, or 0 if the kernel serves.
func (m *mounted) pid() int {
	if m.server == nil {
		return 0
	}
	return m.server.Process.Pid
}

// readiness is a socket that gets the notification of a server, as systemd defines it.
type readiness struct {
	*net.UnixConn
	path string
}

// listen makes a socket for the notification.
func listen() (readiness, error) {
	dir, err := os.MkdirTemp("", "wkwfs-bench-")
	if err != nil {
		return readiness{}, err
	}
	path := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return readiness{}, errors.Join(err, os.Remove(dir))
	}
	return readiness{conn, path}, nil
}

// ready reports whether the server has sent the notification.
func (r readiness) ready() (bool, error) {
	var message [64]byte
	if err := r.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		return false, err
	}
	n, err := r.Read(message[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false, nil
	}
	return string(message[:n]) == "READY=1", err
}

func (r readiness) close() {
	_ = r.Close()
	_ = os.RemoveAll(filepath.Dir(r.path))
}
