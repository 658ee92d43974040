package view

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/names/omezarr"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/volume"
)

// omeLevel presents a mag as an array of OME-Zarr: its metadata and its chunks.
type omeLevel struct {
	level
	format *omezarr.Format
}

func (l omeLevel) list(yield func(entry, error) bool) {
	for _, name := range l.format.LevelFiles {
		if !yield(entry{name, l.file(name)}, nil) {
			return
		}
	}
	chunks := l.chunks()
	if l.format.ChunkPrefix != "" {
		yield(entry{l.format.ChunkPrefix, chunks}, nil)
		return
	}
	chunks.list(yield)
}

func (l omeLevel) child(name string) (node, error) {
	chunks := l.chunks()
	switch {
	case slices.Contains(l.format.LevelFiles, name):
		return l.file(name), nil
	case l.format.ChunkPrefix == "":
		return chunks.child(name)
	case name == l.format.ChunkPrefix:
		return chunks, nil
	}
	return nil, fs.ErrNotExist
}

func (l omeLevel) chunks() omeChunks { return omeChunks{l: l, base: l.format.ChunkPrefix} }

// file returns a file of metadata of the array.
func (l omeLevel) file(name string) builtFile {
	return builtFile{name, l.d.m.Stat, func() ([]byte, error) {
		snap, err := l.d.snapshot()
		if err != nil {
			return nil, err
		}
		return l.format.Level(name, newOMEArray(snap).describe(l.key, snap))
	}}
}

// omeChunks is a directory of the chunks of an array. Directories are the numbers of chunks on the axes of the array,
// slowest first.
type omeChunks struct {
	l    omeLevel
	at   []int  // of the levels above
	base string // the name of the directory where at is empty
	hasC bool   // there is an axis of channels, even for one
}

func (d omeChunks) name() string {
	if len(d.at) == 0 {
		return d.base
	}
	return strconv.Itoa(d.at[len(d.at)-1])
}

func (d omeChunks) stat() (fs.FileInfo, error) {
	if _, _, err := d.array(); err != nil {
		return nil, err
	}
	return statDir(d.name(), d.l.d.m.Stat)
}

// array returns the geometry of the array. If the directory is not in the array, the error is fs.ErrNotExist.
func (d omeChunks) array() (*snapshot, omeArray, error) {
	snap, err := d.l.d.snapshot()
	if err != nil {
		return nil, omeArray{}, err
	}
	a := newOMEArray(snap)
	a.hasC = a.hasC || d.hasC
	for axis, n := range a.numbers()[:len(d.at)] {
		if d.at[axis] >= n {
			return nil, a, fs.ErrNotExist
		}
	}
	return snap, a, nil
}

func (d omeChunks) child(name string) (node, error) {
	n, ok := volume.ParseIndex(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	_, a, err := d.array()
	if err != nil {
		return nil, err
	}
	return d.entry(a, n), nil
}

// entry returns the directory or the chunk with number n.
func (d omeChunks) entry(a omeArray, n int) node {
	at := append(d.at[:len(d.at):len(d.at)], n)
	if len(at) < len(a.numbers()) {
		return omeChunks{d.l, at, d.base, d.hasC}
	}
	c := omeChunk{l: d.l}
	if a.hasC {
		c.channel = at[0]
	}
	zyx := a.space(at)
	c.at = volume.Vec{zyx[2], zyx[1], zyx[0]}
	return c
}

// list yields the numbers that have voxels of a cube. It yields none if there are more than limits.listed.
func (d omeChunks) list(yield func(entry, error) bool) {
	snap, a, err := d.array()
	if err != nil {
		yield(entry{}, err)
		return
	}
	var found []span.Span
	if a.hasC && len(d.at) == 0 {
		found = []span.Span{span.Of(0, int64(a.channels))}
	} else if found, err = d.spans(snap, a); err != nil {
		yield(entry{}, err)
		return
	}
	for _, s := range found {
		for n := int(s.Start()); n < int(s.End()); n++ {
			if !yield(entry{strconv.Itoa(n), d.entry(a, n)}, nil) {
				return
			}
		}
	}
}

// spans returns the numbers that have voxels of a cube, in order. It returns none if there are more than limits.listed.
func (d omeChunks) spans(snap *snapshot, a omeArray) (found []span.Span, err error) {
	zy := a.space(d.at)
	axis := 2 - len(zy)
	cubes := snap.Cube()
	total, most := int64(0), int64(d.l.d.fsys.limits.listed)
	err = eachCube(d.l.d.m, d.cubesOf(cubes, a, zy), nil, func(n int) bool {
		var c volume.Vec
		c[axis] = n
		box := cubes.CubeBox(c).Intersect(snap.Bounds())
		s := along(axis, box.Sub(a.extent.Min)).Units(int64(a.chunk[axis]))
		if s.Empty() {
			return true
		}
		total += s.Len()
		found = append(found, s)
		return total <= most
	})
	if total > most {
		return nil, err
	}
	return joined(found), err
}

// along returns the range of a box on an axis.
func along(axis int, box volume.Box) span.Span {
	return span.New(int64(box.Min[axis]), int64(box.Max[axis]))
}

// cubesOf returns the cubes, z first, that the numbers of chunks in zy have parts of.
func (d omeChunks) cubesOf(g volume.Grid, a omeArray, zy []int) (cubes []span.Span) {
	for i, n := range zy {
		axis := 2 - i
		var c volume.Vec
		c[axis] = n
		cubes = append(cubes, along(axis, a.voxels(c).Sub(g.Origin)).Units(int64(g.Size[axis])))
	}
	return cubes
}

// eachCube calls add with the entries of the levels of the index of cubes whose numbers above are in the spans, until
// add returns false. at is the numbers of the levels above.
func eachCube(m volume.Mag, above []span.Span, at []int, add func(n int) bool) error {
	if len(above) == 0 {
		for piece, err := range volume.ListCubes(m, at...) {
			for _, n := range piece {
				if !add(n) {
					return nil
				}
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}
	for n := above[0].Start(); n < above[0].End(); n++ {
		if err := eachCube(m, above[1:], append(at[:len(at):len(at)], int(n)), add); err != nil {
			return err
		}
	}
	return nil
}

// joined sorts spans and joins those that touch.
func joined(all []span.Span) []span.Span {
	slices.SortFunc(all, func(a, b span.Span) int { return cmp.Compare(a.Start(), b.Start()) })
	var joined []span.Span
	for _, s := range all {
		if last := len(joined) - 1; last >= 0 && s.Start() <= joined[last].End() {
			joined[last] = joined[last].Union(s)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}
