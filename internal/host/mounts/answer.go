//go:build linux

package mounts

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// fuseMagic is FUSE_SUPER_MAGIC, the type that statfs returns for every FUSE mount.
const fuseMagic = 0x65735546

// AnswerTimeout is how long a mount may take to answer before it counts as stuck: its server
// may be stopped, or wait for a store.
const AnswerTimeout = 2 * time.Second

var (
	// ErrNoAnswer is returned if a mount does not answer in time.
	ErrNoAnswer = errors.New("no answer")
	// ErrNotFUSE is returned if a file system of another type answers: the mount is hidden or gone.
	ErrNotFUSE = errors.New("another file system")
)

// Ask asks the FUSE mount on the path for an answer. The error is [ErrNoAnswer] after the
// timeout, [ErrNotFUSE], or the answer's own; ENOTCONN if the mount has lost its server. The
// thread that waits stays until there is an answer or the process ends.
func Ask(path string, timeout time.Duration) error {
	st, err := statfs(path, timeout)
	if err == nil && st.Type != fuseMagic {
		err = fmt.Errorf("%w (type %#x)", ErrNotFUSE, st.Type)
	}
	return err
}

// IsDead reports whether the mount on the path has lost its server. A mount that does not
// answer is not dead: its server may be stopped, and may go on later.
func IsDead(path string) bool {
	_, err := statfs(path, AnswerTimeout)
	return errors.Is(err, unix.ENOTCONN)
}

func statfs(path string, timeout time.Duration) (unix.Statfs_t, error) {
	type answer struct {
		st  unix.Statfs_t
		err error
	}
	answers := make(chan answer, 1)
	go guard.FuncElse("mounts.ask", func() {
		var a answer
		guard.Pass("mounts.ask")
		a.err = ignoringEINTR(func() error { return unix.Statfs(path, &a.st) })
		answers <- a
	}, func(err error) { answers <- answer{err: err} })()
	select {
	case a := <-answers:
		return a.st, a.err
	case <-time.After(timeout):
		return unix.Statfs_t{}, ErrNoAnswer
	}
}

// readyTimeout is how long a new mount may take to answer.
const readyTimeout = 10 * time.Second

// CheckNew returns an error unless a mount of wkwfs is on the path and answers. It is for the
// process that started the server of the mount.
func CheckNew(path string) error {
	m, ok, err := At(path)
	switch {
	case err != nil:
		return err
	case !ok || m.Type != fsnode.Type:
		return fmt.Errorf("%s is not mounted, although the server is ready", path)
	}
	switch err := Ask(path, readyTimeout); {
	case errors.Is(err, ErrNotFUSE):
		return fmt.Errorf("the mount on %s is hidden: %w", path, err)
	case err != nil:
		return fmt.Errorf("the mount on %s does not answer: %w", path, err)
	}
	return nil
}

// ignoringEINTR repeats a system call that a signal interrupted. The Go runtime sends signals
// to its own threads.
func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
