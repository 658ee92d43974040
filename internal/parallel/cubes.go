package parallel

import (
	"iter"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// Cubes is [volume.AllCubes] with up to n directories of each level listed at a time.
func Cubes(m volume.Mag, n int) iter.Seq2[volume.Vec, error] {
	list := func(e entry) listed {
		if e.err != nil {
			return listed{entry: e}
		}
		below, err := m.Cubes(e.zyx...)
		return listed{entry{e.zyx, err}, below}
	}
	return func(yield func(volume.Vec, error) bool) {
		zs := entries(slices.Values([]listed{list(entry{})}))
		ys := entries(InOrder(zs, n, list))
		for cube := range entries(InOrder(ys, n, list)) {
			if !yield(cube.at(), cube.err) {
				return
			}
		}
	}
}

// entry is a place in the index of the cubes of a mag, or an error of the directory there.
type entry struct {
	zyx []int
	err error
}

func (e entry) at() (at volume.Vec) {
	for level, n := range e.zyx {
		at[2-level] = n
	}
	return at
}

// listed is a directory of the index with what it has.
type listed struct {
	entry
	below []int
}

// entries yields the errors of directories, and what they have.
func entries(dirs iter.Seq[listed]) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for dir := range dirs {
			if dir.err != nil && !yield(dir.entry) {
				return
			}
			for _, n := range dir.below {
				if !yield(entry{zyx: append(slices.Clone(dir.zyx), n)}) {
					return
				}
			}
		}
	}
}
