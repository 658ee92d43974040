package zipfs

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// file is an open file of an archive.
type file struct {
	*io.SectionReader
	fsys   *FS
	node   *node
	offset int64 // of the first byte in the archive
}

var (
	_ vfs.ContextReaderAt = (*file)(nil)
	_ vfs.RangeReader     = (*file)(nil)
	_ vfs.Advisor         = (*file)(nil)
	_ vfs.SpeedReporter   = (*file)(nil)
	_ fs.ReadDirFile      = (*directory)(nil)
)

// Open opens a file that is stored without compression. An entry of another kind, or one that reaches into the
// directory of the archive, is an error that names it.
func (a *FS) Open(name string) (fs.File, error) {
	n, found, err := a.find("open", name)
	if err != nil {
		return nil, err
	}
	e := n.entry
	switch {
	case e == nil:
		return &directory{fsys: a, node: n, name: name}, nil
	case !e.Mode().IsRegular():
		return nil, vfs.CheckKind(name, found, 0)
	}
	const encrypted = 1 // flag
	switch {
	case e.Flags&encrypted != 0:
		return nil, a.unsupported(e, "no encryption", "it")
	case e.Method == zip.Deflate && a.whole != nil:
	case e.Method != zip.Store:
		return nil, a.unsupported(e, "no compression, as zip -0 writes it", fmt.Sprintf("method %d", e.Method))
	case e.CompressedSize64 != e.UncompressedSize64:
		return nil, a.broken(e, fmt.Sprintf("%d stored bytes", e.UncompressedSize64), fmt.Sprint(e.CompressedSize64))
	}
	at, err := a.dataOffset(e)
	if err != nil {
		return nil, &volume.FormatError{File: a.name, Part: part(e.Name), Offset: -1, Err: err}
	}
	if end := uint64(a.index.at); at > end || e.CompressedSize64 > end-at {
		return nil, a.broken(e, fmt.Sprintf("an extent in the %d bytes before the directory", end),
			fmt.Sprintf("%d bytes at byte %d", e.CompressedSize64, at))
	}
	if a.whole != nil {
		if f, ok, err := a.openWhole(n, at); ok {
			return f, err
		}
	}
	section := io.NewSectionReader(a.archive.(io.ReaderAt), int64(at), int64(e.UncompressedSize64))
	return &file{SectionReader: section, fsys: a, node: n, offset: int64(at)}, nil
}

// dataOffset returns where the bytes of a file start in the archive: after its local header.
func (a *FS) dataOffset(e *record) (uint64, error) {
	at, size := uint64(a.index.base)+e.offset, uint64(a.info.Size())
	if e.offset > size || at > size || size-at < localLength {
		return 0, fmt.Errorf("expected a local header in the %d bytes of the archive, found it at byte %d", size, at)
	}
	h := make(header, localLength)
	if _, err := io.ReadFull(io.NewSectionReader(a.archive.(io.ReaderAt), int64(at), localLength), h); err != nil {
		return 0, err
	}
	if h.u32(0) != localSignature {
		return 0, fmt.Errorf("byte %d: expected a local header", at)
	}
	return at + localLength + uint64(h.u16(26)) + uint64(h.u16(28)), nil
}

func (a *FS) broken(e *record, expected, found string) error {
	return broken(a.name, e.Name, expected, found)
}

func (a *FS) unsupported(e *record, expected, found string) error {
	return &volume.UnsupportedError{File: a.name, Part: part(e.Name), Offset: -1, Expected: expected, Found: found}
}

// Stat returns the attributes that the file has now. It fails with vfs.ErrChanged if the archive was changed.
func (f *file) Stat() (fs.FileInfo, error) {
	now, err := f.fsys.stat()
	if err != nil {
		return nil, err
	}
	return info{now, f.node}, nil
}

// ReadAtContext implements [vfs.ContextReaderAt].
func (f *file) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, &fs.PathError{Op: "readat", Path: f.node.name, Err: fs.ErrInvalid}
	case off >= f.Size():
		return 0, io.EOF
	}
	short := int64(len(p)) > f.Size()-off
	if short {
		p = p[:f.Size()-off]
	}
	n, err := vfs.ReadAt(ctx, f.fsys.archive, p, f.offset+off)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// ReadRanges implements [vfs.RangeReader]: the archive has as many requests in flight as suits its source.
func (f *file) ReadRanges(ctx context.Context, ranges []vfs.Range) {
	inside := make([]vfs.Range, 0, len(ranges))
	index := make([]int, 0, len(ranges)) // of each range inside of the file, in ranges
	for i := range ranges {
		r := &ranges[i]
		if r.Err = nil; len(r.P) == 0 {
			continue
		}
		if r.Off < 0 || r.Off > f.Size() || int64(len(r.P)) > f.Size()-r.Off {
			r.Err = io.ErrUnexpectedEOF // not bytes of the entry after it
			continue
		}
		inside, index = append(inside, vfs.Range{Off: f.offset + r.Off, P: r.P}), append(index, i)
	}
	vfs.ReadRanges(ctx, f.fsys.archive, inside)
	for k, i := range index {
		ranges[i].Err = inside[k].Err
	}
}

// WillNeed implements [vfs.Advisor].
func (f *file) WillNeed(off, n int64) {
	a, ok := f.fsys.archive.(vfs.Advisor)
	if n = min(n, f.Size()-off); ok && off >= 0 && n > 0 {
		a.WillNeed(f.offset+off, n)
	}
}

// Speed implements [vfs.SpeedReporter].
func (f *file) Speed() vfs.Speed { return vfs.SpeedOf(f.fsys.archive) }

// Close does nothing: the archive stays open.
func (f *file) Close() error { return nil }

// directory is an open directory. It is listed at the first call of ReadDir.
type directory struct {
	fsys *FS
	node *node
	name string

	listed bool
	rest   []fs.DirEntry
}

// ReadDir implements [fs.ReadDirFile].
func (d *directory) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.listed {
		all, err := d.fsys.ReadDir(d.name)
		if err != nil {
			return nil, err
		}
		d.listed, d.rest = true, all
	}
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	next := d.rest[:n:n]
	d.rest = d.rest[n:]
	return next, nil
}

func (d *directory) Stat() (fs.FileInfo, error) { return d.fsys.Stat(d.name) }
func (d *directory) Close() error               { return nil }
func (d *directory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// info describes a file or directory. All but name, size and kind are those of the archive.
type info struct {
	fs.FileInfo // of the archive
	node        *node
}

func (i info) Name() string { return i.node.name }
func (i info) IsDir() bool  { return i.node.entry == nil }

func (i info) Size() int64 {
	if i.node.entry == nil {
		return 0
	}
	return int64(min(i.node.entry.UncompressedSize64, math.MaxInt64))
}

// Details implements [vfs.DetailedInfo].
func (i info) Details() vfs.Details { return vfs.Details{Version: i.version, Stored: i.Size} }

// Mode has the permissions of the archive. Who may read it may search its directories.
func (i info) Mode() fs.FileMode {
	perm := i.FileInfo.Mode().Perm() & 0o444
	if i.node.entry == nil {
		return fs.ModeDir | perm | perm>>2
	}
	return i.node.entry.Mode().Type() | perm
}

// version changes with the archive.
func (i info) version() vfs.Version {
	b := vfs.VersionOf(i.FileInfo)
	if e := i.node.entry; e != nil {
		sum := sha256.Sum256(append(binary.LittleEndian.AppendUint32(b[:], e.CRC32), e.Name...))
		return vfs.Version(sum[:16])
	}
	return b
}
