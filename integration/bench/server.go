package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// timeout limits the time that a server takes to mount or to end.
const timeout = 30 * time.Second

// mounted is a mounted file system, or another server. The zero value is none.
type mounted struct {
	dir    string       // where it is mounted
	server *exec.Cmd    // nil: the kernel serves it
	ended  chan error   // gets the result of the server
	signal bool         // nothing is mounted: a signal ends the server
	below  func() error // ends its source; nil: nothing to end
}

// kernelMount mounts an image with the kernel's own driver, through a loop device. The kernel caches the image in the
// page cache.
func kernelMount(kind, image string) (*mounted, error) {
	dir, err := tempDir()
	if err != nil {
		return nil, err
	}
	m := &mounted{dir: dir}
	if err := call(context.Background(), "mount", "-t", kind, "-o", "loop,ro", image, dir); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// serve starts a server in the foreground, and returns when it serves. With notifies, the server notifies
// NOTIFY_SOCKET. Otherwise serve waits until the mount exists.
func serve(ctx context.Context, notifies bool, program func(dir string) []string) (*mounted, error) {
	dir, err := tempDir()
	if err != nil {
		return nil, err
	}
	socket := dir + ".notify"
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	defer func() { _, _ = conn.Close(), os.Remove(socket) }()
	args := program(dir)
	m := &mounted{dir: dir, server: command(context.Background(), args...), ended: make(chan error, 1)}
	m.server.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket)
	m.server.Stderr = os.Stderr
	if err := m.server.Start(); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	go func() { m.ended <- m.server.Wait() }()
	ready := func() (bool, error) { return isMountpoint(dir) }
	if notifies {
		ready = func() (bool, error) {
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			_, err := conn.Read(make([]byte, 64)) // READY=1
			return err == nil, nil
		}
	}
	if err := await(ctx, m.ended, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: wait for the server: %w", args[0], err), m.close())
	}
	return m, nil
}

// await waits until something is ready. It fails if the server ends, which sends its result to ended.
func await(ctx context.Context, ended chan error, ready func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		select {
		case err := <-ended:
			ended <- err // for close
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
	errs := []error{unmount(m.dir)}
	if m.server != nil {
		if m.signal {
			errs = append(errs, m.server.Process.Signal(unix.SIGTERM))
		}
		kill := time.AfterFunc(timeout, func() { _ = m.server.Process.Kill() }) // Wait returns the result
		if err := <-m.ended; err != nil {
			errs = append(errs, fmt.Errorf("the server ended: %w", err))
		}
		kill.Stop()
	}
	errs = append(errs, os.Remove(m.dir))
	if m.below != nil {
		errs = append(errs, m.below())
	}
	return errors.Join(errs...)
}

// unmount removes a mount, if there is one, and if necessary while it is in use.
func unmount(dir string) error {
	if on, err := isMountpoint(dir); !on {
		return err
	}
	name, lazily := []string{"umount"}, "-l"
	if os.Geteuid() != 0 {
		name, lazily = []string{"fusermount3", "-u"}, "-z"
	}
	err := call(context.Background(), append(name, dir)...)
	if err != nil {
		err = errors.Join(err, call(context.Background(), append(name, lazily, dir)...))
	}
	return err
}

// usage returns the CPU time of the server in seconds, and the largest resident memory that it ever had in bytes. Both
// are 0 if there is no server.
func (m *mounted) usage() (cpu float64, peak int64, err error) {
	if m.server == nil {
		return 0, 0, nil
	}
	pid := m.server.Process.Pid
	// The clock of clock_getcpuclockid(3): user and system time. /proc/PID/stat has a resolution of only 10 ms.
	const scheduled = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if found := highWater.FindSubmatch(status); found != nil {
		peak, err = strconv.ParseInt(string(found[1]), 10, 64)
	}
	return float64(t.Nano()) / 1e9, peak << 10, err
}

// highWater is the field of /proc/PID/status with the largest resident memory in KiB.
var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)
