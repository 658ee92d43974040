package main

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

	"github.com/wkwfs/wkwfs/fsnode"
)

// A mount in the background is this program started once more: a Go process cannot
// fork. The two agree on a pipe, on which the server
// writes the mountpoint when the mount is ready. A server that fails says why on
// stderr, as it would in the foreground, and the pipe ends without a word.

// readyVariable tells the server that it is one; its value is not used.
const readyVariable = "WKWFS_READY_PIPE"

// readyDescriptor is the server's end of the pipe: the first one after stderr.
const readyDescriptor = 3

// readyTimeout is how long a mount that was reported to be ready may take to
// answer the first question from outside.
const readyTimeout = 10 * time.Second

// startServer starts the same command as a server and returns when its mount
// answers.
func startServer(stderr io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ready, serverEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()

	var said bytes.Buffer
	server := exec.Command(program, os.Args[1:]...)
	server.Args[0] = os.Args[0]
	server.Env = append(os.Environ(), readyVariable+"=1")
	server.Stderr = &said
	server.ExtraFiles = []*os.File{serverEnd}
	err = server.Start()
	serverEnd.Close() // else the pipe would not end with the server
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	mountpoint, err := io.ReadAll(ready)
	if err != nil {
		return fmt.Errorf("waiting for the server: %w", err)
	}
	if len(mountpoint) == 0 {
		return whyItEnded(server.Wait(), said.String(), stderr)
	}
	if err := checkAnswers(string(mountpoint)); err != nil {
		_ = server.Process.Signal(syscall.SIGTERM)
		return errors.Join(err, server.Wait())
	}
	return nil
}

// whyItEnded passes on what the server said when it failed in good order, and
// tells how it died otherwise.
func whyItEnded(err error, said string, stderr io.Writer) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitFailed && said != "" {
		if _, err := io.WriteString(stderr, said); err != nil {
			return err
		}
		return errReported
	}
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	if said = strings.TrimSpace(said); said != "" {
		how += ": " + said
	}
	return fmt.Errorf("the server ended before the mount was ready: %s", how)
}

// checkAnswers looks at the mount from outside the server.
func checkAnswers(mountpoint string) error {
	m, ok, err := mountAt(mountpoint)
	switch {
	case err != nil:
		return err
	case !ok || m.Type != fsnode.Type:
		return fmt.Errorf("%s is not mounted, though the server says so", mountpoint)
	}
	st, err := statMount(mountpoint, readyTimeout)
	switch {
	case err != nil:
		return fmt.Errorf("the mount on %s does not answer: %w", mountpoint, err)
	case st.Type != fuseMagic:
		return fmt.Errorf("another file system (type %#x) covers the mount on %s", st.Type, mountpoint)
	}
	return nil
}

// startedAsServer reports whether this process was started by startServer.
func startedAsServer() bool { return os.Getenv(readyVariable) != "" }

// serveInBackground serves for a process that waits on the pipe.
func serveInBackground(s settings, stderr io.Writer) error {
	pipe := os.NewFile(readyDescriptor, "ready pipe")
	syscall.CloseOnExec(readyDescriptor) // or a helper program would hold it open
	if err := os.Unsetenv(readyVariable); err != nil {
		return err
	}
	return serve(s, manager{}, true, func(mountpoint string) error {
		if err := leaveSession(); err != nil {
			return err
		}
		if err := dropStderr(); err != nil {
			return err
		}
		// Fails where nobody waits any more: then nobody wants the mount.
		if _, err := pipe.WriteString(mountpoint); err != nil {
			return err
		}
		return pipe.Close()
	}, stderr)
}

// leaveSession unties the server from the terminal, only now that it has mounted: while
// an automount (autofs) waits for the mount, it lets nobody look at the mountpoint but
// the process group that is to mount.
func leaveSession() error {
	if _, err := unix.Setsid(); err != nil {
		return fmt.Errorf("leaving the session: %w", err)
	}
	return nil
}

// dropStderr lets go of the pipe that ends with the starting process.
func dropStderr() error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	return unix.Dup3(int(null.Fd()), int(os.Stderr.Fd()), 0)
}
