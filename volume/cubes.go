package volume

import (
	"errors"
	"io/fs"
	"iter"

	"github.com/wkwfs/wkwfs/internal/parallel"
)

// AllCubes yields the positions of all cubes of a mag, z slowest. It goes on after an error, which is that of one
// directory. Many directories are listed at once.
func AllCubes(m Mag) iter.Seq2[Vec, error] {
	const far = 1 << 60
	return CubesIn(m, Box{Min: Cube(-far), Max: Cube(far)})
}

// CubesIn is AllCubes for the positions in a box; no others are looked for.
func CubesIn(m Mag, box Box) iter.Seq2[Vec, error] {
	return func(yield func(Vec, error) bool) {
		list := func(above Vec, zy ...int) level {
			numbers, err := m.Cubes(zy...)
			return level{above, within(box, 2-len(zy), numbers), err}
		}
		top := list(Vec{}, []int{}...)
		if top.err != nil && !yield(Vec{}, top.err) {
			return
		}
		var rows []Vec
		for z, ys := range parallel.Each(top.numbers, func(z int) level { return list(Vec{2: z}, z) }) {
			if ys.err != nil && !yield(ys.above, ys.err) {
				return
			}
			for _, y := range ys.numbers {
				rows = append(rows, Vec{1: y, 2: z})
			}
		}
		for row, xs := range parallel.Each(rows, func(r Vec) level { return list(r, r[2], r[1]) }) {
			if xs.err != nil && !yield(row, xs.err) {
				return
			}
			for _, x := range xs.numbers {
				if !yield(Vec{x, row[1], row[2]}, nil) {
					return
				}
			}
		}
	}
}

// level is one directory of the index of cubes, or why it cannot be listed.
type level struct {
	above   Vec // z, or z and y; the rest is 0
	numbers []int
	err     error
}

// within returns the numbers that lie in the box on an axis.
func within(box Box, axis int, numbers []int) []int {
	var in []int
	for _, n := range numbers {
		if n >= box.Min[axis] && n < box.Max[axis] {
			in = append(in, n)
		}
	}
	return in
}

// CubeEntry is an entry of the index of cubes with its attributes.
type CubeEntry struct {
	N    int
	Info fs.FileInfo
	Err  error // of StatCubes, if there is no Info
}

// CubeDescriber is a Mag that lists entries of its index with their attributes, in less time than StatCubes takes
// for each.
type CubeDescriber interface {
	DescribeCubes(zy ...int) ([]CubeEntry, error)
}

// DescribeCubes lists one level of the index of cubes as [Mag.Cubes] does, with what StatCubes says of each entry. What has
// gone in between is left out.
func DescribeCubes(m Mag, zy ...int) ([]CubeEntry, error) {
	if d, ok := m.(CubeDescriber); ok {
		return d.DescribeCubes(zy...)
	}
	numbers, err := m.Cubes(zy...)
	entries := make([]CubeEntry, 0, len(numbers))
	for _, n := range numbers {
		info, err := m.StatCubes(append(zy[:len(zy):len(zy)], n)...)
		if !errors.Is(err, fs.ErrNotExist) {
			entries = append(entries, CubeEntry{n, info, err})
		}
	}
	return entries, err
}

// CubeBounder is a Mag that finds its bounding box from the cubes, where nothing else tells it.
type CubeBounder interface {
	// BoundsOfCubes is what Bounds returns if the cubes are those in the box, for callers who have just listed them.
	BoundsOfCubes(cubes Box) (Box, error)
}
