package fsnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// What the kernel does with the bytes of files, in bytes.
//
// It asks for a page at a time where a program maps a file and jumps, and for up to 128 KiB at once where a program reads on. While a
// program reads on, it may have some such requests under way. It never asks for what lies in its page cache, and NOTIFY_STORE
// puts bytes there unasked: whole pages only, never past the end of the file, and not while the lookup of the file is still on its way. A
// store waits for pages that requests under way will fill; so it must not be made by a goroutine that such a request waits for.
const (
	pageSize      = 4096
	pushSize      = 256 << 10 // at once: less than a core's own cache has room for
	readsUnderWay = 512 << 10
)

// setReadAhead sets how much the kernel reads ahead on the mount, in KiB. Ordinary
// users may not; the kernel's 128 KiB stay then.
func setReadAhead(mountpoint string, kib int) error {
	var st unix.Stat_t
	if err := unix.Stat(mountpoint, &st); err != nil {
		return err
	}
	name := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(st.Dev), unix.Minor(st.Dev))
	return os.WriteFile(name, []byte(strconv.Itoa(kib)), 0)
}

// unmountLazily takes the mount out of sight; it ends when it is no longer used.
func unmountLazily(mountpoint string) error {
	if os.Geteuid() == 0 {
		return unix.Unmount(mountpoint, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	}
	var err error
	for _, helper := range []string{"fusermount3", "fusermount"} {
		if err = exec.Command(helper, "-u", "-z", "--", mountpoint).Run(); !errors.Is(err, exec.ErrNotFound) {
			break
		}
	}
	return err
}
