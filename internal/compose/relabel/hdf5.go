package relabel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// hdf5Page is the ids in a page of a table without chunks.
const hdf5Page = 1 << 15

// OpenHDF5 opens an agglomerate file: HDF5 with the arrays of an attachment in its root group. Its pages are the chunks
// of the table. It reads nothing.
func OpenHDF5(name string, fsys fs.FS, file string) *Table {
	t := &Table{Name: name, files: statOf(fsys, file)}
	t.read = func(last *state) (*state, error) { return readHDF5(fsys, file, last) }
	return t
}

// hdf5Table is a table in an open file.
type hdf5Table struct {
	fs.File
	info    fs.FileInfo
	root    *hdf5.Group
	dataset *hdf5.Dataset
	kind    volume.Type
}

func readHDF5(fsys fs.FS, file string, last *state) (*state, error) {
	t, err := openHDF5Table(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer t.Close() // read-only: nothing can be lost
	version := vfs.VersionOf(t.info)
	if last != nil && version == last.version {
		return last, nil
	}
	load := func(ctx context.Context, p uint64) ([]uint64, error) {
		ids, err := pageOfHDF5(ctx, fsys, file, version, p)
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
		return ids, err
	}
	return newList(version, t.most(), t.dataset.Shape()[0], t.pageLen(), load)
}

func openHDF5Table(fsys fs.FS, file string) (t *hdf5Table, err error) {
	t = &hdf5Table{}
	if t.File, t.info, err = vfs.OpenRegular(fsys, file); err != nil {
		return nil, err
	}
	if err := t.find(); err != nil {
		t.Close() // read-only: nothing can be lost
		return nil, err
	}
	return t, nil
}

// find finds the table in the file.
func (t *hdf5Table) find() error {
	f, err := hdf5.Open(vfs.ReaderAt{File: t.File}, t.info.Size())
	if err != nil {
		return err
	}
	if f.Truncated() {
		return fmt.Errorf("expected more than %d bytes, as the superblock says, found the end of the file",
			t.info.Size())
	}
	if t.root, err = f.Root(); err != nil {
		return err
	}
	o, err := t.root.Lookup(segmentsArray)
	if err != nil {
		return err
	}
	d, ok := o.(*hdf5.Dataset)
	if !ok || len(d.Shape()) != 1 {
		return fmt.Errorf("%s: expected a dataset of one axis", segmentsArray)
	}
	number := d.Type()
	name := fmt.Sprintf("int%d", 8*number.Size)
	if !number.Signed {
		name = "u" + name
	}
	if t.kind, err = volume.ParseType(name); err != nil || number.Class != hdf5.ClassInteger ||
		number.Precision != 8*number.Size {
		return fmt.Errorf("%s: expected integers of 8 to 64 bits, found values of %d bytes of the class %v",
			segmentsArray, number.Size, number.Class)
	}
	t.dataset = d
	if n := t.pageLen(); n > maxPageBytes/uint64(number.Size) {
		return fmt.Errorf("%s: expected chunks of at most %d bytes, found %d ids", segmentsArray, maxPageBytes, n)
	}
	return d.Readable()
}

// pageLen returns the ids in a page.
func (t *hdf5Table) pageLen() uint64 {
	if t.dataset.Layout() == hdf5.Chunked {
		return t.dataset.ChunkShape()[0]
	}
	return hdf5Page
}

// most returns the greatest id that the table can have: that of the offsets, whose list has two more.
func (t *hdf5Table) most() uint64 {
	if o, err := t.root.Lookup(offsetsArray); err == nil {
		if d, ok := o.(*hdf5.Dataset); ok && len(d.Shape()) == 1 && d.Shape()[0] >= 2 {
			return d.Shape()[0] - 2
		}
	}
	return mostOfType(t.kind)
}

// pageOfHDF5 reads a page of a version of a file.
func pageOfHDF5(ctx context.Context, fsys fs.FS, file string, version vfs.Version, p uint64) ([]uint64, error) {
	t, err := openHDF5Table(fsys, file)
	if err != nil {
		return nil, err
	}
	defer t.Close() // read-only: nothing can be lost
	if vfs.VersionOf(t.info) != version {
		return nil, vfs.ErrChanged
	}
	b, err := t.page(ctx, p)
	if err == nil {
		err = vfs.Unchanged(t.File, t.info)
	}
	if err != nil {
		return nil, err
	}
	ids := make([]uint64, len(b)/t.kind.Size())
	return ids, decodeIDs(ids, b, t.kind, t.dataset.Type().BigEndian)
}

// page returns the bytes of a page as they are stored. The last page of a table without chunks is shorter.
func (t *hdf5Table) page(ctx context.Context, p uint64) ([]byte, error) {
	size := uint64(t.kind.Size())
	first, n := p*t.pageLen(), t.pageLen()
	if t.dataset.Layout() != hdf5.Chunked {
		n = min(n, t.dataset.Shape()[0]-min(first, t.dataset.Shape()[0]))
	}
	b := t.filled(int(n * size))
	switch t.dataset.Layout() {
	case hdf5.Compact:
		return b, copyPart(b, t.dataset.Compact(), first*size)
	case hdf5.Contiguous:
		offset, stored, ok := t.dataset.Contiguous()
		if !ok {
			return b, nil
		}
		if end := first*size + uint64(len(b)); end > uint64(stored) {
			return nil, fmt.Errorf("%s: expected %d bytes, found %d", segmentsArray, end, stored)
		}
		return b, vfs.ReadFull(ctx, t.File, b, offset+int64(first*size))
	}
	index, err := t.dataset.Chunks()
	if err != nil {
		return nil, err
	}
	chunk, ok, err := index.Lookup([]uint64{p})
	if err != nil || !ok {
		return b, err
	}
	stored := make([]byte, chunk.Size)
	if err := vfs.ReadFull(ctx, t.File, stored, chunk.Offset); err != nil {
		return nil, err
	}
	return b, t.dataset.DecodeChunk(b, stored, chunk.FilterMask)
}

// filled returns n bytes of the fill value.
func (t *hdf5Table) filled(n int) []byte {
	b := make([]byte, n)
	if value := t.dataset.FillValue(); len(value) == t.kind.Size() {
		for i := 0; i < n; i += copy(b[i:], value) {
		}
	}
	return b
}

// copyPart copies the bytes from an offset on.
func copyPart(dst, src []byte, from uint64) error {
	if from+uint64(len(dst)) > uint64(len(src)) {
		return errors.New(segmentsArray + ": a compact dataset that is too short")
	}
	copy(dst, src[from:])
	return nil
}

// parentOf returns the directory of a path or a URL in metadata, and the name in it.
func parentOf(p string) (dir, name string) {
	return p[:max(0, len(p)-len(path.Base(p))-1)], path.Base(p)
}
