package zipfs

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/flate"
	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/volume"
)

// Whole says how files are read as a whole when they are opened, with their checksums verified.
type Whole struct {
	// Memory is the longest file that is held in memory while it is open, in bytes.
	Memory int64
	// Disk is the longest file that is unpacked into a temporary file ([os.TempDir]), which has no name and is gone
	// when it is closed. A longer one is an error. Files without compression are never unpacked: those longer than
	// Memory are read at any offset, and their checksums are not verified.
	Disk int64
	// InPlace reads files without compression where they are, whatever their length. Their checksums are not verified.
	InPlace bool
}

// OpenWhole is Open for archives whose files may be deflated. Names may have \ for /, as some programs on Windows write
// them.
func OpenWhole(fsys fs.FS, name string, w Whole) (*FS, error) {
	l := usual
	l.backslash = true
	a, err := openWithin(fsys, name, l)
	if err == nil {
		a.whole = &w
	}
	return a, err
}

// maxDeflate is more than the bytes that one byte of deflate can stand for.
const maxDeflate = 1032

// openWhole opens a file whose bytes are at an offset of the archive. ok is false if it is to be read where it is.
func (a *FS) openWhole(n *node, at uint64) (f fs.File, ok bool, err error) {
	e := n.entry
	size, stored := int64(e.UncompressedSize64), int64(e.CompressedSize64)
	switch {
	case e.Method == zip.Store && (a.whole.InPlace || size > a.whole.Memory):
		return nil, false, nil
	case e.Method == zip.Deflate && (size > a.whole.Memory && size > a.whole.Disk || size < 0):
		limit := max(a.whole.Memory, a.whole.Disk)
		return nil, true, a.unsupported(e, fmt.Sprintf("at most %d bytes", limit), fmt.Sprint(e.UncompressedSize64))
	case e.Method == zip.Deflate && size/maxDeflate > stored:
		return nil, true, a.broken(e, fmt.Sprintf("at most %d times the %d stored bytes", maxDeflate, stored),
			fmt.Sprint(size))
	}
	var r io.Reader = io.NewSectionReader(a.archive.(io.ReaderAt), int64(at), stored)
	if e.Method == zip.Deflate {
		in := inflaters.Get().(*inflater)
		defer in.release()
		if r, err = in.reader(r, stored); err != nil {
			return nil, true, a.damaged(n, err)
		}
		if f, ok = a.inflate(n, in); ok {
			return f, true, nil
		}
	}
	if size > a.whole.Memory {
		f, err = a.toDisk(n, r)
	} else {
		f, err = a.toMemory(n, r)
	}
	return f, true, err
}

// inflate unpacks a file that is in memory as it is stored, faster than the library does. It returns false for one that
// is not in memory, or has any fault: the library then says which.
func (a *FS) inflate(n *node, in *inflater) (fs.File, bool) {
	if in.memory == nil || n.entry.UncompressedSize64 > uint64(a.whole.Memory) {
		return nil, false
	}
	b := make([]byte, n.entry.UncompressedSize64)
	if !codec.Inflate(b, *in.memory) || crc32.ChecksumIEEE(b) != n.entry.CRC32 {
		return nil, false
	}
	return &memoryFile{bytes.NewReader(b), stater{a, n}}, true
}

// toMemory reads a file into memory.
func (a *FS) toMemory(n *node, r io.Reader) (fs.File, error) {
	b := make([]byte, n.entry.UncompressedSize64)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, a.damaged(n, err)
	}
	if err := a.atEnd(n, r, crc32.ChecksumIEEE(b)); err != nil {
		return nil, err
	}
	return &memoryFile{bytes.NewReader(b), stater{a, n}}, nil
}

// toDisk unpacks a file into a temporary one, which has no name any more.
func (a *FS) toDisk(n *node, r io.Reader) (fs.File, error) {
	t, err := os.CreateTemp("", "wkwfs-unpacked-*")
	if err != nil {
		return nil, err
	}
	sum := crc32.NewIEEE()
	err = os.Remove(t.Name())
	if err == nil {
		if _, err = io.CopyN(io.MultiWriter(t, sum), r, int64(n.entry.UncompressedSize64)); err != nil {
			err = a.damaged(n, err)
		}
	}
	if err == nil {
		err = a.atEnd(n, r, sum.Sum32())
	}
	if err == nil {
		_, err = t.Seek(0, io.SeekStart)
	}
	if err != nil {
		t.Close() // it is gone
		return nil, err
	}
	return &diskFile{t, stater{a, n}}, nil
}

// atEnd fails if a file goes on, or if its checksum is wrong.
func (a *FS) atEnd(n *node, r io.Reader, sum uint32) error {
	var more [1]byte
	switch k, err := io.ReadFull(r, more[:]); {
	case k > 0:
		return a.broken(n.entry, fmt.Sprintf("%d bytes", n.entry.UncompressedSize64), "more")
	case err != io.EOF:
		return a.damaged(n, err)
	case sum != n.entry.CRC32:
		return a.broken(n.entry, fmt.Sprintf("the checksum %#08x", n.entry.CRC32), fmt.Sprintf("%#08x", sum))
	}
	return nil
}

// damaged returns the error for a file that cannot be unpacked.
func (a *FS) damaged(n *node, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if _, ok := err.(flate.CorruptInputError); ok || err == io.ErrUnexpectedEOF {
		return &volume.FormatError{File: a.name, Part: part(n.entry.Name), Offset: -1, Err: err}
	}
	return fmt.Errorf("%s: %s: %w", a.name, part(n.entry.Name), err)
}

// stater describes a file of an archive.
type stater struct {
	fsys *FS
	node *node
}

// Stat returns the attributes that the file has now. It fails with vfs.ErrChanged if the archive was changed.
func (s stater) Stat() (fs.FileInfo, error) {
	now, err := s.fsys.stat()
	if err != nil {
		return nil, err
	}
	return info{now, s.node}, nil
}

// memoryFile is a file that is in memory.
type memoryFile struct {
	*bytes.Reader
	stater
}

// Close does nothing.
func (f *memoryFile) Close() error { return nil }

// diskFile is a file that is unpacked on a disk.
type diskFile struct {
	*os.File
	stater
}

// Stat describes the file of the archive, and not the temporary one.
func (f *diskFile) Stat() (fs.FileInfo, error) { return f.stater.Stat() }
