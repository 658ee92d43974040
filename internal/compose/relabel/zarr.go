package relabel

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/zarr"
)

// The arrays of an agglomerate attachment that are read (agglomerate_attachment.md of webknossos-libs, version 4).
const (
	segmentsArray = "segment_to_agglomerate"
	offsetsArray  = "agglomerate_to_segments_offsets"
	groupFile     = "zarr.json"
)

// maxPageBytes limits a page of a table as it is stored.
const maxPageBytes = 64 << 20

// OpenZarr opens an agglomerate attachment: the group in directory dir of fsys. Its pages are the inner chunks of the
// table. It reads nothing.
func OpenZarr(name string, fsys fs.FS, dir string) *Table {
	t := &Table{Name: name}
	t.read = func(last *state) (*state, error) { return readZarr(fsys, dir, last) }
	t.files = func() (found []fs.FileInfo) {
		for _, file := range []string{groupFile, path.Join(segmentsArray, groupFile)} {
			if info, err := fs.Stat(fsys, path.Join(dir, file)); err == nil {
				found = append(found, info)
			}
		}
		return found
	}
	return t
}

// zarrTable is an open table.
type zarrTable struct {
	mag      volume.Mag
	grid     volume.Grid
	n        uint64
	versions map[volume.Vec]vfs.Version // of the files
}

func readZarr(fsys fs.FS, dir string, last *state) (*state, error) {
	file := path.Join(dir, segmentsArray)
	t, err := openZarrTable(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: the group has no %s", dir, segmentsArray)
	}
	if err != nil {
		return nil, err
	}
	version, err := t.version(fsys, file)
	if err != nil || last != nil && version == last.version {
		return last, err
	}
	return newList(version, mostOf(fsys, dir, t.grid.Type), t.n, uint64(t.grid.Block[0]), t.page)
}

func openZarrTable(fsys fs.FS, dir string) (*zarrTable, error) {
	m, err := zarr.OpenArray(fsys, dir, zarr.ArrayOptions{})
	if err != nil {
		return nil, err
	}
	g, err := m.CubeGrid()
	if err != nil {
		return nil, err
	}
	box, err := m.Bounds()
	if err != nil {
		return nil, err
	}
	file := path.Join(dir, groupFile)
	size := box.Size()
	switch {
	case size[1] != 1 || size[2] != 1 || g.Channels != 1:
		return nil, broken(file, "shape", "one axis", "several")
	case !g.Type.IsInteger():
		return nil, broken(file, "data_type", "an integer", g.Type.String())
	case g.BlockBytes() > maxPageBytes:
		return nil, broken(file, "chunk", fmt.Sprintf("at most %d bytes", maxPageBytes), fmt.Sprint(g.BlockBytes()))
	}
	return &zarrTable{mag: m, grid: g, n: uint64(size[0])}, nil
}

// version describes all files of the table.
func (t *zarrTable) version(fsys fs.FS, dir string) (v vfs.Version, err error) {
	info, err := fs.Stat(fsys, path.Join(dir, groupFile))
	if err != nil {
		return v, err
	}
	h := sha256.New()
	v = vfs.VersionOf(info)
	h.Write(v[:])
	t.versions = map[volume.Vec]vfs.Version{}
	for c, err := range volume.AllCubes(t.mag) {
		if err != nil {
			return v, err
		}
		info, err := t.mag.StatCubes(c[2], c[1], c[0])
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return v, err
		}
		v = vfs.VersionOf(info)
		t.versions[c] = v
		fmt.Fprint(h, c)
		h.Write(v[:])
	}
	return vfs.Version(h.Sum(nil)[:16]), nil
}

// page reads an inner chunk. One that is absent has the fill value.
func (t *zarrTable) page(ctx context.Context, p uint64) ([]uint64, error) {
	each := t.grid.Blocks()[0]
	c := volume.Vec{int(p) / each}
	f, err := t.mag.OpenCube(c)
	var found vfs.Version
	switch {
	case err == nil:
		defer f.Close()
		found = f.Version()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if found != t.versions[c] {
		return nil, vfs.ErrChanged
	}
	ids := make([]uint64, t.grid.Block[0])
	if f == nil {
		return ids, nil
	}
	b, err := volume.ReadBlock(ctx, f, volume.Vec{int(p) % each})
	if err != nil || b == nil {
		return ids, err
	}
	return ids, decodeIDs(ids, b, t.grid.Type, false)
}

// mostOf returns the greatest id that a table can have: that of the offsets, whose list has two more. If there is no
// such list, it is that of the type.
func mostOf(fsys fs.FS, dir string, kind volume.Type) uint64 {
	offsets, err := openZarrTable(fsys, path.Join(dir, offsetsArray))
	if err == nil && offsets.n >= 2 {
		return offsets.n - 2
	}
	return mostOfType(kind)
}

func mostOfType(kind volume.Type) uint64 { return unknownMost >> (64 - 8*kind.Size()) }

// decodeIDs decodes integers of a type. Negative ones are an error.
func decodeIDs(ids []uint64, b []byte, kind volume.Type, bigEndian bool) error {
	size := kind.Size()
	for i := range ids {
		v := b[i*size:][:size]
		if bigEndian {
			var word [8]byte
			copy(word[8-size:], v)
			ids[i] = binary.BigEndian.Uint64(word[:])
		} else {
			ids[i] = get(v, size)
		}
		if !kind.IsUnsigned() && ids[i]>>(8*size-1) != 0 {
			return fmt.Errorf("entry %d of a page: expected an id, found a negative number", i)
		}
	}
	return nil
}

func broken(file, part, expected, found string) error {
	return &volume.FormatError{File: file, Part: part, Offset: -1, Expected: expected, Found: found}
}
