package main

import (
	"strconv"

	"github.com/wkwfs/wkwfs/internal/sample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// sizes is how large the data is, in voxels per side of a cube.
type sizes struct {
	image  int // E
	scan   int // R
	labels int // Q
	ids    int // S
	cube   int // C, and each cube of L
	many   volume.Vec
	grid   volume.Vec // cubes of the layer that is looked at while answers come late
	few    int        // how many parts are read where each of them takes long
}

var (
	usual = sizes{image: 1024, scan: 1024, labels: 512, ids: 512, cube: 512, many: volume.Vec{1000, 100, 1}, grid: volume.Vec{10, 10, 20}, few: 40}
	tiny  = sizes{image: 64, scan: 128, labels: 128, ids: 64, cube: 32, many: volume.Vec{10, 10, 1}, grid: volume.Vec{2, 2, 2}, few: 3}
)

func (s sizes) em() piece {
	return tissue{s.image, wkw.LZ4, sample.Usual.EM}.piece(named("em", s.image), volume.Cube(1))
}

func (s sizes) start() piece {
	return tissue{s.cube, wkw.LZ4, sample.Usual.EM}.piece(named("start", s.cube), volume.Cube(1))
}

func (s sizes) segmentation() piece {
	return tissue{s.ids, wkw.LZ4HC, sample.Usual.Segmentation}.piece(named("segmentation", s.ids), volume.Cube(1))
}

func (s sizes) layer() piece {
	return tissue{s.cube, wkw.LZ4, sample.Usual.EM}.piece(named("layer", s.cube), volume.Vec{4, 4, 1})
}

// manyCubes is a column of cubes of two blocks a side, to be repeated along x. A single
// cube would not do: a file can have only so many names.
func (s sizes) manyCubes() piece {
	return tissue{2 * blockSide, wkw.LZ4, sample.Usual.EM}.piece(named("names", s.many[0]), volume.Vec{1, s.many[1], 1})
}

// rowOfCubes is cubes of one block, to be repeated along y and z.
func (s sizes) rowOfCubes() piece {
	return tissue{blockSide, wkw.LZ4, sample.Usual.EM}.piece(named("grid", s.grid[0]), volume.Vec{s.grid[0], 1, 1})
}

func named(name string, n int) string { return name + "-" + strconv.Itoa(n) }
