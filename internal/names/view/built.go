package view

import (
	"crypto/sha256"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// builtFile is a small file of metadata. It depends on several files of the source, so it is built for each use.
type builtFile struct {
	name    string
	source  func() (fs.FileInfo, error) // describes what the file is made of
	content func() ([]byte, error)
}

func (f builtFile) stat() (fs.FileInfo, error) {
	i, _, err := f.describe()
	return i, err
}

func (f builtFile) describe() (info, []byte, error) {
	b, err := f.content()
	if err != nil {
		return info{}, nil, err
	}
	source, err := f.source()
	if err != nil {
		return info{}, nil, err
	}
	i := fileInfo(f.name, int64(len(b)), source)
	sum := sha256.Sum256(b)
	i.version, i.stored = vfs.Version(sum[:16]), i.size
	return i, b, nil
}

func (f builtFile) open() (fs.File, error) {
	i, b, err := f.describe()
	if err != nil {
		return nil, err
	}
	return newFile(i, header.Layout{Head: b}, nil, noClose), nil
}

// noClose is the close function of files in memory.
func noClose() {}
