package view

import (
	"io"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// sourceFile is a file of the source that is shown as it is.
type sourceFile struct {
	fsys fs.FS
	name string // its path
}

func (f sourceFile) stat() (fs.FileInfo, error) {
	source, err := fs.Stat(f.fsys, f.name)
	if err != nil {
		return nil, err
	}
	return fileInfo(path.Base(f.name), source.Size(), source), nil
}

func (f sourceFile) open() (fs.File, error) {
	opened, err := f.fsys.Open(f.name)
	if err != nil {
		return nil, err
	}
	source, err := opened.Stat()
	if err != nil {
		opened.Close()
		return nil, err
	}
	return &openSourceFile{opened, fileInfo(path.Base(f.name), source.Size(), source)}, nil
}

// openSourceFile is an open sourceFile.
type openSourceFile struct {
	fs.File
	info info
}

func (f *openSourceFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// ReadAt fails if the file has changed since it was opened.
func (f *openSourceFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.(io.ReaderAt).ReadAt(b, off)
	if changed := vfs.Unchanged(f.File, f.info.source); changed != nil {
		return 0, changed
	}
	return n, err
}
