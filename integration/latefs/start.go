package latefs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Server is a file system that another process serves.
type Server struct {
	Control
	Dir string // the mountpoint

	temporary string // directory of the sockets
	process   *os.Process
	input     *os.File
	ended     chan error
	stop      func() error
}

// timeout limits the time that a server takes to mount or to end.
const timeout = 30 * time.Second

// Start mounts the source on dir. The command gets the arguments of Run after its own. Start returns when the
// file system answers. Stop ends the server, and so does the end of this process.
func Start(command []string, source, dir string, flags ...string) (*Server, error) {
	temporary, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	s := &Server{Control: Control(filepath.Join(temporary, "control")), Dir: dir, temporary: temporary,
		ended: make(chan error, 1)}
	s.stop = sync.OnceValue(s.end)
	if err := s.start(slices.Concat(command, flags, []string{"-hold", "-control", string(s.Control), source,
		dir})); err != nil {
		return nil, errors.Join(err, os.RemoveAll(temporary))
	}
	return s, nil
}

func (s *Server) start(args []string) error {
	address := &net.UnixAddr{Name: filepath.Join(s.temporary, "notify"), Net: "unixgram"}
	ready, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		return err
	}
	defer ready.Close()
	if err := ready.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+address.Name)
	cmd.Stdin, cmd.Stderr = read, os.Stderr
	if err := cmd.Start(); err != nil {
		return errors.Join(err, write.Close())
	}
	s.process, s.input = cmd.Process, write
	go func() {
		s.ended <- cmd.Wait()
		_ = ready.SetReadDeadline(time.Now()) // end the wait below, if it has not ended yet
	}()
	if _, err := ready.Read(make([]byte, 64)); err != nil {
		return errors.Join(fmt.Errorf("%q: wait for the mount: %w", args, err), s.stop())
	}
	return nil
}

// Stop unmounts, also while the mount is in use, and waits until the server ends.
func (s *Server) Stop() error { return s.stop() }

func (s *Server) end() error {
	err := s.input.Close()
	select {
	case ended := <-s.ended:
		return errors.Join(err, ended, os.RemoveAll(s.temporary))
	case <-time.After(timeout):
		return errors.Join(err, fmt.Errorf("the server of %s did not end", s.Dir))
	}
}
