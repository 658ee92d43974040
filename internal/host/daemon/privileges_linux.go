package daemon

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// neededCapabilities are those that the server of root keeps.
// to read the sources of all users; the kernel decides who may see them
const neededCapabilities = 1<<unix.CAP_DAC_READ_SEARCH |
	1<<unix.CAP_SYS_ADMIN // to unmount at the end

// The arguments of capset(2), which all threads read. They are not on a stack: that of a goroutine can move while the
// threads take turns, and some of them would read something else.
var (
	capHeader = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	capSets   [2]unix.CapUserData // of the lower and the upper 32 capabilities
)

// DropPrivileges gives up, in all threads and for good, what a server does not need after it
// has mounted. For an ordinary user it does nothing: there is nothing to give up, and
// unmounting needs fusermount3, which is setuid. It must not be called by several goroutines at once.
func DropPrivileges() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := inAllThreads(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if err := unix.Capget(&capHeader, &capSets[0]); err != nil {
		return fmt.Errorf("reading the capabilities: %w", err)
	}
	kept := capSets[0].Permitted & neededCapabilities // in some containers, one is missing
	capSets = [2]unix.CapUserData{{Permitted: kept, Effective: kept}}
	if err := inAllThreads(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&capHeader)),
		uintptr(unsafe.Pointer(&capSets[0]))); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return nil
}

// inAllThreads makes a system call in every thread of the process.
func inAllThreads(call, first, second uintptr) error {
	if _, _, errno := psx.Syscall6(call, first, second, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
