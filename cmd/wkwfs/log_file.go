package main

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
	// maxLog is how large a log file grows, in bytes, before it is renamed.
	maxLog = 16 << 20
	// oldLogs is how many that were renamed are kept: FILE.1, the latest, to FILE.3.
	oldLogs = 3
)

// logFile is a file that lines are appended to. A regular file is renamed when it is
// large, and a new one begun. Where that fails, as it does where the server may no longer
// write to the directory, the file is written on: it is better too long than lost.
//
// Several processes may have one log. A file is renamed with a lock on it, so that only
// one of them does.
type logFile struct {
	path string
	max  int64

	mu   sync.Mutex
	file *os.File
}

// openLogFile opens the file. What the Go runtime says when it dies goes to it too.
func openLogFile(path string) (*logFile, error) {
	// A link stays, and what it leads to is renamed.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	l := &logFile{path: path, max: maxLog}
	f, err := l.open()
	if err != nil {
		return nil, err
	}
	l.file = f
	return l, nil
}

func (l *logFile) open() (*os.File, error) {
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
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := l.file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size()+int64(len(line)) > l.max {
		l.begin()
	}
	return l.file.Write(line)
}

// begin begins a new file, if it can.
func (l *logFile) begin() {
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

// rename makes the file the latest of the old ones, unless another process has done it.
func (l *logFile) rename() error {
	lock := func() error { return unix.Flock(int(l.file.Fd()), unix.LOCK_EX) }
	if err := ignoringEINTR(lock); err != nil {
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
	for i := oldLogs; i > 1; i-- {
		if err := os.Rename(l.old(i-1), l.old(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(l.path, l.old(1))
}

// old is the path of a file that was renamed so many times.
func (l *logFile) old(times int) string { return fmt.Sprintf("%s.%d", l.path, times) }
