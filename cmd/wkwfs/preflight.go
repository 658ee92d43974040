package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	fuseDevice = "/dev/fuse"
	fuseConfig = "/etc/fuse.conf"
)

// checkFUSE says why a mount cannot work here, in better words than the kernel or
// fusermount3 would.
func checkFUSE(mountpoint string, allowOther bool) error {
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
		return hinted("mount on a directory of your own", "mountpoint %s: fusermount3 demands write access: %w", mountpoint, err)
	}
	if allowOther {
		return checkUserAllowOther()
	}
	return nil
}

// checkDevice sees whether the kernel has FUSE and the user may use it: fusermount3
// opens the device with the rights of whoever calls it.
func checkDevice() error {
	f, err := os.OpenFile(fuseDevice, os.O_RDWR, 0)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
		return hinted("as root: chmod 0666 "+fuseDevice, "no FUSE for this user: %w", err)
	}
	return hinted("modprobe fuse; in a container: --device /dev/fuse --cap-add SYS_ADMIN", "no FUSE here: %w", err)
}

// checkUserAllowOther sees whether ordinary users may let others in.
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
	return hinted("as root: echo user_allow_other >> "+fuseConfig, "allow_other: %s does not allow it to ordinary users", fuseConfig)
}

// hasLine reports whether the text has the line, whatever the space around it.
func hasLine(r io.Reader, line string) bool {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == line {
			return true
		}
	}
	return false
}

// mountError adds a hint to what the kernel says where it says too little.
func mountError(mountpoint string, err error) error {
	if errors.Is(err, unix.EPERM) {
		return hinted("in a container: --device /dev/fuse --cap-add SYS_ADMIN", "mounting on %s: %w", mountpoint, err)
	}
	return fmt.Errorf("mounting on %s: %w", mountpoint, err)
}
