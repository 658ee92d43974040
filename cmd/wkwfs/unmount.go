package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// errBusy says that files of the mount are open, or somebody's working directory
// is in it.
var errBusy = errors.New("in use")

// unmount takes away the mount that is visible at the path; lazy: from sight at
// once, and really when the last open file is closed. The path must be resolved.
func unmount(path string, lazy bool) error {
	if os.Geteuid() == 0 {
		return unmountDirectly(path, lazy)
	}
	return unmountByHelper(path, lazy)
}

func unmountDirectly(path string, lazy bool) error {
	flags := unix.UMOUNT_NOFOLLOW
	if lazy {
		flags |= unix.MNT_DETACH
	}
	err := ignoringEINTR(func() error { return unix.Unmount(path, flags) })
	switch {
	case err == unix.EBUSY:
		return fmt.Errorf("unmounting %s: %w", path, errBusy)
	case err != nil:
		return fmt.Errorf("unmounting %s: %w", path, err)
	}
	return nil
}

// unmountByHelper is for users who may not unmount, but may ask fusermount3 to.
func unmountByHelper(path string, lazy bool) error {
	helper, err := findFusermount()
	if err != nil {
		return err
	}
	args := []string{"-u"}
	if lazy {
		args = append(args, "-z")
	}
	output, err := exec.Command(helper, append(args, "--", path)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("unmounting %s: %s (%w)", path, bytes.TrimSpace(output), err)
	}
	return nil
}

// findFusermount returns the helper that mounts and unmounts for ordinary users.
// It is setuid root and knows what a user may do.
func findFusermount() (string, error) {
	for _, name := range []string{"fusermount3", "fusermount", "/bin/fusermount3", "/bin/fusermount"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", hinted("apt install fuse3 (or run as root)", "fusermount3 is not installed: it mounts for ordinary users")
}

// awaitGone waits until the mount with the ID is no longer in the table of
// mounts. The kernel wakes us whenever the table changes.
func awaitGone(id int, timeout time.Duration) error {
	events, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	defer events.Close()
	deadline := time.Now().Add(timeout)
	for {
		table, err := mountTable()
		if err != nil {
			return err
		}
		if !hasMount(table, id) {
			return nil
		}
		left := time.Until(deadline)
		if left <= 0 {
			return fmt.Errorf("still mounted after %v", timeout)
		}
		fds := []unix.PollFd{{Fd: int32(events.Fd()), Events: unix.POLLPRI}}
		err = ignoringEINTR(func() error { _, err := unix.Poll(fds, int(left.Milliseconds())+1); return err })
		if err != nil {
			return fmt.Errorf("waiting for the table of mounts to change: %w", err)
		}
	}
}

func hasMount(table []mounted, id int) bool {
	for _, m := range table {
		if m.ID == id {
			return true
		}
	}
	return false
}
