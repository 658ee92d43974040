//go:build linux

package fsnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// How the kernel reads files. All sizes are in bytes.
//
// For a mapped file with random access, the kernel requests one page at a time. For a sequential reader it
// requests up to 128 KiB at once and has several such requests in flight. It never requests what is in its
// page cache.
//
// NOTIFY_STORE pushes bytes to the page cache. It takes whole pages only, none after the end of the file, and
// none before the reply to the lookup of the file. A push waits for pages that reads in flight will fill. So
// a goroutine that such a read waits for must not push.
const pageSize = 4096

// setReadAhead sets the readahead of the kernel on the mount, in KiB. Only root may do that. Other users keep
// the default, 128 KiB.
func setReadAhead(mountpoint string, kib int) error {
	var st unix.Stat_t
	if err := unix.Stat(mountpoint, &st); err != nil {
		return err
	}
	name := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(st.Dev), unix.Minor(st.Dev))
	return os.WriteFile(name, []byte(strconv.Itoa(kib)), 0)
}

// unmountLazily detaches the mount from the tree. The mount ends when it is no longer in use.
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
