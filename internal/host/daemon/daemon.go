// Package daemon runs the server of a mount in the background, reports its state to the
// service manager, and gives up its privileges.
//
// A Go process cannot fork, so a server in the background is this program started again with the same arguments. A pipe
// connects the two processes. When the mount is ready, the server writes the mountpoint and a message to it. A server
// that fails writes its error to it, and prints the error to stderr as it does in the foreground. The pipe of a server
// that crashes ends empty.
//
// The process that has started the server may wait for its end, for a service manager. Then both print to the same
// stderr.
//
// # Decisions
//
// A service has a main process besides the server. A service manager waits for the end of its main process, and a
// server may have readers for days. It cannot hand over: systemd accepts another main process during a stop only
// since version 256. The other process takes 3 MB.
//
// The server leaves its session only after it has mounted. Until then autofs lets only the process group that
// mounts look at the mountpoint.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - `wkwfs mount` returns 0 when the mount answers. Otherwise it returns another exit code, and prints one line with
//     the reason.
//     `TestBackground`, `TestFailingMount`
//   - SIGINT and SIGTERM unmount, as with `--lazy` if files are open. Directories above the mountpoint may have been
//     renamed.
//     `TestSignals`, `TestSignalWhileBusy`, `TestSignalAfterRename`, `TestWatchMount`
//   - After a signal, and after `wkwfs umount --lazy`, the daemon serves open and mapped files until they are
//     closed, and then ends. Meanwhile, another daemon may mount at the same place, and new opens go to it.
//     `TestReadersSurvive`, `TestEnding`
//   - Unmounting does not wait for the source.
//     `TestWaitingProcessesCanBeKilled`
//   - Readers of a stopped daemon wait. Readers of a killed daemon get an error at once: ENOTCONN, or ECONNABORTED or
//     EIO if they were waiting. Their open files do not come back with a new mount. If a daemon is killed while it
//     pushes pages that a reader waits for, the kernel keeps both until `umount --force MOUNTPOINT`, which the systemd
//     unit calls.
//     `TestStoppedUnderLoad`, `TestKilledUnderLoad`
//   - A mount in use is not unmounted without `--lazy`. The error names the processes that use it, as far as the user
//     may see them. A mount that is in use for less than a second is unmounted.
//     `TestUmount`, `TestHolders`, `TestUmountInUseByUser`, `TestRetryInUse`
//   - The kernel is asked to read 64 KiB ahead, or what `--read-ahead` sets, where that is permitted.
//     `TestReadAhead`
//   - The table of mounts has SOURCE, or what `--fsname` says.
//     `TestBackground`, `TestNameInTable`
//   - A daemon whose mount was removed keeps at most an eighth of `--cache-size`, and what readers in order use.
//     `TestKeepAtMost`, `TestEnding`
//   - A signal ends a daemon whose mount was removed, and readers get errors. The next mount at the same place
//     stays.
//     `TestSignalWhileBusy`, `TestSignalAfterLazyUmount`
//   - The process of `wkwfs mount --wait` ends when the mount is removed, and does not wait for readers. So they
//     survive a restart of the systemd unit, and the restart does not wait for them.
//     `TestWait`, `TestUnitRestart`, `TestUnitLazyUmount`, `TestUnitSecondSignal`
//   - A server that does not unmount within 5 seconds after SIGTERM to that process is killed. So is one that
//     gives the service manager no sign of life.
//     `TestWaitKillsServer`, `TestWatchdog`
//   - If a mount is removed under load, its readers get the right bytes or an error, and the daemon ends.
//     `TestUnmountUnderLoad`
//   - A second signal ends the daemon and the requests that wait for it, even if the disk of the source does not
//     answer.
//     `TestSignalsWhileTheSourceHangs`
//   - If a user may not unmount a mount, the error names the user who mounted it.
//     `TestUmountOfOtherUser`
//   - A crash ends the server with SIGABRT, and leaves no core dump. A wrong command line ends it with exit code
//     2, and so does a wrong setting that only the server finds. The systemd unit starts a new server after a
//     crash only.
//     `TestRestartAfterCrash`
//   - A mount by root succeeds every time: 60 in a row in the tests, 300 in their long form.
//     `TestManyMounts`
//   - A dead wkwfs mount at the mountpoint is removed first. A live one is an error.
//     `TestDeadMount`, `TestAlreadyMounted`
//   - mount(8) and fstab(5) mount with the type `fuse.wkwfs` or `wkwfs`, also below an automount. The mount is
//     read-only even with the option `rw`.
//     `TestMountCommand`, `TestMountCommandErrors`, `TestFstab`, `TestAutomount`
//   - With `umask` and `allow_other`, only `uid`, `gid` and `umask` decide who may read, volumes included.
//     `TestOwnerAndMask`
//   - A service manager is notified when the mount answers, while the daemon lives, and when a signal ends it.
//     `TestServiceManager`, `TestWatch`
//   - In a container, `/dev/fuse` and CAP_SYS_ADMIN are enough.
//     `TestContainer`, `TestContainerLacks`
//   - With the mountpoint `/dev/fd/N`, a server without privileges serves what another program has mounted. Every
//     request to change something is refused with EROFS, whatever the options of that mount. The server ends with
//     the mount.
//     `TestDescriptor`, `TestNoDescriptor`
package daemon

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Variable is the environment variable that makes this program a server in the background.
// Its value is not used.
const Variable = "WKWFS_READY_PIPE"

// readyDescriptor is the server's end of the pipe: the first descriptor after stderr.
const readyDescriptor = 3

// separator is between the mountpoint and the message in the pipe. No path has it.
const separator = "\x00"

// IsServer reports whether [Start] has started this process.
func IsServer() bool { return os.Getenv(Variable) != "" }

// Pipe is the connection of a server to the process that has started it.
type Pipe struct {
	file  *os.File
	waits bool
}

// OpenPipe returns the pipe of this process, for which [IsServer] is true. waits is that of [Start].
func OpenPipe(waits bool) (Pipe, error) {
	pipe := os.NewFile(readyDescriptor, "ready pipe")
	syscall.CloseOnExec(readyDescriptor) // or fusermount3 would hold it open
	return Pipe{pipe, waits}, os.Unsetenv(Variable)
}

// Ready makes the process independent of the one that has started it, and lets [Start] return the
// message.
//
// The session is left only now that the server has mounted: while autofs waits for the mount,
// it lets only the process group that mounts access the mountpoint. Ready fails if the other
// process has ended: then the mount is no longer wanted.
func (p Pipe) Ready(mountpoint, message string) error {
	if _, err := unix.Setsid(); err != nil {
		return fmt.Errorf("leaving the session: %w", err)
	}
	if p.waits {
		signal.Ignore(syscall.SIGPIPE) // the reader of stderr may end before the server
	} else if err := dropStderr(); err != nil {
		return err
	}
	if _, err := p.file.WriteString(mountpoint + separator + message); err != nil {
		return err
	}
	return p.file.Close()
}

// Fail tells [Start] the error of a server that fails, as it is printed. After Ready it has no effect.
func (p Pipe) Fail(printed string) {
	_, _ = p.file.WriteString(separator + printed) // the other process may have ended
	_ = p.file.Close()
}

// dropStderr replaces stderr, a pipe that ends with the other process, by /dev/null.
func dropStderr() error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	return duplicate(int(null.Fd()), int(os.Stderr.Fd()))
}
