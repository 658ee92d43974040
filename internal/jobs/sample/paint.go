package sample

import (
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	darkest   = 62  // grey level in the middle of a membrane
	rampEnd   = 1.9 // thicknesses of the wall from the middle of a membrane to plain cytoplasm
	manyCells = 32  // a mesh with more cells allocates memory
	greyStep  = 8   // resolution of the camera: difference of its grey levels
)

// renderMesh computes the voxels of a picture in one mesh.
func (t Tissue) renderMesh(p picture, m volume.Vec, points [8]point, near []*cell, organelles []organelle) {
	whole := m.BoxOfOne().Mul(mesh)
	var bent [8]vec
	var stain corners
	for i := range points {
		bent[i], stain[i] = points[i].bent, points[i].stain
	}
	var cellRoom [manyCells]*cell
	var room [manyCells]contender
	cells := contenders(room[:0], narrow(cellRoom[:0], near, bent[:]), &points)
	var b brush
	b.choose(organelles, cells, whole)

	box := whole.Intersect(p.box)
	for z := box.Min[2]; z < box.Max[2]; z++ {
		for y := box.Min[1]; y < box.Max[1]; y++ {
			fy, fz := float32(y-whole.Min[1])*(1.0/meshY), float32(z-whole.Min[2])*(1.0/meshZ)
			at := volume.Vec{whole.Min[0], y, z}
			var r row
			r.divide(cells, fy, fz)
			if p.image != nil {
				b.paint(&r, cells, at)
				t.develop(&r, &stain, fy, fz, at)
			}
			p.put(&r, at, box)
		}
	}
}

// put copies the part of a row in the box to the picture.
func (p picture) put(r *row, at volume.Vec, box volume.Box) {
	from, to := box.Min[0]-at[0], box.Max[0]-at[0]
	at[0] = box.Min[0]
	i := at.Sub(p.box.Min).Index(p.box.Size())
	if p.image != nil {
		copy(p.image[i:], r.image[from:to])
	}
	if p.ids != nil {
		copy(p.ids[i:], r.ids[from:to])
	}
}

// row has the voxels of a mesh with the same y and z.
type row struct {
	owner [meshX]uint8   // index of the contender
	gap   [meshX]float32 // distance of the second nearest cell minus that of the nearest, in thicknesses of the wall
	grey  [meshX]float32
	image [meshX]uint8
	ids   [meshX]uint32
}

// divide assigns each voxel to the nearest cell, or to none if two are at about the same distance. Distances are linear
// along the row. So a cell that is far at both ends of the row is far between them. Often only one cell is near.
func (r *row) divide(cells []contender, fy, fz float32) {
	if len(cells) == 1 {
		r.fill(cells, 0)
		return
	}
	bound := float32(math.MaxFloat32)
	for i := range cells {
		c := &cells[i]
		c.first, c.step = c.distance.row(fy, fz)
		bound = min(bound, max(c.first, c.last()))
	}
	near, count := 0, 0
	for i := range cells {
		c := &cells[i]
		c.near = c.first <= bound+margin || c.last() <= bound+margin
		if c.near {
			near, count = i, count+1
		}
	}
	if count == 1 {
		r.fill(cells, near)
		return
	}
	r.compete(cells)
}

// fill assigns the whole row to one cell.
func (r *row) fill(cells []contender, owner int) {
	for k := range r.ids {
		r.owner[k], r.gap[k], r.ids[k] = uint8(owner), rampEnd, cells[owner].id
	}
}

// compete compares the distances of the cells near the row for each voxel.
func (r *row) compete(cells []contender) {
	var nearest, second [meshX]float32
	for k := range nearest {
		nearest[k], second[k] = math.MaxFloat32, math.MaxFloat32
	}
	for i := range cells {
		if !cells[i].near {
			continue
		}
		d, step := cells[i].first, cells[i].step
		for k := range nearest {
			if d < nearest[k] {
				second[k], nearest[k], r.owner[k] = nearest[k], d, uint8(i)
			} else if d < second[k] {
				second[k] = d
			}
			d += step
		}
	}
	for k := range r.ids {
		c := &cells[r.owner[k]]
		r.gap[k] = (second[k] - nearest[k]) * c.perWall
		if r.gap[k] >= 1 {
			r.ids[k] = c.id
		}
	}
}

// brush has the organelles of a mesh.
type brush struct {
	organelles [6]organelle
	shows      [6]uint32 // one bit per contender
	n          int
}

// choose selects the organelles that may show in the mesh.
func (b *brush) choose(organelles []organelle, cells []contender, mesh volume.Box) {
	lo, hi := position(mesh.Min), position(mesh.Max)
	centre := lo.add(hi).scale(0.5)
	radius := centre.distance(lo)
	for i := range organelles {
		o := &organelles[i]
		if b.n == len(b.organelles) || !o.reaches(centre, radius) {
			continue
		}
		var shows uint32
		for j := range cells {
			if o.showsIn(cells[j].cell) {
				shows |= 1 << j
			}
		}
		if shows != 0 {
			b.organelles[b.n], b.shows[b.n] = *o, shows
			b.n++
		}
	}
}

// paint sets the grey levels of the row: cytoplasm, organelles, membranes.
func (b *brush) paint(r *row, cells []contender, at volume.Vec) {
	for k := range r.grey {
		r.grey[k] = cells[r.owner[k]].shade
	}
	for i := range b.n {
		o := &b.organelles[i]
		p := position(at)
		for k := range r.grey {
			if b.shows[i]>>r.owner[k]&1 != 0 && r.gap[k] >= rampEnd {
				if grey, ok := o.shade(p); ok {
					r.grey[k] = grey
				}
			}
			p.x++
		}
	}
	for k, gap := range r.gap {
		if gap < rampEnd {
			r.grey[k] = lerp(darkest, r.grey[k], ease(gap*(1/rampEnd)))
		}
	}
}

// develop adds stains and grain, and converts grey levels to bytes.
func (t Tissue) develop(r *row, stain *corners, fy, fz float32, at volume.Vec) {
	bits := t.random(forGrain, at)
	s, step := stain.row(fy, fz)
	for k := range r.image {
		// The sum of two numbers: small errors are more frequent than large ones.
		grain := int(bits&15) + int(bits>>4&15) - 15
		v := int(r.grey[k]+s) + grain*t.Grain/15
		r.image[k] = uint8(min(max(v, 0), 255)) &^ (greyStep - 1)
		s += step
		bits >>= 8
	}
}
