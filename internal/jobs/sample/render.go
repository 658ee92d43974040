package sample

import (
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// mesh is the side of the lattice on which distances and stains are computed, in voxels of mag 1. Between its points
// they are interpolated, which is fast.
var mesh = volume.Vec{meshX, meshY, meshZ}

const meshX, meshY, meshZ = 8, 8, 4

// depth is the extent of a voxel on z, in x-voxels.
const depth = 2.25

// tile is the side of a box of meshes that share a list of near cells, in voxels of mag 1.
var tile = volume.Vec{16, 16, 8}

// Strengths and lattice steps of the bends of the space, in x-voxels.
const (
	wideBend, wideBendStep     = 26, 95
	narrowBend, narrowBendStep = 7, 33
)

// Stains vary the grey level over the whole tissue and from mesh to mesh.
const (
	wideStain, wideStainStep = 7, 210
	fineStain                = 7
)

// picture is a box of mag 1 that is being rendered. Either array may be nil.
type picture struct {
	box   volume.Box
	image []uint8
	ids   []uint32
}

// point is a point of the mesh.
type point struct {
	bent  vec     // position in the bent space of the cells
	stain float32 // is added to grey levels
}

// render computes the voxels of a picture.
func (t Tissue) render(p picture) {
	points := p.box.Div(mesh)
	points.Max = points.Max.Add(volume.Cube(1))
	field := meshField{points, make([]point, 0, points.Size()[0]*points.Size()[1]*points.Size()[2])}
	for at := range points.All() {
		field.all = append(field.all, t.point(at))
	}
	all := t.cellsAround(field.bent(nil, points))
	cells := make([]*cell, len(all))
	for i := range all {
		cells[i] = &all[i]
	}
	var organelles []organelle
	if p.image != nil {
		organelles = t.organellesAround(position(p.box.Min), position(p.box.Max))
	}
	var bent []vec
	var near []*cell
	perTile := tile.Div(mesh)
	for at := range p.box.Div(tile).All() {
		meshes := at.BoxOfOne().Mul(perTile)
		meshes = meshes.Intersect(volume.Box{Min: points.Min, Max: points.Max.Sub(volume.Cube(1))})
		bent = field.bent(bent[:0], volume.Box{Min: meshes.Min, Max: meshes.Max.Add(volume.Cube(1))})
		near = narrow(near[:0], cells, bent)
		for m := range meshes.All() {
			t.renderMesh(p, m, field.corners(m), near, organelles)
		}
	}
}

// point computes a point of the mesh.
func (t Tissue) point(at volume.Vec) point {
	p := position(at.Mul(mesh))
	bend := t.smooth(forBends, p, wideBendStep).scale(wideBend)
	bend = bend.add(t.smooth(forBends, p.add(bend), narrowBendStep).scale(narrowBend))
	stain := t.smooth(forStains, p, wideStainStep).x*wideStain + centred(t.random(forStains, at)).x*fineStain
	return point{p.add(bend), stain}
}

// position returns the position of a voxel of mag 1, in x-voxels.
func position(v volume.Vec) vec {
	return vec{float32(v[0]), float32(v[1]), float32(v[2]) * depth}
}

// meshField has the points of the mesh in a box.
type meshField struct {
	box volume.Box
	all []point // in Fortran order
}

func (f meshField) at(p volume.Vec) *point {
	return &f.all[p.Sub(f.box.Min).Index(f.box.Size())]
}

// bent appends the positions of the points of a box in the bent space.
func (f meshField) bent(dst []vec, box volume.Box) []vec {
	for p := range box.All() {
		dst = append(dst, f.at(p).bent)
	}
	return dst
}

// corners returns the points at the corners of a mesh, x fastest.
func (f meshField) corners(m volume.Vec) (c [8]point) {
	for i := range c {
		c[i] = *f.at(m.Add(volume.Vec{i & 1, i >> 1 & 1, i >> 2}))
	}
	return c
}

// corners has a value for each corner of a mesh, x fastest.
type corners [8]float32

// row returns the value at the start of row y, z of the mesh, and the difference between neighbouring voxels.
func (c *corners) row(y, z float32) (first, step float32) {
	lo := lerp(lerp(c[0], c[2], y), lerp(c[4], c[6], y), z)
	hi := lerp(lerp(c[1], c[3], y), lerp(c[5], c[7], y), z)
	return lo, (hi - lo) * (1.0 / meshX)
}

// contender is a cell that may own voxels of a mesh.
type contender struct {
	*cell
	distance    corners
	first, step float32 // of the current row: distance of the first voxel, and difference between voxels
	near        bool    // the current row may have voxels or membranes of the cell
}

// last returns the distance of the last voxel of the current row.
func (c *contender) last() float32 { return c.first + (meshX-1)*c.step }

// contenders returns the cells whose voxels or membranes may be in a mesh.
func contenders(dst []contender, cells []*cell, points *[8]point) []contender {
	bound := float32(math.Inf(1))
	for _, c := range cells {
		n := contender{cell: c}
		farthest := float32(math.Inf(-1))
		for i := range points {
			n.distance[i] = c.distance(points[i].bent)
			farthest = max(farthest, n.distance[i])
		}
		bound = min(bound, farthest)
		dst = append(dst, n)
	}
	kept := dst[:0]
	for _, n := range dst {
		nearest := n.distance[0]
		for _, d := range n.distance[1:] {
			nearest = min(nearest, d)
		}
		if nearest <= bound+margin {
			kept = append(kept, n)
		}
	}
	return kept
}
