package vfs

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"syscall"
)

// Version identifies the content of a file. While the version is the same, so are the bytes.
type Version [16]byte

// Uint64 returns the first 8 bytes of the version as a number.
func (v Version) Uint64() uint64 { return binary.LittleEndian.Uint64(v[:]) }

// VersionedInfo is an fs.FileInfo that knows the version of the content.
type VersionedInfo interface {
	Version() Version
}

// VersionOf returns the version of the file that info describes. If info is no [VersionedInfo], the version
// is a hash of the size, the modification time and, in a *syscall.Stat_t, the device, inode number, change
// time and stored size.
func VersionOf(info fs.FileInfo) Version {
	if v, ok := info.(VersionedInfo); ok {
		return v.Version()
	}
	var b [56]byte
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(info.Size()))
	le.PutUint64(b[8:], uint64(info.ModTime().UnixNano()))
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		_, _, change := StatTimes(st)
		le.PutUint64(b[16:], uint64(st.Dev))
		le.PutUint64(b[24:], st.Ino)
		le.PutUint64(b[32:], uint64(change.Sec))
		le.PutUint64(b[40:], uint64(change.Nsec))
		le.PutUint64(b[48:], uint64(st.Size)) // in a view, info.Size is not the size of the stored file
	}
	sum := sha256.Sum256(b[:])
	return Version(sum[:16])
}

// HasModTime reports whether the time of the last change of a file or directory is known. Directories of object stores have none:
// theirs is the start of 1970.
func HasModTime(info fs.FileInfo) bool { return info.ModTime().Unix() != 0 }

// StoredInfo is an fs.FileInfo that knows how many bytes the file occupies in the store. In a decoded view
// this is not its size.
type StoredInfo interface {
	Stored() int64
}

// StoredOf returns the number of bytes that the file occupies in the store. If info is no [StoredInfo], this
// is the allocation in a *syscall.Stat_t, or else the size.
func StoredOf(info fs.FileInfo) int64 {
	if s, ok := info.(StoredInfo); ok {
		return s.Stored()
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}

// DerivedInfo is an fs.FileInfo of a file that is computed from what is in the store, or of a chunk in a stored file.
type DerivedInfo interface {
	// Source describes the stored file.
	Source() fs.FileInfo
}

// AttributedInfo is an fs.FileInfo that knows the extended attributes of the file.
type AttributedInfo interface {
	// Attributes returns the values by their full names, such as "user.comment". The caller must not change
	// the map.
	Attributes() map[string]string
}

// LiveInfo is an fs.FileInfo of a file about the server itself, or of a directory of such files.
//
// Each open of a live file returns new content, so its bytes must not be cached, and its size is unknown
// before. Its owner and permissions are never replaced.
type LiveInfo interface {
	Live() bool
}

// IsLive reports whether the entry is live. It returns false if info is no [LiveInfo].
func IsLive(info fs.FileInfo) bool {
	l, ok := info.(LiveInfo)
	return ok && l.Live()
}

// ErrChanged is the error of a read if the stored file has changed since it was opened. The bytes that would
// be read now do not belong to the bytes that were read before.
var ErrChanged = errors.New("the file changed while it was open")

// Unchanged returns [ErrChanged] if the size or the modification time of the open file is no longer that of
// info. It ignores the change time, because that also changes when the name of the file is removed or
// replaced.
func Unchanged(f fs.File, info fs.FileInfo) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return ErrChanged
	}
	return nil
}
