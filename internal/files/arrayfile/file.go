package arrayfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// file is a file with the size and version that it had when it was opened. Unless it is held, it is only open while it
// is read: a directory may have more files than a process can have open.
type file struct {
	name    string // for messages
	in      fs.FS  // has the file
	at      string // its name there
	info    fs.FileInfo
	size    int64
	version vfs.Version
	state   string // as version, and the same on all machines that see the file

	mu     sync.Mutex
	handle fs.File // nil if the file is opened for each read
	holds  int     // of the handle
}

// Name returns the path of the file.
func (f *file) Name() string { return f.name }

// base returns the name of the file in its directory.
func (f *file) base() string { return path.Base(f.at) }

// openRegular opens a regular file. display is its path for messages.
func openRegular(fsys fs.FS, name, display string) (*file, error) {
	f, info, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
			err = &fs.PathError{Op: failed.Op, Path: display, Err: failed.Err}
		}
		return nil, err
	}
	return &file{
		name: display, in: fsys, at: name, info: info, size: info.Size(), version: vfs.VersionOf(info),
		state:  stateOf(info),
		handle: f, holds: 1,
	}, nil
}

// hold keeps the file open until drop is called as often as hold.
func (f *file) hold() error {
	for !f.take(nil) {
		now, err := f.reopen()
		if err != nil {
			return err
		}
		if f.take(now) {
			return nil
		}
		if err := now.Close(); err != nil { // another hold was faster
			return err
		}
	}
	return nil
}

// take counts a hold of the open file. If now is not nil, it becomes the open file. take returns false if there is no
// open file without now, or one with it.
func (f *file) take(now fs.File) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if (f.handle == nil) == (now == nil) {
		return false
	}
	if now != nil {
		f.handle = now
	}
	f.holds++
	return true
}

// drop ends a hold. The last one closes the file.
func (f *file) drop() error {
	if last := f.give(); last != nil {
		return last.Close()
	}
	return nil
}

// give ends a hold. It returns the file if that was the last hold.
func (f *file) give() (last fs.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holds--; f.holds == 0 {
		last, f.handle = f.handle, nil
	}
	return last
}

// reopen opens the file again. It fails if the file has changed.
func (f *file) reopen() (fs.File, error) {
	now, err := openRegular(f.in, f.at, f.name)
	if err != nil {
		return nil, err
	}
	if now.version != f.version {
		now.handle.Close() // read-only: nothing can be lost
		return nil, f.changed()
	}
	return now.handle, nil
}

// stateOf returns what changes when a file changes, without the number of the device, which differs between machines.
func stateOf(info fs.FileInfo) string {
	text := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		_, _, change := vfs.StatTimes(st)
		text += fmt.Sprintln("", st.Ino, change.Nano())
	}
	return text
}

// open opens a file of the array, in the directory of its other files.
func (a *Array) open(name string) (*file, error) {
	f, err := openRegular(a.dir.FS, path.Join(a.dir.name, name), a.dir.path(name))
	if err == nil {
		a.files = append(a.files, f)
	}
	return f, err
}

// reader returns the content of the file, and a function that must be called after the last read.
func (f *file) reader() (io.ReaderAt, func(), error) {
	if held := f.held(); held != nil {
		return vfs.ReaderAt{File: held}, func() {}, nil
	}
	now, err := f.reopen()
	if err != nil {
		return nil, nil, err
	}
	return vfs.ReaderAt{File: now}, func() { now.Close() }, nil
}

// held returns the open file, or nil.
func (f *file) held() fs.File {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.handle
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	r, done, err := f.reader()
	if err != nil {
		return 0, err
	}
	defer done()
	return r.ReadAt(p, off)
}

// start returns the first bytes of the file.
func (f *file) start() ([]byte, error) {
	b := make([]byte, min(f.size, startSize))
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// unchanged fails if the file has changed since it was opened.
func (f *file) unchanged() error {
	if held := f.held(); held != nil && vfs.Unchanged(held, f.info) != nil {
		return f.changed()
	}
	info, err := fs.Stat(f.in, f.at)
	if err != nil {
		return err
	}
	if vfs.VersionOf(info) != f.version {
		return f.changed()
	}
	return nil
}

func (f *file) changed() error { return changedError(f.name) }

// changedError is the error of a file with this name that has changed. It is a [vfs.ErrChanged].
type changedError string

func (e changedError) Error() string { return string(e) + ": the file has changed since it was opened" }
func (e changedError) Unwrap() error { return vfs.ErrChanged }
