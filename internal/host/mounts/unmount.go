//go:build linux

package mounts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// goneTimeout bounds the wait for a mount to disappear from the table after it was unmounted.
const goneTimeout = 10 * time.Second

// errInUse is the error for a mount with open or mapped files, or with a process working in it.
var errInUse = errors.New("in use")

// Unmount unmounts a mount of wkwfs, dead or alive, and returns when it is gone. It fails if
// the mount is in use. A lazy unmount hides the mount at once instead; open files stay
// readable until they are closed.
func Unmount(path string, lazy bool) error {
	table, err := ReadTable()
	if err != nil {
		return err
	}
	path, err = table.Resolve(path)
	if err != nil {
		return err
	}
	m, ok := table.At(path)
	around, inside := table.Containing(path)
	switch {
	case !ok && inside && around.Type == fsnode.Type:
		return hint.Errorf("wkwfs umount "+hint.Quote(around.Point), "%s is not a mount, but a path in the mount on %s",
			path, around.Point)
	case !ok:
		return hint.Errorf(listHint, "%s is not a mount", path)
	case m.Type != fsnode.Type:
		return hint.Errorf("umount "+path, "%s is a mount of type %s, not of wkwfs", path, m.Type)
	}
	if err := retryInUse(func() error { return detach(m, lazy) }); err != nil {
		return withLazyHint(err, path, lazy)
	}
	return awaitGone(m, goneTimeout)
}

// withLazyHint adds to an error which processes use the mount, and what helps. fusermount3 may
// have failed for another reason than use, so the hint names the condition.
func withLazyHint(err error, path string, lazy bool) error {
	var f *hint.Error
	if lazy || errors.As(err, &f) {
		return err
	}
	again := "wkwfs umount --lazy " + hint.Quote(path)
	switch users := holders(procfs, path); {
	case users != nil && errors.Is(err, errInUse):
		return hint.Errorf(again, "%w by %s", err, hint.List(users))
	case users != nil:
		return hint.Errorf(again, "%w: in use by %s", err, hint.List(users))
	case errors.Is(err, errInUse):
		return hint.Errorf(again, "%w", err)
	}
	return hint.Errorf("if it is in use: "+again, "%w", err)
}

// A new mount is in use for a moment: by the process that checks it, and by programs of the desktop that look at new
// mounts. So retryInUse calls unmount again while the mount is in use, for up to inUseTimeout.
func retryInUse(unmount func() error) error {
	for deadline := time.Now().Add(inUseTimeout); ; time.Sleep(inUsePause) {
		err := unmount()
		if !errors.Is(err, errInUse) || time.Until(deadline) <= 0 {
			return err
		}
	}
}

const (
	inUseTimeout = time.Second
	inUsePause   = 50 * time.Millisecond
)

// detach unmounts a mount. Its mountpoint must be resolved.
func detach(m Mount, lazy bool) error {
	if os.Geteuid() == 0 {
		return detachDirectly(m.Point, lazy)
	}
	return detachByHelper(m, lazy)
}

func detachDirectly(path string, lazy bool) error {
	flags := unix.UMOUNT_NOFOLLOW
	if lazy {
		flags |= unix.MNT_DETACH
	}
	err := ignoringEINTR(func() error { return unix.Unmount(path, flags) })
	switch {
	case err == unix.EBUSY:
		return fmt.Errorf("unmounting %s: %w", path, errInUse)
	case err != nil:
		return fmt.Errorf("unmounting %s: %w", path, err)
	}
	return nil
}

// detachByHelper unmounts for users who may not do so themselves. fusermount3 unmounts only what the same user has
// mounted, and says of other mounts that they are not found.
func detachByHelper(m Mount, lazy bool) error {
	helper, err := findFusermount()
	if err != nil {
		return err
	}
	args := []string{"-u"}
	if lazy {
		args = append(args, "-z")
	}
	cmd := exec.Command(helper, append(args, "--", m.Point)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	output, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case m.User != "" && m.User != strconv.Itoa(os.Getuid()):
		return hint.Errorf("run it as that user, or as root", "unmounting %s: mounted by another user: %s", m.Point,
			userName(m.User))
	case bytes.Contains(bytes.ToLower(output), []byte(unix.EBUSY.Error())):
		return fmt.Errorf("unmounting %s: %w", m.Point, errInUse)
	}
	return fmt.Errorf("unmounting %s: %s (%w)", m.Point, bytes.TrimSpace(output), err)
}

// userName returns the name of the user with a number. If the system does not know it, userName returns the number.
func userName(id string) string {
	u, err := user.LookupId(id)
	if err != nil {
		return "user " + id
	}
	return u.Username
}

// findFusermount returns the program that mounts and unmounts for ordinary users. It is setuid
// root and checks what a user may do.
func findFusermount() (string, error) {
	for _, name := range []string{"fusermount3", "fusermount", "/bin/fusermount3", "/bin/fusermount"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", hint.Errorf("apt install fuse3 (or run as root)",
		"fusermount3 is not installed: it mounts for ordinary users")
}

// awaitGone waits until the table does not have the mount.
func awaitGone(m Mount, timeout time.Duration) error {
	return awaitTable(func(t Table) bool { return !t.Has(m) }, timeout)
}

// awaitTable waits until the condition holds for the table. The kernel signals every change of
// the table.
func awaitTable(condition func(Table) bool, timeout time.Duration) error {
	// Not an os.File: the poller of the Go runtime would take the signals, one time or the other.
	events, err := unix.Open(tablePath, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: tablePath, Err: err}
	}
	defer unix.Close(events)
	deadline := time.Now().Add(timeout)
	for {
		table, err := ReadTable()
		if err != nil {
			return err
		}
		if condition(table) {
			return nil
		}
		left := time.Until(deadline)
		if left <= 0 {
			return fmt.Errorf("still mounted after %v", timeout)
		}
		left = min(left, time.Hour) // milliseconds of poll have 31 bits
		fds := []unix.PollFd{{Fd: int32(events), Events: unix.POLLPRI}}
		err = ignoringEINTR(func() error { _, err := unix.Poll(fds, int(left.Milliseconds())+1); return err })
		if err != nil {
			return fmt.Errorf("waiting for the table of mounts to change: %w", err)
		}
	}
}
