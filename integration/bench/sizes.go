package main

import (
	"strconv"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// sizes are the sizes of the data. Sides are in voxels.
type sizes struct {
	image  int        // side of E
	scan   int        // side of R
	labels int        // side of Q
	ids    int        // side of S
	cube   int        // side of C, and of each cube of L
	many   volume.Vec // cubes of the mag that is listed
	grid   volume.Vec // cubes of the mag whose metadata is late
	wide   volume.Vec // voxels of the input whose planes are large
	few    int        // number of reads in jobs with slow reads
	warm   int        // bytes of memory that are warmed before each turn: three times the flat file of E
}

var (
	usual = sizes{image: 1024, scan: 1024, labels: 512, ids: 512, cube: 512, many: volume.Vec{1000, 100, 1}, grid: volume.Vec{10, 10, 20}, wide: volume.Vec{8192, 8192, 64}, few: 40, warm: 3 << 30}
	tiny  = sizes{image: 64, scan: 128, labels: 128, ids: 64, cube: 32, many: volume.Vec{10, 10, 1}, grid: volume.Vec{2, 2, 2}, wide: volume.Vec{128, 128, 64}, few: 3, warm: 8 << 20}
)

func (s sizes) em() piece {
	return tissue{s.image, wkw.LZ4, sample.Usual.EM}.piece(nameWithSize("em", s.image), volume.Cube(1))
}

func (s sizes) start() piece {
	return tissue{s.cube, wkw.LZ4, sample.Usual.EM}.piece(nameWithSize("start", s.cube), volume.Cube(1))
}

func (s sizes) segmentation() piece {
	return tissue{s.ids, wkw.LZ4HC, sample.Usual.Segmentation}.piece(nameWithSize("segmentation", s.ids), volume.Cube(1))
}

func (s sizes) layer() piece {
	return tissue{s.cube, wkw.LZ4, sample.Usual.EM}.piece(nameWithSize("layer", s.cube), volume.Vec{4, 4, 1})
}

// manyCubes returns a column of cubes of two blocks a side, to be repeated along x. One cube is not enough,
// because file systems limit the links to a file.
func (s sizes) manyCubes() piece {
	return tissue{2 * blockSide, wkw.LZ4, sample.Usual.EM}.piece(nameWithSize("names", s.many[0]), volume.Vec{1, s.many[1], 1})
}

// rowOfCubes returns a row of cubes of one block, to be repeated along y and z.
func (s sizes) rowOfCubes() piece {
	return tissue{blockSide, wkw.LZ4, sample.Usual.EM}.piece(nameWithSize("grid", s.grid[0]), volume.Vec{s.grid[0], 1, 1})
}

// nameWithSize returns the name of a directory of data. Data of other sizes has other names.
func nameWithSize(name string, n int) string { return name + "-" + strconv.Itoa(n) }
