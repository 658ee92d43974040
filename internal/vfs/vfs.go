// Package vfs says what our files can do beyond [io/fs], and what their errors mean.
//
// It is the second narrow waist of the program. Stores below (a directory on
// disk) and views above (a volume laid out as files) are both an [fs.FS] whose
// files are also an [io.ReaderAt]; the abilities below are optional, each with a
// fallback, in the manner of [fs.ReadDirFS]. Servers (FUSE, HTTP, copying)
// use the functions here and know nothing of what is behind them.
package vfs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"
)

// ContextReaderAt is a file whose reads can be given up.
type ContextReaderAt interface {
	// ReadAtContext is ReadAt that returns early with ctx.Err() when ctx is done.
	ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
}

// ReadAt reads from f with the context if f can, else without.
func ReadAt(ctx context.Context, f fs.File, p []byte, off int64) (int, error) {
	switch f := f.(type) {
	case ContextReaderAt:
		return f.ReadAtContext(ctx, p, off)
	case io.ReaderAt:
		return f.ReadAt(p, off)
	}
	return 0, &fs.PathError{Op: "readat", Err: fs.ErrInvalid}
}

// Advisor is an open file that takes advice about what is read next.
type Advisor interface {
	// WillNeed says that n bytes from off on are read soon. The file may fetch them in the meantime.
	// WillNeed does not wait for them, and does not fail.
	WillNeed(off, n int64)
}

// Range is a part of a file that is to be read.
type Range struct {
	Off int64
	P   []byte // it is filled
	Err error  // why it was not: io.ErrUnexpectedEOF if the file ends in it
}

// RangeReader is an open file that can read many ranges at once.
type RangeReader interface {
	// ReadRanges fills the ranges and sets the error of each. It asks for them in their order, as many at a
	// time as suits the source. Once ctx is done, it asks for nothing more, and the error of what was not read is
	// ctx.Err(). It returns when all reads under way have ended, however long that takes. So when it has returned,
	// nobody writes to the ranges any more.
	ReadRanges(ctx context.Context, ranges []Range)
}

// ReadRanges fills ranges of f, at once if f can do that, else one after the other.
func ReadRanges(ctx context.Context, f fs.File, ranges []Range) {
	if r, ok := f.(RangeReader); ok {
		r.ReadRanges(ctx, ranges)
		return
	}
	for i := range ranges {
		ranges[i].Err = ReadFull(ctx, f, ranges[i].P, ranges[i].Off)
	}
}

// ReadFull fills p from byte offset on unless ctx is done. If the file ends before, the error is io.ErrUnexpectedEOF.
func ReadFull(ctx context.Context, f fs.File, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := ReadAt(ctx, f, p, off)
	switch {
	case n == len(p):
		return nil // whatever the reader says of what follows
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// Later is a file, or a file system, that knows whether its source answers late: a file server, an object store or a
// disk that turns, where it is worth while to wait for many answers at once.
type Later interface {
	// Late reports what the last answers say. It costs nothing to ask.
	Late() bool
}

// IsLate reports whether a file or a file system answers late; one that does not know does not.
func IsLate(f any) bool {
	l, ok := f.(Later)
	return ok && l.Late()
}

// Described is an entry of a directory with what [fs.Stat] says of it.
type Described struct {
	fs.DirEntry
	Info fs.FileInfo // links are followed
	Err  error       // why there is no Info
}

// DescribeFS is a file system that lists a directory with the attributes of its entries, in less time than it takes to
// ask for each of them by its path.
type DescribeFS interface {
	// Describe lists the entries whose names are wanted, sorted by name.
	Describe(dir string, wanted func(name string) bool) ([]Described, error)
}

// Describe lists the entries of a directory whose names are wanted, with their attributes, sorted by name.
func Describe(fsys fs.FS, dir string, wanted func(name string) bool) ([]Described, error) {
	if d, ok := fsys.(DescribeFS); ok {
		return d.Describe(dir, wanted)
	}
	entries, err := fs.ReadDir(fsys, dir)
	found := make([]Described, 0, len(entries))
	for _, e := range entries {
		if wanted(e.Name()) {
			info, err := fs.Stat(fsys, path.Join(dir, e.Name()))
			found = append(found, Described{e, info, err})
		}
	}
	return found, err
}

// Pusher is an open file that decodes bytes before they are asked for.
type Pusher interface {
	// Push gives the file a sink for such bytes. It is called before the first read, if at all.
	Push(to Sink)
}

// Sink takes bytes of an open file that nobody has asked for yet.
type Sink struct {
	All   bool  // it takes all bytes that are decoded; else just those that would have to be decoded again
	Page  int64 // it takes whole pages of so many bytes
	Piece int64 // how many bytes it is best given at once: whole pages
	Ahead int64 // how far from where a reader is its next reads may be under way: it is too late to push that

	// Write takes the bytes at an offset of the file. Several goroutines call it until Close of the file has returned. It may not keep
	// p, and may wait for reads of the file to be answered. It returns whether more is welcome.
	Write func(p []byte, off int64) (more bool)
}

// Version names the content of a file: as long as the version is the same, so
// are the bytes.
type Version [16]byte

// Uint64 folds the version into a number.
func (v Version) Uint64() uint64 { return binary.LittleEndian.Uint64(v[:]) }

// VersionedInfo is an fs.FileInfo that knows the version of the file's content.
type VersionedInfo interface {
	Version() Version
}

// VersionOf returns the version of the file that info describes: what info says
// itself, else one made of the size and times and, where the operating system
// gives them, the device, inode and change time.
func VersionOf(info fs.FileInfo) Version {
	if v, ok := info.(VersionedInfo); ok {
		return v.Version()
	}
	var b [56]byte
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(info.Size()))
	le.PutUint64(b[8:], uint64(info.ModTime().UnixNano()))
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		le.PutUint64(b[16:], st.Dev)
		le.PutUint64(b[24:], st.Ino)
		le.PutUint64(b[32:], uint64(st.Ctim.Sec))
		le.PutUint64(b[40:], uint64(st.Ctim.Nsec))
		le.PutUint64(b[48:], uint64(st.Size)) // a view's own Size is not the stored file's
	}
	sum := sha256.Sum256(b[:])
	return Version(sum[:16])
}

// StoredInfo is an fs.FileInfo that knows how many bytes the file takes in the
// store, which for decoded views is not their size.
type StoredInfo interface {
	Stored() int64
}

// StoredOf returns the bytes that the file takes in the store: what info says
// itself, else what the operating system has allocated, else the size.
func StoredOf(info fs.FileInfo) int64 {
	if s, ok := info.(StoredInfo); ok {
		return s.Stored()
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}

// AttributedInfo is an fs.FileInfo that knows extended attributes of the file.
type AttributedInfo interface {
	// Attributes returns the values by their full names, such as "user.comment".
	Attributes() map[string]string
}

// LiveInfo is an fs.FileInfo of a file, or of a directory of files, that tells about the
// server itself. Such a file is made anew for each who opens it, so that nobody may keep
// its bytes, and how long it will be is not known before; and its owner and permissions
// hold, whatever is to be shown of the source.
type LiveInfo interface {
	Live() bool
}

// IsLive reports whether the entry is live; those that do not say so are not.
func IsLive(info fs.FileInfo) bool {
	l, ok := info.(LiveInfo)
	return ok && l.Live()
}

// Holed is an open file that knows where it is only zeros because nothing is stored.
type Holed interface {
	// SeekData returns the first offset ≥ off that is not in a hole; io.EOF where all
	// that follows is.
	SeekData(off int64) (int64, error)
	// SeekHole returns the first offset ≥ off that is in a hole; the end of the file
	// counts as one. off is inside the file.
	SeekHole(off int64) (int64, error)
}

// ErrChanged says that the file below has changed since it was opened, so that what
// would be read now does not belong to what was read before.
var ErrChanged = errors.New("the file changed while it was open")

// Unchanged returns an error that is ErrChanged if the open file is no longer as
// info described it. Its change time is not looked at: removing or replacing the
// name of a file changes that and leaves the bytes alone.
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
