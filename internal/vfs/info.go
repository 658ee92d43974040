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

// DetailedInfo is an fs.FileInfo that knows more about the file.
type DetailedInfo interface {
	// Details returns what it knows. It is fast.
	Details() Details
}

// Details are what is known about a file beside its attributes. Fields that are not known are nil or false.
type Details struct {
	// Version returns the version of the content.
	Version func() Version
	// Stored returns how many bytes the file occupies in the store. In a decoded view this is not its size.
	Stored func() int64
	// Source describes the stored file, if the file is computed from what is in the store, or is a chunk in a stored
	// file.
	Source fs.FileInfo
	// Attributes returns the extended attributes by their full names, such as "user.comment". The caller must not
	// change the map.
	Attributes func() map[string]string
	// Live says that the file is about the server itself, or is a directory of such files.
	//
	// Each open of a live file returns new content, so its bytes must not be cached, and its size is unknown before.
	// Its owner and permissions are never replaced.
	Live bool
	// Writable says that the file may be a [Writer]. Reads of such a file have what it contains when they are made, not
	// when it was opened, so its version says nothing.
	Writable bool
}

// DetailsOf returns the details that info knows.
func DetailsOf(info fs.FileInfo) Details {
	if d, ok := info.(DetailedInfo); ok {
		return d.Details()
	}
	return Details{}
}

// WithVersion returns info with another version.
func WithVersion(info fs.FileInfo, v Version) fs.FileInfo { return versionedInfo{info, v} }

type versionedInfo struct {
	fs.FileInfo
	version Version
}

func (i versionedInfo) Details() Details {
	d := DetailsOf(i.FileInfo)
	d.Version = func() Version { return i.version }
	return d
}

// VersionOf returns the version of the file that info describes. If info does not know it, the version
// is a hash of the size, the modification time and, in a *syscall.Stat_t, the device, inode number, change
// time and stored size.
func VersionOf(info fs.FileInfo) Version {
	if version := DetailsOf(info).Version; version != nil {
		return version()
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

// HasModTime reports whether the time of the last change of a file or directory is known. Directories of object stores
// have none: theirs is the start of 1970.
func HasModTime(info fs.FileInfo) bool { return info.ModTime().Unix() != 0 }

// StoredOf returns the number of bytes that the file occupies in the store. If info does not know it, this
// is the allocation in a *syscall.Stat_t, or else the size.
func StoredOf(info fs.FileInfo) int64 {
	if stored := DetailsOf(info).Stored; stored != nil {
		return stored()
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
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
