package daemon

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// The exit codes of a server that has printed its error.
const (
	exitFailed = 1
	exitUsage  = 2
)

// Errors of a server that are on stderr already.
var (
	ErrPrinted      = errors.New("the error was printed")
	ErrPrintedUsage = errors.New("the command line is wrong, and the error was printed")
)

// A Server is a server in the background that this process has started.
type Server struct {
	Mountpoint string
	Message    string // see [Pipe.Ready]

	process *os.Process
	printed *bytes.Buffer // what the server prints; nil if it prints to the stderr of this process
	ended   chan struct{} // closed after the process has ended
	err     error         // how it ended; set before ended is closed
}

// Start starts the server with the arguments of this program, args[0] included, and returns
// when its mount is ready. It calls check with the mountpoint, and stops the server if that returns
// an error. What the server prints when it fails is copied to stderr. If the caller waits for the end of the
// server, it prints to stderr itself, as long as it runs.
func Start(args []string, waits bool, check func(mountpoint string) error, stderr io.Writer) (*Server, error) {
	ready, serverEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	s, err := start(args, waits, serverEnd, stderr)
	serverEnd.Close() // otherwise the pipe would not end with the server
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	report, err := io.ReadAll(ready)
	if err != nil {
		return nil, fmt.Errorf("waiting for the server: %w", err)
	}
	if len(report) == 0 {
		<-s.ended
		return nil, s.explainExit(stderr)
	}
	s.Mountpoint, s.Message, _ = strings.Cut(string(report), separator)
	if s.Mountpoint == "" {
		return nil, s.waitFailed(s.Message, stderr)
	}
	if err := check(s.Mountpoint); err != nil {
		return nil, errors.Join(err, s.Stop(endTime))
	}
	return s, nil
}

// start starts the process of a server. The server has its end of the pipe.
func start(args []string, waits bool, pipe *os.File, stderr io.Writer) (*Server, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &Server{ended: make(chan struct{})}
	if !waits {
		s.printed = new(bytes.Buffer)
		stderr = s.printed
	}
	command := exec.Command(program, args[1:]...)
	command.Args[0] = args[0]
	command.Env = append(os.Environ(), Variable+"=1")
	command.Stderr = stderr
	command.ExtraFiles = []*os.File{pipe}
	if err := command.Start(); err != nil {
		return nil, err
	}
	s.process = command.Process
	go guard.FuncElse("daemon.wait", func() {
		s.err = command.Wait() // first: nobody may look at what is printed while it is being printed
		guard.Pass("daemon.wait")
		close(s.ended)
	}, func(err error) {
		s.err = err
		close(s.ended)
	})()
	return s, nil
}

// PID returns the number of the process.
func (s *Server) PID() int { return s.process.Pid }

// Ended returns a channel that is closed when the process has ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Err returns how a server failed that has ended, if the caller has waited for that.
func (s *Server) Err() error {
	switch {
	case s.err == nil:
		return nil
	case exitCode(s.err) == exitFailed:
		return ErrPrinted
	}
	return fmt.Errorf("the server has ended: %w", s.err)
}

// Signal sends a signal to the server, unless it has ended.
func (s *Server) Signal(signal os.Signal) error {
	if err := s.process.Signal(signal); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Stop ends the server by SIGTERM, or by SIGKILL if it still runs after some time.
func (s *Server) Stop(limit time.Duration) error {
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-time.After(limit):
		return s.Kill()
	}
}

// Kill ends the server by SIGKILL.
func (s *Server) Kill() error {
	if err := s.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-s.ended
	return nil
}

// endTime is how long a server that has failed may take to end.
const endTime = time.Second

// waitFailed waits for the end of a server that has failed with an error, and copies what the server printed to stderr.
// A server cannot end while a request of one of its threads waits in another FUSE server that is stopped. Then the
// error is copied.
func (s *Server) waitFailed(failure string, stderr io.Writer) error {
	select {
	case <-s.ended:
		if exitCode(s.err) == exitUsage {
			return cmp.Or(s.copyPrinted(stderr), ErrPrintedUsage)
		}
		return s.explainExit(stderr)
	case <-time.After(endTime):
	}
	if s.printed == nil {
		return ErrPrinted
	}
	if _, err := io.WriteString(stderr, failure); err != nil {
		return err
	}
	return ErrPrinted
}

// explainExit copies the error that a server has printed to stderr. If the server ended in
// another way, the result describes how.
func (s *Server) explainExit(stderr io.Writer) error {
	if exitCode(s.err) == exitFailed && (s.printed == nil || s.printed.Len() > 0) {
		return cmp.Or(s.copyPrinted(stderr), ErrPrinted)
	}
	how := "exit status 0"
	if s.err != nil {
		how = s.err.Error()
	}
	if s.printed != nil && s.printed.Len() > 0 {
		how += ": " + strings.TrimSpace(s.printed.String())
	}
	return fmt.Errorf("the server ended before the mount was ready: %s", how)
}

// copyPrinted copies what the server has printed to stderr, unless it is there already.
func (s *Server) copyPrinted(stderr io.Writer) error {
	if s.printed == nil {
		return nil
	}
	_, err := s.printed.WriteTo(stderr)
	return err
}

// exitCode returns the exit code of a process; 0 if it has none.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
