package vfs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"syscall"
)

// KindError reports a file of another kind than its place needs, such as a FIFO with the name of a cube. The file
// exists, so the error is not fs.ErrNotExist.
type KindError struct {
	File        string
	Want, Found fs.FileMode // types, as fs.FileMode.Type returns them
}

// Error names the file and both kinds.
func (e *KindError) Error() string {
	return fmt.Sprintf("%s: expected %s, found %s", e.File, kindName(e.Want), kindName(e.Found))
}

func kindName(kind fs.FileMode) string {
	switch {
	case kind == 0:
		return "a regular file"
	case kind&fs.ModeDir != 0:
		return "a directory"
	case kind&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case kind&fs.ModeSocket != 0:
		return "a socket"
	case kind&fs.ModeDevice != 0:
		return "a device"
	case kind&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a file of unknown kind"
}

// CheckKind returns a [*KindError] if the file is not of the kind: 0 for a regular file, or fs.ModeDir.
func CheckKind(name string, info fs.FileInfo, want fs.FileMode) error {
	if found := info.Mode().Type(); found != want {
		return &KindError{name, want, found}
	}
	return nil
}

// KindChecker is a file system whose Open, ReadDir and List check the kind of a file before they open it.
type KindChecker interface {
	// ChecksKind reports whether FIFOs, devices and sockets are never opened.
	ChecksKind() bool
}

// checkBefore checks the kind of a file, unless the file system does so itself. An open of a FIFO would block, and
// that of a device can have an effect.
func checkBefore(fsys fs.FS, name string, want fs.FileMode) error {
	if c, ok := fsys.(KindChecker); ok && c.ChecksKind() {
		return nil
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return err
	}
	return CheckKind(name, info, want)
}

// OpenRegular opens a regular file and describes it. The error for a directory is a [*KindError]. FIFOs, devices and
// sockets are errors too, and are not opened.
func OpenRegular(fsys fs.FS, name string) (fs.File, fs.FileInfo, error) {
	if err := checkBefore(fsys, name, 0); err != nil {
		return nil, nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = CheckKind(name, info, 0)
	}
	if err != nil {
		f.Close() // read-only: nothing can be lost
		return nil, nil, err
	}
	return f, info, nil
}

// ListDir is [List]. The error for a regular file is a [*KindError]. FIFOs, devices and sockets are errors too, and are
// not opened.
func ListDir(fsys fs.FS, name string) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		if err := checkBefore(fsys, name, fs.ModeDir); err != nil {
			yield(nil, err)
			return
		}
		for entries, err := range List(fsys, name) {
			if errors.Is(err, syscall.ENOTDIR) {
				if info, statErr := fs.Stat(fsys, name); statErr == nil {
					err = cmp.Or(CheckKind(name, info, fs.ModeDir), err)
				}
			}
			if !yield(entries, err) {
				return
			}
		}
	}
}
