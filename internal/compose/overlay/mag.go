package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Mag is two mags of the same factor. It has the geometry and the description of the one below.
type Mag struct {
	volume.Mag // below
	above      volume.Mag
	index      index
}

var (
	_ volume.Indexed         = (*Mag)(nil)
	_ volume.MetadataChecker = (*Mag)(nil)
	_ volume.MemoryReporter  = (*Mag)(nil)
	_ vfs.SpeedReporter      = (*Mag)(nil)
	_ vfs.Generational       = (*Mag)(nil)
)

// NewMag lays one mag over another. The type of voxels is compared when a cube is opened.
func NewMag(below, above volume.Mag) *Mag {
	return &Mag{Mag: below, above: above, index: index{below: below, above: above}}
}

// Generation implements [vfs.Generational] for what is above.
func (m *Mag) Generation() uint64 { return vfs.GenerationOf(m.above) }

// Speed implements [vfs.SpeedReporter]: the slower of both counts.
func (m *Mag) Speed() vfs.Speed { return vfs.SpeedOf(m.Mag).With(vfs.SpeedOf(m.above)) }

// Index implements [volume.Indexed].
func (m *Mag) Index() volume.Index {
	return volume.Index{
		List: m.listCubes, Describe: m.describeCubes, Walk: m.walkCubes, Metadata: m.statMetadata,
		Parts: []volume.MagPart{{Mag: m.Mag, Name: "the layer below"}, {Mag: m.above, Name: "the annotation"}},
	}
}

// WorkMemory implements [volume.MemoryReporter]: a block above is decoded while the one below is in memory.
func (m *Mag) WorkMemory(g volume.Grid) int {
	work := volume.WorkMemory(m.Mag, g)
	if above, err := m.above.CubeGrid(); err == nil {
		work += above.BlockBytes() + volume.WorkMemory(m.above, above)
	}
	return work
}

func (m *Mag) statMetadata() []fs.FileInfo {
	return slices.Concat(volume.StatMetadata(m.Mag), volume.StatMetadata(m.above))
}

// CheckMetadata implements [volume.MetadataChecker].
func (m *Mag) CheckMetadata() (all []error) {
	for _, mag := range []volume.Mag{m.Mag, m.above} {
		if c, ok := mag.(volume.MetadataChecker); ok {
			all = append(all, c.CheckMetadata()...)
		}
	}
	return all
}

// Cubes lists the cubes of both.
func (m *Mag) Cubes(zy ...int) ([]int, error) {
	l := m.index.valid()
	if l.err != nil {
		return nil, l.err
	}
	added := l.level(zy...)
	found, err := m.Mag.Cubes(zy...)
	if errors.Is(err, fs.ErrNotExist) && len(added) > 0 {
		return added, nil
	}
	if err != nil {
		return nil, err
	}
	found = append(found[:len(found):len(found)], added...)
	slices.Sort(found)
	return slices.Compact(found), nil
}

// listCubes lists a level of both. The cubes that only the mag above has are the last piece.
func (m *Mag) listCubes(zy ...int) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		l := m.index.valid()
		if l.err != nil {
			yield(nil, l.err)
			return
		}
		added := l.level(zy...)
		for piece, err := range volume.ListCubes(m.Mag, zy...) {
			added = slices.DeleteFunc(added, func(n int) bool { _, ok := slices.BinarySearch(piece, n); return ok })
			if err != nil && errors.Is(err, fs.ErrNotExist) && len(added) > 0 {
				err = nil
			}
			if (err != nil || len(piece) > 0) && !yield(piece, err) {
				return
			}
		}
		if len(added) > 0 {
			yield(added, nil)
		}
	}
}

func (m *Mag) walkCubes() iter.Seq2[volume.Vec, error] {
	return func(yield func(volume.Vec, error) bool) {
		l := m.index.valid()
		if l.err != nil {
			yield(volume.Vec{}, l.err)
			return
		}
		seen := map[volume.Vec]bool{}
		for c, err := range volume.AllCubes(m.Mag) {
			if err == nil && l.cells[c] != nil {
				seen[c] = true
			}
			if !yield(c, err) {
				return
			}
		}
		for c := range l.cells {
			if !seen[c] && !yield(c, nil) {
				return
			}
		}
	}
}

func (m *Mag) describeCubes(zy ...int) iter.Seq2[[]volume.CubeEntry, error] {
	return func(yield func([]volume.CubeEntry, error) bool) {
		l := m.index.valid()
		if l.err != nil {
			yield(nil, l.err)
			return
		}
		added := l.level(zy...)
		for entries, err := range volume.DescribeCubes(m.Mag, zy...) {
			if errors.Is(err, fs.ErrNotExist) && len(added) > 0 {
				err = nil
			}
			entries = slices.Clone(entries)
			for i, e := range entries {
				added = slices.DeleteFunc(added, func(n int) bool { return n == e.N })
				if len(zy) == 2 {
					entries[i].Info, entries[i].Err = m.merge(l, volume.Vec{e.N, zy[1], zy[0]}, e.Info, e.Err)
				}
			}
			if (err != nil || len(entries) > 0) && !yield(entries, err) {
				return
			}
		}
		var rest []volume.CubeEntry
		for _, n := range added {
			info, err := m.StatCubes(append(slices.Clone(zy), n)...)
			if !errors.Is(err, fs.ErrNotExist) {
				rest = append(rest, volume.CubeEntry{N: n, Info: info, Err: err})
			}
		}
		if len(rest) > 0 {
			yield(rest, nil)
		}
	}
}

// StatCubes describes a cube that is made of both, or a level above.
func (m *Mag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	l := m.index.valid()
	if l.err != nil {
		return nil, l.err
	}
	info, err := m.Mag.StatCubes(zyx...)
	if len(zyx) == 3 {
		return m.merge(l, volume.Vec{zyx[2], zyx[1], zyx[0]}, info, err)
	}
	if errors.Is(err, fs.ErrNotExist) && len(l.level(zyx...)) > 0 {
		return m.Stat()
	}
	return info, err
}

// merge returns the description of cube c, which has info or err below.
func (m *Mag) merge(l *listing, c volume.Vec, info fs.FileInfo, err error) (fs.FileInfo, error) {
	parts := l.cells[c]
	switch {
	case len(parts) == 0:
		return info, err
	case parts.err() != nil:
		return nil, parts.err()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		info = nil
	}
	g, err := m.Mag.CubeGrid()
	if err != nil {
		return nil, err
	}
	return describe(g, c, info, parts), nil
}

// OpenCube opens a cube. One that has no block above is that of the mag below.
func (m *Mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	l := m.index.valid()
	if l.err != nil {
		return nil, l.err
	}
	parts := l.cells[c]
	below, err := m.Mag.OpenCube(c)
	switch {
	case len(parts) == 0:
		return below, err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	opened := &cube{below: below, above: m.above, parts: parts}
	if err != nil {
		opened.below = nil // not a nil pointer in an interface
	}
	if err = parts.err(); err == nil {
		err = opened.start(m.Mag, c)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

// Compatible returns an error if the voxels of two mags cannot be in one array. It names both.
func Compatible(below, above volume.Mag, nameBelow, nameAbove string) error {
	b, err := below.CubeGrid()
	if err != nil {
		return err
	}
	a, err := above.CubeGrid()
	if err != nil {
		return err
	}
	return sameVoxels(b, a, nameBelow, nameAbove)
}

func sameVoxels(b, a volume.Grid, nameBelow, nameAbove string) error {
	if b.Type == a.Type && b.Channels == a.Channels {
		return nil
	}
	return fmt.Errorf("%s over %s: expected voxels of %d × %v, found %d × %v", nameAbove, nameBelow, b.Channels, b.Type,
		a.Channels, a.Type)
}

// Below returns the mag below.
func (m *Mag) Below() volume.Mag { return m.Mag }

// Over returns the boxes of the cubes above that have voxels of a box, cut at the bounding box of the layer below.
// Where there is none, the voxels are those of the mag below.
func (m *Mag) Over(box volume.Box) ([]volume.Box, error) {
	l := m.index.valid()
	if l.err != nil {
		return nil, l.err
	}
	g, bounds, err := geometry(m.Mag)
	if err != nil {
		return nil, err
	}
	box = box.Intersect(bounds)
	if box.Empty() {
		return nil, nil
	}
	seen := map[volume.Vec]bool{}
	var all []volume.Box
	add := func(parts cell) {
		for _, p := range parts {
			if inside := p.box.Intersect(box); !inside.Empty() && !seen[p.at] {
				seen[p.at] = true
				all = append(all, p.box.Intersect(bounds))
			}
		}
	}
	cubes := box.Sub(g.Origin).Div(g.Size)
	if n := cubes.Size(); float64(n[0])*float64(n[1])*float64(n[2]) <= float64(len(l.cells)) {
		for c := range cubes.All() {
			add(l.cells[c])
		}
		return all, nil
	}
	for _, parts := range l.cells {
		add(parts)
	}
	return all, nil
}
