// Package daemon runs the server of a mount in the background, reports its state to the
// service manager, and gives up its privileges.
//
// A Go process cannot fork, so a server in the background is this program started again with
// the same arguments. A pipe connects the two processes. When the mount is ready, the server
// writes the mountpoint and a message to it. A server that fails writes its error to it, and prints the error to stderr as it does in
// the foreground. The pipe of a server that crashes ends empty.
package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/guard"
)

// Variable is the environment variable that makes this program a server in the background.
// Its value is not used.
const Variable = "WKWFS_READY_PIPE"

// readyDescriptor is the server's end of the pipe: the first descriptor after stderr.
const readyDescriptor = 3

// exitFailed is the exit code of a server that has printed its error.
const exitFailed = 1

// ErrPrinted is returned by [Start] if the server failed and its error is on stderr.
var ErrPrinted = errors.New("the error was printed")

// Start starts the server with the arguments of this program, args[0] included, and returns
// when its mount is ready. It returns the message of the server: see [Pipe.Ready]. It calls check
// with the mountpoint, and stops the server if that returns an error. What the server prints when
// it fails is copied to stderr.
func Start(args []string, check func(mountpoint string) error, stderr io.Writer) (message string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	ready, serverEnd, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer ready.Close()

	var printed bytes.Buffer
	server := exec.Command(program, args[1:]...)
	server.Args[0] = args[0]
	server.Env = append(os.Environ(), Variable+"=1")
	server.Stderr = &printed
	server.ExtraFiles = []*os.File{serverEnd}
	err = server.Start()
	serverEnd.Close() // otherwise the pipe would not end with the server
	if err != nil {
		return "", fmt.Errorf("starting the server: %w", err)
	}
	report, err := io.ReadAll(ready)
	if err != nil {
		return "", fmt.Errorf("waiting for the server: %w", err)
	}
	if len(report) == 0 {
		return "", explainExit(server.Wait(), printed.String(), stderr)
	}
	mountpoint, message, _ := strings.Cut(string(report), separator)
	if mountpoint == "" {
		return "", waitFailed(server, &printed, message, stderr)
	}
	if err := check(mountpoint); err != nil {
		_ = server.Process.Signal(syscall.SIGTERM)
		return "", errors.Join(err, server.Wait())
	}
	return message, nil
}

// separator is between the mountpoint and the message in the pipe. No path has it.
const separator = "\x00"

// endTime is how long a server that has failed may take to end.
const endTime = time.Second

// waitFailed waits for the end of a server that has failed with an error, and copies what the server printed to stderr. A server
// cannot end while a request of one of its threads waits in another FUSE server that is stopped. Then the error is copied.
func waitFailed(server *exec.Cmd, printed *bytes.Buffer, failure string, stderr io.Writer) error {
	ended := make(chan error, 1)
	go guard.FuncElse("daemon.wait", func() {
		guard.Pass("daemon.wait")
		ended <- server.Wait()
	}, func(err error) { ended <- err })()
	select {
	case err := <-ended:
		return explainExit(err, printed.String(), stderr)
	case <-time.After(endTime):
	}
	if _, err := io.WriteString(stderr, failure); err != nil {
		return err
	}
	return ErrPrinted
}

// explainExit copies the error that a server has printed to stderr. If the server ended in
// another way, the result describes how.
func explainExit(err error, printed string, stderr io.Writer) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitFailed && printed != "" {
		if _, err := io.WriteString(stderr, printed); err != nil {
			return err
		}
		return ErrPrinted
	}
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	if printed = strings.TrimSpace(printed); printed != "" {
		how += ": " + printed
	}
	return fmt.Errorf("the server ended before the mount was ready: %s", how)
}

// IsServer reports whether [Start] has started this process.
func IsServer() bool { return os.Getenv(Variable) != "" }

// Pipe is the connection of a server to the process that has started it.
type Pipe struct{ file *os.File }

// OpenPipe returns the pipe of this process, for which [IsServer] is true.
func OpenPipe() (Pipe, error) {
	pipe := os.NewFile(readyDescriptor, "ready pipe")
	syscall.CloseOnExec(readyDescriptor) // or fusermount3 would hold it open
	return Pipe{pipe}, os.Unsetenv(Variable)
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
	if err := dropStderr(); err != nil {
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
