package volume

import (
	"fmt"
	"iter"
)

// Vec is a position or an extent on the axes x, y, z.
type Vec [3]int

// Cube returns the Vec with the same number on every axis.
func Cube(n int) Vec { return Vec{n, n, n} }

// Add returns v + w.
func (v Vec) Add(w Vec) Vec { return Vec{v[0] + w[0], v[1] + w[1], v[2] + w[2]} }

// Sub returns v − w.
func (v Vec) Sub(w Vec) Vec { return Vec{v[0] - w[0], v[1] - w[1], v[2] - w[2]} }

// Mul returns v × w, axis by axis.
func (v Vec) Mul(w Vec) Vec { return Vec{v[0] * w[0], v[1] * w[1], v[2] * w[2]} }

// Div returns v / w, axis by axis, rounded towards −∞. Each axis of w must be at least 1.
func (v Vec) Div(w Vec) Vec {
	return Vec{floorDiv(v[0], w[0]), floorDiv(v[1], w[1]), floorDiv(v[2], w[2])}
}

// CeilDiv returns v / w, axis by axis, rounded towards +∞. Each axis of w must be at least 1.
func (v Vec) CeilDiv(w Vec) Vec {
	return Vec{-floorDiv(-v[0], w[0]), -floorDiv(-v[1], w[1]), -floorDiv(-v[2], w[2])}
}

// Min returns the smaller number on each axis.
func (v Vec) Min(w Vec) Vec { return Vec{min(v[0], w[0]), min(v[1], w[1]), min(v[2], w[2])} }

// Max returns the larger number on each axis.
func (v Vec) Max(w Vec) Vec { return Vec{max(v[0], w[0]), max(v[1], w[1]), max(v[2], w[2])} }

// In reports whether 0 ≤ v < size on every axis.
func (v Vec) In(size Vec) bool {
	return v[0] >= 0 && v[1] >= 0 && v[2] >= 0 && v[0] < size[0] && v[1] < size[1] && v[2] < size[2]
}

// Index returns the index of v in an array of the given size in Fortran order: x + X·(y + Y·z).
func (v Vec) Index(size Vec) int { return v[0] + size[0]*(v[1]+size[1]*v[2]) }

// BoxOfOne returns the box that holds only v: that box is {1,1,1} large, whatever v is.
func (v Vec) BoxOfOne() Box { return Box{v, v.Add(Cube(1))} }

// String returns "x,y,z".
func (v Vec) String() string { return fmt.Sprintf("%d,%d,%d", v[0], v[1], v[2]) }

// floorDiv returns n / d rounded towards −∞, for d > 0.
func floorDiv(n, d int) int {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}

// Box is the half-open range of positions Min ≤ p < Max on each axis.
type Box struct{ Min, Max Vec }

// Size returns the extent of the box. It is negative on an axis with Max < Min.
func (b Box) Size() Vec { return b.Max.Sub(b.Min) }

// Empty reports whether the box holds no position.
func (b Box) Empty() bool {
	return b.Max[0] <= b.Min[0] || b.Max[1] <= b.Min[1] || b.Max[2] <= b.Min[2]
}

// Contains reports whether the box holds v.
func (b Box) Contains(v Vec) bool { return v.Sub(b.Min).In(b.Size()) }

// Add returns the box moved by v.
func (b Box) Add(v Vec) Box { return Box{b.Min.Add(v), b.Max.Add(v)} }

// Sub returns the box moved by −v.
func (b Box) Sub(v Vec) Box { return Box{b.Min.Sub(v), b.Max.Sub(v)} }

// Mul returns the positions of a box of cells, such as the voxels of a box of blocks. Cell 0,0,0 starts at position
// 0,0,0.
func (b Box) Mul(cell Vec) Box { return Box{b.Min.Mul(cell), b.Max.Mul(cell)} }

// Div returns the cells that a box overlaps, such as the blocks of a box of voxels. Cell 0,0,0 starts at position
// 0,0,0. Each axis of cell must be at least 1. The cells of an empty box may not be empty.
func (b Box) Div(cell Vec) Box { return Box{b.Min.Div(cell), b.Max.CeilDiv(cell)} }

// Intersect returns the positions that are in both boxes. The result may be empty.
func (b Box) Intersect(c Box) Box { return Box{b.Min.Max(c.Min), b.Max.Min(c.Max)} }

// Union returns the smallest box that holds both boxes. It ignores an empty box.
func (b Box) Union(c Box) Box {
	switch {
	case b.Empty():
		return c
	case c.Empty():
		return b
	}
	return Box{b.Min.Min(c.Min), b.Max.Max(c.Max)}
}

// All yields the positions of the box, x fastest.
func (b Box) All() iter.Seq[Vec] {
	return func(yield func(Vec) bool) {
		for z := b.Min[2]; z < b.Max[2]; z++ {
			for y := b.Min[1]; y < b.Max[1]; y++ {
				for x := b.Min[0]; x < b.Max[0]; x++ {
					if !yield(Vec{x, y, z}) {
						return
					}
				}
			}
		}
	}
}

// String returns "x0-x1_y0-y1_z0-z1", as Precomputed names a chunk.
func (b Box) String() string {
	return fmt.Sprintf("%d-%d_%d-%d_%d-%d", b.Min[0], b.Max[0], b.Min[1], b.Max[1], b.Min[2], b.Max[2])
}
