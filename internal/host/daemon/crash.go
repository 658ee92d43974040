package daemon

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// AbortOnCrash makes a crash end the process with SIGABRT. Without it the exit code would be 2, as after a wrong
// command line. A service manager starts a server again after a crash, and not after a wrong command line.
//
// There is no core dump: it would have the voxels in the cache.
func AbortOnCrash() error {
	debug.SetTraceback("crash")
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		return err
	}
	limit.Cur = 0
	return unix.Setrlimit(unix.RLIMIT_CORE, &limit)
}
