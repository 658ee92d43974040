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

// patience is for how long a server may take to mount, or to end.
const patience = 30 * time.Second

// mounted is a file system that can be read.
type mounted struct {
	dir    string
	server *exec.Cmd  // nil where the kernel serves it
	ended  chan error // gets what the server ended with
	below  *mounted   // its source, where that is mounted, too
}

// kernelMount has the kernel mount an image through a loop device, whose own reads go
// through the page cache.
func kernelMount(kind, image string) (*mounted, error) {
	dir, err := os.MkdirTemp("", "wkwfs-bench-")
	if err != nil {
		return nil, err
	}
	m := &mounted{dir: dir}
	if err := finish("mount", "-t", kind, "-o", "loop,ro", image, dir); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// serve starts a server of FUSE in the foreground, and returns when it serves. Told with
// NOTIFY_SOCKET, most say when that is; of others the mount has to appear.
func serve(ctx context.Context, tells bool, program func(dir string) []string) (*mounted, error) {
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
	if tells {
		ready = socket.ready
	}
	if err := m.await(ctx, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: waiting for the mount: %w", args[0], err), m.close())
	}
	return m, nil
}

// await asks whether the server is ready until it is, or has ended.
func (m *mounted) await(ctx context.Context, ready func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		select {
		case err := <-m.ended:
			m.ended <- err // close looks at it again
			return errors.New("it ended")
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

// close unmounts, and waits for the server to end. It is not to be interrupted.
func (m *mounted) close() error {
	var errs []error
	if on, err := isMountpoint(m.dir); on || err != nil {
		errs = append(errs, unmount(m.dir))
	}
	if m.server != nil {
		kill := time.AfterFunc(patience, func() { _ = m.server.Process.Kill() }) // Wait says what came of it
		errs = append(errs, explain(<-m.ended))
		kill.Stop()
	}
	errs = append(errs, os.Remove(m.dir))
	if m.below != nil {
		errs = append(errs, m.below.close())
	}
	return errors.Join(errs...)
}

// unmount takes a mount away, if need be from whoever is using it.
func unmount(dir string) error {
	name, lazily := []string{"umount"}, "-l"
	if os.Geteuid() != 0 {
		name, lazily = []string{"fusermount3", "-u"}, "-z"
	}
	err := finish(name[0], append(name[1:], dir)...)
	if err != nil {
		err = errors.Join(err, finish(name[0], append(name[1:], lazily, dir)...))
	}
	return err
}

// explain says what it was that did not end well.
func explain(err error) error {
	if err != nil {
		return fmt.Errorf("a server ended: %w", err)
	}
	return nil
}

// pid is that of the server; 0 of the kernel.
func (m *mounted) pid() int {
	if m.server == nil {
		return 0
	}
	return m.server.Process.Pid
}

// readiness is a socket to which a server says that it is ready, as systemd has it.
type readiness struct {
	*net.UnixConn
	path string
}

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

// ready reports whether the server has said so.
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

func (r readiness) close() { // nothing is lost with it
	_ = r.Close()
	_ = os.RemoveAll(filepath.Dir(r.path))
}
