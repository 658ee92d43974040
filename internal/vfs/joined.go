package vfs

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
)

// JoinInfos describes several files as one: all their bytes, the latest time, and the permissions of users who may
// read all of them. A file that is nil does not exist; at least one does. The version changes with that of any file,
// or if a file appears. A single file is described as it is.
func JoinInfos(files []fs.FileInfo) fs.FileInfo {
	if len(files) == 1 {
		return files[0]
	}
	var joined joinedInfo
	allowed := access.Unrestricted
	h := sha256.New()
	for _, f := range files {
		if f == nil {
			h.Write([]byte("absent"))
			continue
		}
		if joined.FileInfo == nil {
			joined.FileInfo, joined.mod = f, f.ModTime()
		}
		version := VersionOf(f)
		h.Write(version[:])
		allowed = allowed.And(access.Of(f))
		joined.size += f.Size()
		joined.stored += StoredOf(f)
		if f.ModTime().After(joined.mod) {
			joined.mod = f.ModTime()
		}
	}
	joined.FileInfo = allowed.Restrict(joined.FileInfo)
	joined.version = Version(h.Sum(nil)[:16])
	return joined
}

// joinedInfo describes files as one.
type joinedInfo struct {
	fs.FileInfo
	size, stored int64
	mod          time.Time
	version      Version
}

func (i joinedInfo) Size() int64        { return i.size }
func (i joinedInfo) ModTime() time.Time { return i.mod }

func (i joinedInfo) Details() Details {
	return Details{Version: func() Version { return i.version }, Stored: func() int64 { return i.stored }}
}

// ReaderAt is an open file of any store as an io.ReaderAt, which waits for the store without an end.
type ReaderAt struct{ fs.File }

// ReadAt implements io.ReaderAt.
func (r ReaderAt) ReadAt(p []byte, off int64) (int, error) {
	return ReadAt(context.Background(), r.File, p, off)
}

// NoFiles is a file system without files.
type NoFiles struct{}

// Open fails with fs.ErrNotExist.
func (NoFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat fails with fs.ErrNotExist.
func (NoFiles) Stat(name string) (fs.FileInfo, error) {
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists nothing.
func (NoFiles) ReadDir(string) ([]fs.DirEntry, error) { return nil, nil }
