package arrayfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// file is a file with the size and version that it had when it was opened. The files of a directory are only open while they are
// read: there may be more than a process can have open.
type file struct {
	name    string
	handle  *os.File // nil if the file is opened for each read
	size    int64
	version vfs.Version
	state   string // as version, and the same on all machines that see the file
}

// Name returns the path of the file.
func (f *file) Name() string { return f.name }

// openRegular opens a regular file.
func openRegular(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{path, f, info.Size(), vfs.VersionOf(info), stateOf(info)}, nil
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

// open opens a file of the array.
func (a *Array) open(path string) (*file, error) {
	f, err := openRegular(path)
	if err == nil {
		a.files = append(a.files, f)
	}
	return f, err
}

// close closes the file, if it is open.
func (f *file) close() error {
	if f.handle == nil {
		return nil
	}
	err := f.handle.Close()
	f.handle = nil
	return err
}

// reader returns the content of the file, and a function that must be called after the last read.
func (f *file) reader() (io.ReaderAt, func(), error) {
	if f.handle != nil {
		return f.handle, func() {}, nil
	}
	now, err := openRegular(f.name)
	if err != nil {
		return nil, nil, err
	}
	if now.version != f.version {
		now.close()
		return nil, nil, f.changed()
	}
	return now.handle, func() { now.close() }, nil
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
	info, err := os.Stat(f.name)
	if err != nil {
		return err
	}
	if vfs.VersionOf(info) != f.version {
		return f.changed()
	}
	return nil
}

func (f *file) changed() error {
	return fmt.Errorf("%s: the file has changed since it was opened", f.name)
}
