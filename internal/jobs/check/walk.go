package check

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/volume"
)

// cube is a cube file to be checked.
type cube struct {
	at   *volume.Vec // in cubes of the mag; nil if the cube is the source
	open func() (volume.CubeFile, error)
	// gone reports whether a cube that cannot be opened was removed since the plan was made. It is nil if the cube was
	// just listed.
	gone func() bool
	// place returns the place of the cube. info describes the file of the cube. If info is nil, place may stat the
	// file.
	place func(info fs.FileInfo) Place
}

// magAt is a mag and its place. Mag is nil if the mag, or the layer or dataset at the place, cannot be read.
type magAt struct {
	Place
	volume.Mag
}

// mags yields the mags of the source. With an error, it yields the place that cannot be read.
func mags(root volume.Root) iter.Seq2[magAt, error] {
	return func(yield func(magAt, error) bool) {
		switch {
		case root.Mag != nil:
			yield(magAt{placeOf("", ""), root.Mag}, nil)
		case root.Layer != nil:
			magsOf("", root.Layer, yield)
		case root.Dataset != nil:
			for name, err := range volume.EachLayer(root.Dataset) {
				var l volume.Layer
				if err == nil {
					l, err = root.Dataset.Layer(name)
				}
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

// walk reports the faults that can be found without opening a cube. It sends all cubes, until send returns false.
func (c *checker) walk(root volume.Root, send func(cube) bool) {
	if root.Cube != nil {
		if c.has(singleName) {
			send(single(root.Cube))
		}
		return
	}
	if c.Part.First() {
		c.reportMetadata(root)
	}
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

// single returns the cube of a source that is one cube file.
func single(s *volume.SingleCube) cube {
	at := Place{Path: s.Name}
	if info, err := s.Stat(); err == nil {
		at.Path = info.Name()
	}
	return cube{open: s.Open, place: func(fs.FileInfo) Place { return at }}
}

// reportMetadata reports the metadata faults and omissions of the dataset and its layers. walkMag reports those of
// mags.
func (c *checker) reportMetadata(root volume.Root) {
	if root.Dataset != nil {
		c.checkMetadata(placeOf("", ""), root.Dataset)
	}
	for at, omitted := range omissions(root) {
		severity := Note
		if omitted.Fault {
			severity = Error
		}
		c.report(Finding{Severity: severity, Place: at, Err: errors.New(omitted.Reason)})
	}
}

// reportGaps reports where voxels may be missing: as errors where they certainly are.
func (c *checker) reportGaps(root volume.Root) {
	options := c.Gaps
	options.Others = true
	for g := range gaps.Find(root, options) {
		severity := Warning
		switch {
		case g.Fault:
			severity = Error
		case g.Other:
			severity = Note
		}
		c.report(Finding{Severity: severity, Place: placeOf(g.Layer, g.Mag), Err: g.Err})
		if c.ctx.Err() != nil {
			return
		}
	}
}

// omissions yields the places that the dataset and its layers omit.
func omissions(root volume.Root) iter.Seq2[Place, volume.Omission] {
	return func(yield func(Place, volume.Omission) bool) {
		switch {
		case root.Layer != nil:
			omissionsOf(placeOf("", ""), root.Layer, yield)
		case root.Dataset != nil:
			if !omissionsOf(placeOf("", ""), root.Dataset, yield) {
				return
			}
			for name := range volume.EachLayer(root.Dataset) { // mags yields its errors
				l, err := root.Dataset.Layer(name)
				if err == nil && !omissionsOf(placeOf(name, ""), l, yield) {
					return
				}
			}
		}
	}
}

func omissionsOf(at Place, of any, yield func(Place, volume.Omission) bool) bool {
	if o, ok := of.(volume.Omitter); ok {
		for _, omitted := range o.Omitted() {
			if !yield(at.below(omitted.Name), omitted) {
				return false
			}
		}
	}
	return true
}

// checkMetadata reports damaged metadata as an error, and missing metadata as a warning.
func (c *checker) checkMetadata(at Place, of any) {
	if d, ok := of.(volume.MetadataChecker); ok {
		for _, err := range d.CheckMetadata() {
			severity := Error
			if errors.Is(err, fs.ErrNotExist) {
				severity = Warning
			}
			c.report(Finding{Severity: severity, Place: at, Err: err})
		}
	}
}

// walkMag sends the cubes of a mag. It returns false if send does.
func (c *checker) walkMag(m magAt, send func(cube) bool) bool {
	g, err := m.CubeGrid()
	if err != nil { // no cube can be opened
		c.report(Finding{Severity: Error, Place: m.Place, Err: err})
		return true
	}
	if c.Part.First() {
		c.checkMetadata(m.Place, m.Mag)
	}
	bounds, err := c.boundsOf(m)
	if err != nil { // a directory cannot be listed: AllCubes yields the error, too
		bounds = volume.Box{}
	}
	chunks := m.About().NamedByBox
	for at, err := range c.cubesOf(m) {
		if err != nil {
			c.report(Finding{Severity: Error, Place: m.Place, Err: err})
			continue
		}
		if !c.has(m.nameOf(at)) {
			continue
		}
		box := g.CubeBox(at)
		place := func(info fs.FileInfo) Place { return m.placeOf(at, info) }
		if chunks {
			place = func(fs.FileInfo) Place { return m.below(box.Intersect(bounds).String()) }
		}
		next := cube{at: &at, open: func() (volume.CubeFile, error) { return m.OpenCube(at) }, place: place}
		if _, planned := c.kept[m.Path]; planned {
			next.gone = func() bool {
				_, err := m.StatCubes(at[2], at[1], at[0])
				return errors.Is(err, fs.ErrNotExist)
			}
		}
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

// cubesOf yields the cubes that this part may have to check, and errors of listing them.
func (c *checker) cubesOf(m magAt) iter.Seq2[volume.Vec, error] {
	p, ok := c.kept[m.Path]
	if !ok {
		return volume.AllCubes(m.Mag)
	}
	return func(yield func(volume.Vec, error) bool) {
		for _, at := range p.cubes {
			if !yield(at, nil) {
				return
			}
		}
	}
}

// boundsOf returns the bounding box of a mag. It does not list the cubes if the plan knows all of them.
func (c *checker) boundsOf(m magAt) (volume.Box, error) {
	bounds := volume.IndexOf(m.Mag).Bounds
	if p, planned := c.kept[m.Path]; bounds != nil && planned {
		return bounds(p.box)
	}
	return m.Bounds()
}

// placeOf returns the place of a cube file. info describes the file, for its name with the suffix. If info is nil,
// placeOf stats the file.
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

// count counts the cubes, so that the caller can show the progress.
func (c *checker) count(root volume.Root) {
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
