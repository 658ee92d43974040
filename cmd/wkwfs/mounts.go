package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// fuseMagic is FUSE_SUPER_MAGIC: what statfs says of every FUSE mount.
const fuseMagic = 0x65735546

// answerTimeout is how long a mount may take to answer before it counts as live
// but stuck: its server may be stopped, or be waiting for a store.
const answerTimeout = 2 * time.Second

// mounted is one entry of the table of mounts.
type mounted struct {
	ID     int // unique while the mount exists
	Point  string
	Type   string
	Source string
}

// mountTable lists the mounts that this process sees, oldest first. Reading it
// touches no mount, so it cannot hang on a dead one.
func mountTable() ([]mounted, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseMountTable(f)
}

// parseMountTable reads the format of /proc/self/mountinfo (man 5 proc).
func parseMountTable(r io.Reader) ([]mounted, error) {
	infos, err := mountinfo.GetMountsFromReader(r, nil)
	if err != nil {
		return nil, err
	}
	table := make([]mounted, 0, len(infos))
	for _, i := range infos {
		table = append(table, mounted{i.ID, i.Mountpoint, i.FSType, i.Source})
	}
	return table, nil
}

// topMount returns the mount that is visible at the path: the last of those
// stacked there.
func topMount(table []mounted, path string) (mounted, bool) {
	for i := len(table) - 1; i >= 0; i-- {
		if table[i].Point == path {
			return table[i], true
		}
	}
	return mounted{}, false
}

// mountAt returns the mount that is visible at the path now.
func mountAt(path string) (mounted, bool, error) {
	table, err := mountTable()
	if err != nil {
		return mounted{}, false, err
	}
	m, ok := topMount(table, path)
	return m, ok, nil
}

// resolveMountpoint makes the path absolute and free of symbolic links without
// ever asking the file system mounted there, which may be dead or stopped.
func resolveMountpoint(path string, table []mounted) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	const maxLinks = 40 // as the kernel
	for range maxLinks {
		parent, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		path = filepath.Join(parent, filepath.Base(path))
		if _, ok := topMount(table, path); ok {
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil { // no link, or nothing there: whoever uses the path will see
			return path, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(parent, target)
		}
		path = target
	}
	return "", &os.PathError{Op: "resolve", Path: path, Err: unix.ELOOP}
}

// errStuck says that a mount did not answer in time.
var errStuck = errors.New("no answer")

// statMount asks the file system mounted at the path for an answer. It returns
// errStuck after the timeout; the thread that asks stays behind until there is an
// answer or the process ends.
func statMount(path string, timeout time.Duration) (unix.Statfs_t, error) {
	type answer struct {
		st  unix.Statfs_t
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		a.err = ignoringEINTR(func() error { return unix.Statfs(path, &a.st) })
		answers <- a
	}()
	select {
	case a := <-answers:
		return a.st, a.err
	case <-time.After(timeout):
		return unix.Statfs_t{}, errStuck
	}
}

// isDead reports whether the mount at the path has lost its server. A mount that
// does not answer is not dead: its server may be stopped, and go on later.
func isDead(path string) bool {
	_, err := statMount(path, answerTimeout)
	return errors.Is(err, unix.ENOTCONN)
}

// ignoringEINTR repeats a system call that a signal interrupted: the Go runtime
// sends signals to its own threads.
func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
