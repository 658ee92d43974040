//go:build linux

package mounts

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

const (
	fuseDevice = "/dev/fuse"
	fuseConfig = "/etc/fuse.conf"

	containerOptions = "in a container: --device /dev/fuse --cap-add SYS_ADMIN"
)

// CheckFUSE returns an error if this user cannot mount here. Its errors are clearer than those
// of the kernel and of fusermount3.
func CheckFUSE(mountpoint string, allowOther bool) error {
	if os.Geteuid() == 0 {
		return checkDevice()
	}
	if _, err := findFusermount(); err != nil {
		return err
	}
	if err := checkDevice(); err != nil {
		return err
	}
	if err := unix.Access(mountpoint, unix.W_OK); err != nil {
		return hint.Errorf("mount on a directory of your own", "mountpoint %s: fusermount3 demands write access: %w",
			mountpoint, err)
	}
	if allowOther {
		return checkUserAllowOther()
	}
	return nil
}

// CheckDescriptor returns an error if fd is not an open descriptor of /dev/fuse.
func CheckDescriptor(fd int) error {
	const advice = "who starts wkwfs opens /dev/fuse, mounts with that descriptor, and leaves it open"
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return hint.Errorf(advice, "descriptor %d: %w", fd, err)
	}
	const major, minor = 10, 229 // of /dev/fuse, wherever it is
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != unix.Mkdev(major, minor) {
		return hint.Errorf(advice, "descriptor %d is not %s", fd, fuseDevice)
	}
	return nil
}

// checkDevice returns an error if the kernel has no FUSE or the user may not use it.
// fusermount3 opens the device with the rights of its caller.
func checkDevice() error {
	f, err := os.OpenFile(fuseDevice, os.O_RDWR, 0)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
		return hint.Errorf("as root: chmod 0666 "+fuseDevice, "no FUSE for this user: %w", err)
	}
	return hint.Errorf("modprobe fuse; "+containerOptions, "no FUSE here: %w", err)
}

// checkUserAllowOther returns an error if ordinary users may not mount for other users.
func checkUserAllowOther() error {
	f, err := os.Open(fuseConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("allow_other: %w", err)
	}
	if err == nil {
		defer f.Close()
		if hasLine(f, "user_allow_other") {
			return nil
		}
	}
	return hint.Errorf("as root: echo user_allow_other >> "+fuseConfig,
		"allow_other: %s does not allow it to ordinary users", fuseConfig)
}

// hasLine reports whether the text has the line. Space around it does not matter.
func hasLine(r io.Reader, line string) bool {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == line {
			return true
		}
	}
	return false
}

// Explain adds the mountpoint to an error of mounting, and a hint if the error is EPERM.
func Explain(mountpoint string, err error) error {
	if errors.Is(err, unix.EPERM) {
		return hint.Errorf(containerOptions, "mounting on %s: %w", mountpoint, err)
	}
	return fmt.Errorf("mounting on %s: %w", mountpoint, err)
}
