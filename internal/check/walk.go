package check

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/wkwfs/wkwfs/volume"
)

// cube is a cube file to be checked.
type cube struct {
	at   *volume.Vec // in its mag; nil where it is the source
	open func() (volume.CubeFile, error)

	// place says where it lies. info describes the file, or is nil: then the source may have to be asked.
	place func(info fs.FileInfo) Place
}

// magAt is a mag and where it was found; a nil Mag: it, or the layer, could not be.
type magAt struct {
	Place
	volume.Mag
}

// mags yields the mags of the source, and the errors of what cannot be looked into.
func mags(root volume.Root) iter.Seq2[magAt, error] {
	return func(yield func(magAt, error) bool) {
		switch {
		case root.Mag != nil:
			yield(magAt{placeOf("", ""), root.Mag}, nil)
		case root.Layer != nil:
			magsOf("", root.Layer, yield)
		case root.Dataset != nil:
			names, err := root.Dataset.Layers()
			if err != nil && !yield(magAt{placeOf("", ""), nil}, err) {
				return
			}
			for _, name := range names {
				l, err := root.Dataset.Layer(name)
				if err != nil && !yield(magAt{placeOf(name, ""), nil}, err) {
					return
				}
				if err == nil && !magsOf(name, l, yield) {
					return
				}
			}
		}
	}
}

func magsOf(layer string, l volume.Layer, yield func(magAt, error) bool) bool {
	names, err := l.Mags()
	if err != nil && !yield(magAt{placeOf(layer, ""), nil}, err) {
		return false
	}
	for _, name := range names {
		m, err := l.Mag(name)
		if !yield(magAt{placeOf(layer, name), m}, err) {
			return false
		}
	}
	return true
}

// walk goes through the source and reports all that can be seen without opening a
// cube. Those are sent on, until send is false.
func (c *checking) walk(root volume.Root, send func(cube) bool) {
	if root.Cube != nil {
		send(c.single(root.Cube))
		return
	}
	c.remarks(root)
	for m, err := range mags(root) {
		if err != nil {
			c.report(Finding{Severity: Error, Place: m.Place, Err: err})
			continue
		}
		if !c.walkMag(m, send) {
			return
		}
	}
}

func (c *checking) single(s *volume.SingleCube) cube {
	at := Place{Path: s.Name}
	if info, err := s.Stat(); err == nil {
		at.Path = info.Name()
	}
	return cube{nil, s.Open, func(fs.FileInfo) Place { return at }}
}

// remarks reports what datasets and layers say of themselves.
func (c *checking) remarks(root volume.Root) {
	switch {
	case root.Layer != nil:
		c.omissions(placeOf("", ""), root.Layer)
	case root.Dataset != nil:
		c.doubts(placeOf("", ""), root.Dataset)
		c.omissions(placeOf("", ""), root.Dataset)
		names, _ := root.Dataset.Layers() // its error is met by mags
		for _, name := range names {
			if l, err := root.Dataset.Layer(name); err == nil {
				c.omissions(placeOf(name, ""), l)
			}
		}
	}
}

func (c *checking) omissions(at Place, of any) {
	if o, ok := of.(volume.Omitter); ok {
		for _, omitted := range o.Omitted() {
			c.report(Finding{Severity: Note, Place: at.below(omitted.Name), Err: errors.New(omitted.Reason)})
		}
	}
}

// doubts reports metadata that the source does without. What is missing is no damage.
func (c *checking) doubts(at Place, of any) {
	if d, ok := of.(volume.Doubter); ok {
		for _, err := range d.Doubts() {
			severity := Error
			if errors.Is(err, fs.ErrNotExist) {
				severity = Warning
			}
			c.report(Finding{Severity: severity, Place: at, Err: err})
		}
	}
}

// walkMag sends the cubes of a mag; false where no more are wanted.
func (c *checking) walkMag(m magAt, send func(cube) bool) bool {
	g, err := m.CubeGrid()
	if err != nil { // without it no cube can be opened
		c.report(Finding{Severity: Error, Place: m.Place, Err: err})
		return true
	}
	c.doubts(m.Place, m.Mag)
	bounds, err := m.Bounds()
	if err != nil { // of a directory, which the walk over all cubes meets again
		bounds = volume.Box{}
	}
	chunks := m.About().Chunks
	for at, err := range volume.AllCubes(m.Mag) {
		if err != nil {
			c.report(Finding{Severity: Error, Place: m.Place, Err: err})
			continue
		}
		box := volume.Box{Min: g.Origin.Add(at.Mul(g.Size)), Max: g.Origin.Add(at.Add(volume.Cube(1)).Mul(g.Size))}
		place := func(info fs.FileInfo) Place { return m.placeOf(at, info) }
		if chunks {
			place = func(fs.FileInfo) Place { return m.below(box.Intersect(bounds).String()) }
		}
		next := cube{&at, func() (volume.CubeFile, error) { return m.OpenCube(at) }, place}
		if !bounds.Empty() && box.Intersect(bounds).Empty() {
			err := fmt.Errorf("lies outside of the layer: voxels %v, bounding box %v", box, bounds)
			c.report(Finding{Severity: Warning, Place: place(nil), Cube: next.at, Err: err})
		}
		if !send(next) {
			return false
		}
	}
	return true
}

// placeOf names a cube file by its place in the index, and by what describes it, if that is known.
func (m magAt) placeOf(at volume.Vec, info fs.FileInfo) Place {
	name := fmt.Sprintf("x%d", at[0])
	if info == nil {
		info, _ = m.StatCubes(at[2], at[1], at[0])
	}
	if info != nil {
		name = info.Name()
	}
	return m.below(fmt.Sprintf("z%d/y%d/%s", at[2], at[1], name))
}

// count counts the cubes, for who wants to know how long it will take.
func (c *checking) count(root volume.Root) {
	defer c.Stats.Counted.Store(true)
	if root.Cube != nil {
		c.Stats.Found.Store(1)
		return
	}
	for m, err := range mags(root) {
		if err != nil {
			continue
		}
		for _, err := range volume.AllCubes(m.Mag) {
			if c.ctx.Err() != nil {
				return
			}
			if err == nil {
				c.Stats.Found.Add(1)
			}
		}
	}
}
