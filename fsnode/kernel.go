package fsnode

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
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
	return exec.Command("fusermount3", "-u", "-z", "--", mountpoint).Run()
}
