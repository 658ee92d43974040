package object

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// info describes a file or a directory. Objects have no owner and no permissions: what this process can read is
// readable, as the server and its user have agreed.
type info struct {
	path string
	fact
	bucket string // its identity
}

func (f *FS) newInfo(name string, found fact) fs.FileInfo { return info{name, found, f.id} }

func (i info) Name() string { return path.Base(i.path) }
func (i info) Size() int64  { return i.fact.Size }
func (i info) IsDir() bool  { return i.kind == directory }
func (i info) Sys() any     { return nil }

func (i info) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ModTime returns the time of the last change. Directories have none: it is the start of 1970.
func (i info) ModTime() time.Time {
	if i.Modified.IsZero() {
		return time.Unix(0, 0)
	}
	return i.Modified
}

// Details implements [vfs.DetailedInfo].
func (i info) Details() vfs.Details {
	return vfs.Details{Version: i.version, Stored: func() int64 { return i.fact.Size }}
}

// version identifies the object. Web servers give two files the same ETag if they have the same size and time.
func (i info) version() vfs.Version {
	text := fmt.Sprintf("%q %q %d %d %q", i.bucket, i.path, i.kind, i.fact.Size, i.fact.Version)
	if i.fact.Version == "" {
		text += i.Modified.UTC().String()
	}
	sum := sha256.Sum256([]byte(text))
	return vfs.Version(sum[:16])
}

// entry is an entry of a directory.
type entry struct {
	f     *FS
	found fact // whose key is its path
}

func (e entry) Name() string { return path.Base(e.found.Key) }
func (e entry) IsDir() bool  { return e.found.kind == directory }

func (e entry) Type() fs.FileMode {
	if e.IsDir() {
		return fs.ModeDir
	}
	return 0
}

// Info implements [fs.DirEntry]. It needs a request if the store lists names only.
func (e entry) Info() (fs.FileInfo, error) {
	if e.found.complete() {
		return e.f.newInfo(e.found.Key, e.found), nil
	}
	return e.f.Stat(e.found.Key)
}

func (e entry) String() string { return fs.FormatDirEntry(e) }
