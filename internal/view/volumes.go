package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/prefetch"
	"github.com/wkwfs/wkwfs/volume"
)

// What a mag shows beside its cubes.
const (
	volumeStem = "volume"
	slicesName = "slices"
	boxName    = "box"
	jsonSuffix = ".json"
	tiffSuffix = ".tif"
)

// arrayFile shows a box of a mag as a file of one of the formats.
type arrayFile struct {
	d      magDir
	name   string
	suffix string
	// box is in absolute voxels of the mag; nil is the layer's whole bounding box,
	// under the name volume.*.
	box *volume.Box
}

// shape is what an arrayFile turns out to be with a mosaic below it.
type shape struct {
	box      volume.Box
	array    header.Array
	layout   header.Layout
	detached bool // there are no voxels in it
}

func (f arrayFile) shape(m *shown) (shape, error) {
	s := shape{box: m.Bounds()}
	if f.box != nil {
		s.box = *f.box
	}
	s.array = m.describe(f.d.path, s.box)
	if f.suffix == jsonSuffix {
		s.detached = true
	}
	for _, format := range header.Formats() {
		if format.Suffix == f.suffix {
			s.detached = format.Detached
		}
	}
	var err error
	s.layout, err = f.layout(m, s.array)
	return s, err
}

// layout builds what is around the voxels; for the whole volume once.
func (f arrayFile) layout(m *shown, a header.Array) (header.Layout, error) {
	if f.box != nil {
		return makeLayout(f.suffix, m, a)
	}
	type result struct {
		layout header.Layout
		err    error
	}
	if made, ok := m.layouts.Load(f.suffix); ok {
		r := made.(result)
		return r.layout, r.err
	}
	layout, err := makeLayout(f.suffix, m, a)
	m.layouts.Store(f.suffix, result{layout, err})
	return layout, err
}

// makeLayout builds the layout of the format with the suffix. An error that is
// fs.ErrNotExist says that the array is not offered in it.
func makeLayout(suffix string, m *shown, a header.Array) (header.Layout, error) {
	valid := a.Grid.Validate()
	switch {
	case suffix == jsonSuffix && valid != nil:
		head, err := json.Marshal(map[string]string{"error": valid.Error()})
		return header.Layout{Head: append(head, '\n')}, err
	case suffix == jsonSuffix:
		about := m.About()
		head, err := header.VolumeJSON(a, header.Storage{Mag: about.Factor, Cube: m.Cube().Size, Compression: about.Compression})
		return header.Layout{Head: head}, err
	case valid != nil:
		return header.Layout{}, fmt.Errorf("%w: %w", fs.ErrNotExist, valid)
	case suffix == rawSuffix:
		return header.Layout{}, nil
	}
	for _, format := range header.Formats() {
		if format.Suffix != suffix {
			continue
		}
		layout, err := format.Layout(a)
		var cannot *header.Unrepresentable
		if errors.As(err, &cannot) {
			err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		if err == nil && !format.Detached && a.Grid.Bytes() > math.MaxInt64-int64(len(layout.Head))-layout.TailSize {
			err = fmt.Errorf("%w: with its header %w", fs.ErrNotExist, volume.ErrTooLarge)
		}
		return layout, err
	}
	return header.Layout{}, fs.ErrNotExist
}

func (f arrayFile) stat() (fs.FileInfo, error) {
	m, err := f.d.shown()
	if err != nil {
		return nil, err
	}
	s, err := f.shape(m)
	if err != nil {
		return nil, err
	}
	return f.info(m, s)
}

func (f arrayFile) info(m *shown, s shape) (info, error) {
	base, err := m.Info()
	if err != nil {
		return info{}, err
	}
	size := int64(len(s.layout.Head)) + s.layout.TailSize
	if !s.detached {
		size += s.array.Grid.Bytes()
	}
	i := fileInfo(f.name, size, base)
	i.version, i.stored = m.Version(), size
	if !s.detached {
		i.array = &s.array.Grid
		i.stored = m.Share(s.box)
	}
	return i, nil
}

func (f arrayFile) open() (fs.File, error) {
	m, err := f.d.shownNow(f.box)
	if err != nil {
		return nil, err
	}
	s, err := f.shape(m)
	if err != nil {
		return nil, err
	}
	info, err := f.info(m, s)
	if err != nil {
		return nil, err
	}
	m.Open()
	if s.detached {
		return newFile(info, s.layout, nil, m.Close), nil
	}
	return f.openVoxels(m, s, info), nil
}

// openVoxels opens the file of a box. Planes that are opened in order are read as the volume is.
func (f arrayFile) openVoxels(m *shown, s shape, info info) fs.File {
	habit := prefetch.Unknown
	z, offset, isPlane := m.plane(s.box)
	switch {
	case isPlane:
		habit = prefetch.Ordered // of a single plane: nothing is decoded ahead
	case f.box != nil:
		habit = prefetch.Once
	}
	a := newFile(info, s.layout, f.d.t.prefetch.NewReader(m.array(s.box, len(s.layout.Head)), habit), m.Close)
	if isPlane {
		a.shared, a.leave = m.stack.Enter(z)
		a.offset = offset
	}
	a.holes = m.Holes(a.voxels.Array())
	return a
}

// slicesDir shows each xy plane of a mag as a TIFF file, named by its absolute z.
type slicesDir struct{ d magDir }

func (s slicesDir) stat() (fs.FileInfo, error) { return statDir(slicesName, s.d.m.Stat) }

func (s slicesDir) list() ([]fs.DirEntry, error) {
	m, err := s.d.shown()
	if err != nil {
		return nil, err
	}
	if _, err := s.slice(m, m.Bounds().Min[2]).shape(m); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no plane of such voxels can be a TIFF
	}
	entries := make([]fs.DirEntry, 0, m.Bounds().Size()[2])
	for z := m.Bounds().Min[2]; z < m.Bounds().Max[2]; z++ {
		f := s.slice(m, z)
		entries = append(entries, entry{f.name, f})
	}
	return entries, nil
}

func (s slicesDir) child(name string) (node, error) {
	var z int
	if _, err := fmt.Sscanf(name, "z%d"+tiffSuffix, &z); err != nil || sliceName(z) != name {
		return nil, fs.ErrNotExist
	}
	m, err := s.d.shown()
	if err != nil {
		return nil, err
	}
	if z < m.Bounds().Min[2] || z >= m.Bounds().Max[2] {
		return nil, fs.ErrNotExist
	}
	return s.slice(m, z), nil
}

func (s slicesDir) slice(m *shown, z int) arrayFile {
	plane := m.Bounds()
	plane.Min[2], plane.Max[2] = z, z+1
	return arrayFile{s.d, sliceName(z), tiffSuffix, &plane}
}

func sliceName(z int) string { return fmt.Sprintf("z%07d", z) + tiffSuffix }

// boxDir shows any box of a mag, in any format that is one file, under the name
// xBegin-xEnd_yBegin-yEnd_zBegin-zEnd. There is nothing to list.
type boxDir struct{ d magDir }

func (b boxDir) stat() (fs.FileInfo, error)   { return statDir(boxName, b.d.m.Stat) }
func (b boxDir) list() ([]fs.DirEntry, error) { return nil, nil }

func (b boxDir) child(name string) (node, error) {
	stem, suffix, _ := strings.Cut(name, ".")
	box, ok := parseBox(stem)
	suffix = "." + suffix
	if !ok || !offersBox(suffix) {
		return nil, fs.ErrNotExist
	}
	return arrayFile{b.d, name, suffix, &box}, nil
}

func offersBox(suffix string) bool {
	for _, f := range header.Formats() {
		if f.Suffix == suffix {
			return !f.Detached
		}
	}
	return suffix == rawSuffix
}

// parseBox reads what volume.Box.String returns, of a box that is not empty and so
// near that nothing overflows.
func parseBox(s string) (volume.Box, bool) {
	var b volume.Box
	n, err := fmt.Sscanf(s, "%d-%d_%d-%d_%d-%d", &b.Min[0], &b.Max[0], &b.Min[1], &b.Max[1], &b.Min[2], &b.Max[2])
	if err != nil || n != 6 || b.String() != s || b.Empty() {
		return b, false
	}
	const limit = 1 << 40
	near := volume.Box{Min: volume.Cube(-limit), Max: volume.Cube(limit)}
	return b, b.Intersect(near) == b
}
