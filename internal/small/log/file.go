package log

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// maxBytes is the size of a log file at which it is rotated.
	maxBytes = 16 << 20
	// maxOld is the number of rotated files that are kept: FILE.1, the newest, to FILE.3.
	maxOld = 3
)

// file is a log file that lines are appended to. When a regular file is full, it is renamed
// and a new one is created. If that fails, because the server may no longer write to the
// directory, lines are still appended to the old file: a log that is too long is better than
// a lost one.
//
// Several processes may share a log file. A lock on the file makes sure that only one of them
// renames it.
type file struct {
	path string
	max  int64 // bytes

	mu   sync.Mutex
	file *os.File
}

// openFile opens the log file and creates it if necessary. The Go runtime writes its crash
// report to it too.
func openFile(path string) (*file, error) {
	// Rotation renames the target of a link, and keeps the link.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	l := &file{path: path, max: maxBytes}
	f, err := l.open()
	if err != nil {
		return nil, err
	}
	l.file = f
	return l, nil
}

func (l *file) open() (*os.File, error) {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", l.path, err), f.Close())
	}
	return f, nil
}

// Write appends a line.
func (l *file) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := l.file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 &&
		info.Size()+int64(len(line)) > l.max {
		l.rotate()
	}
	return l.file.Write(line)
}

// rotate renames the file and opens a new one. If it fails, the old file stays in use.
func (l *file) rotate() {
	if err := l.rename(); err != nil {
		return
	}
	f, err := l.open()
	if err != nil {
		return
	}
	_ = l.file.Close() // nothing is buffered
	l.file = f
}

// rename renames the file to FILE.1, unless another process has done so.
func (l *file) rename() error {
	if err := l.lock(); err != nil {
		return err
	}
	defer unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	ours, err := l.file.Stat()
	if err != nil {
		return err
	}
	switch now, err := os.Stat(l.path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !os.SameFile(now, ours):
		return nil
	}
	for i := maxOld; i > 1; i-- {
		if err := os.Rename(l.old(i-1), l.old(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(l.path, l.old(1))
}

// lock waits for the lock on the file. The Go runtime sends signals to its own threads, so
// the wait may be interrupted.
func (l *file) lock() error {
	for {
		if err := unix.Flock(int(l.file.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}

// old returns the path of a file after n rotations.
func (l *file) old(n int) string { return fmt.Sprintf("%s.%d", l.path, n) }
