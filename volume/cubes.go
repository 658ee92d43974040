package volume

import (
	"errors"
	"io/fs"
	"iter"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// CubeLister is a Mag that lists levels of its index of any size, without holding them in memory.
type CubeLister interface {
	// ListCubes yields what Cubes returns, in pieces. Each piece is in rising order. An error is the last item.
	ListCubes(zy ...int) iter.Seq2[[]int, error]
}

// ListCubes yields one level of the index of cubes, in pieces. Each piece is in rising order. If the Mag is no
// [CubeLister], there is one piece.
func ListCubes(m Mag, zy ...int) iter.Seq2[[]int, error] {
	if l, ok := m.(CubeLister); ok {
		return l.ListCubes(zy...)
	}
	return func(yield func([]int, error) bool) { yield(m.Cubes(zy...)) }
}

// CubeWalker is a Mag that yields all its cubes faster than level by level, or without holding them in memory.
type CubeWalker interface {
	// WalkCubes is [AllCubes] for this Mag.
	WalkCubes() iter.Seq2[Vec, error]
}

// CubeSharer is a Mag that may have several cubes in one stored file.
type CubeSharer interface {
	// StoredIn returns a name of the stored file of a cube, which is unique in the mag. It is empty if each cube has a file
	// of its own. StoredIn opens no file.
	StoredIn(c Vec) string
}

// AllCubes yields the positions of all cubes of a mag, z slowest. A directory of more than some thousand entries is in
// an order of its own. If a directory cannot be listed, AllCubes yields the error and goes on with the next one. It
// lists many directories at once, and holds only some of them in memory.
func AllCubes(m Mag) iter.Seq2[Vec, error] {
	if w, ok := m.(CubeWalker); ok {
		return w.WalkCubes()
	}
	const far = 1 << 60
	return CubesIn(m, Box{Min: Cube(-far), Max: Cube(far)})
}

// CubesIn yields the positions of the cubes in a box of the grid of cubes, as AllCubes does. It does not
// list directories outside of the box.
func CubesIn(m Mag, box Box) iter.Seq2[Vec, error] {
	w := walk{m, box}
	return func(yield func(Vec, error) bool) {
		for row, xs := range parallel.EachOf(w.rows, func(r row) level { return w.list(r, r.at[2], r.at[1]) }) {
			for x, err := range w.numbers(xs, row.at[2], row.at[1]) {
				if !yield(Vec{x, row.at[1], row.at[2]}, err) {
					return
				}
			}
		}
	}
}

// walk lists the cubes of a mag in a box.
type walk struct {
	Mag
	box Box
}

// row is a directory z or z, y; the other axes are 0. With an error, it stands for one that cannot be listed.
type row struct {
	at  Vec
	err error
}

// planes yields each z.
func (w walk) planes(yield func(row) bool) {
	for z, err := range w.numbers(level{more: true}) {
		if !yield(row{Vec{2: z}, err}) {
			return
		}
	}
}

// rows yields each z and y.
func (w walk) rows(yield func(row) bool) {
	for plane, ys := range parallel.EachOf(w.planes, func(r row) level { return w.list(r, r.at[2]) }) {
		for y, err := range w.numbers(ys, plane.at[2]) {
			if !yield(row{Vec{1: y, 2: plane.at[2]}, err}) {
				return
			}
		}
	}
}

// level is the start of a directory of the index of cubes.
type level struct {
	numbers []int // the first piece
	more    bool  // there are other pieces
	err     error // of listing
}

// list lists the first piece of a directory.
func (w walk) list(r row, zy ...int) (l level) {
	if r.err != nil {
		return level{err: r.err}
	}
	first := true
	for piece, err := range ListCubes(w.Mag, zy...) {
		if !first {
			l.more = true
			break
		}
		l.numbers, l.err, first = piece, err, false
	}
	return l
}

// numbers yields the numbers of a directory that are inside the box, and its error. If list has listed only a part,
// numbers lists the directory again.
func (w walk) numbers(l level, zy ...int) iter.Seq2[int, error] {
	pieces := func(yield func([]int, error) bool) { yield(l.numbers, l.err) }
	if l.more {
		pieces = ListCubes(w.Mag, zy...)
	}
	axis := 2 - len(zy)
	return func(yield func(int, error) bool) {
		for piece, err := range pieces {
			for _, n := range piece {
				if n >= w.box.Min[axis] && n < w.box.Max[axis] && !yield(n, nil) {
					return
				}
			}
			if err != nil && !yield(0, err) {
				return
			}
		}
	}
}

// CubeEntry is an entry of the index of cubes with its attributes.
type CubeEntry struct {
	N    int
	Info fs.FileInfo
	Err  error // of StatCubes, if Info is nil
}

// CubeDescriber is a Mag that lists entries of its index with their attributes faster than one StatCubes
// for each entry.
type CubeDescriber interface {
	// DescribeCubes is [DescribeCubes] for this Mag.
	DescribeCubes(zy ...int) iter.Seq2[[]CubeEntry, error]
}

// DescribeCubes yields one level of the index of cubes, in pieces as [ListCubes] does, with the attributes that
// StatCubes returns. It leaves out entries that are removed while it runs.
func DescribeCubes(m Mag, zy ...int) iter.Seq2[[]CubeEntry, error] {
	if d, ok := m.(CubeDescriber); ok {
		return d.DescribeCubes(zy...)
	}
	return func(yield func([]CubeEntry, error) bool) {
		for numbers, err := range ListCubes(m, zy...) {
			entries := make([]CubeEntry, 0, len(numbers))
			for _, n := range numbers {
				info, err := m.StatCubes(append(zy[:len(zy):len(zy)], n)...)
				if !errors.Is(err, fs.ErrNotExist) {
					entries = append(entries, CubeEntry{n, info, err})
				}
			}
			if !yield(entries, err) {
				return
			}
		}
	}
}

// CubeBounder is a Mag that computes its bounding box from the cubes if the metadata has none.
type CubeBounder interface {
	// BoundsOfCubes returns what Bounds returns if cubes is the box of all cubes, in the grid of cubes. It
	// is for callers that have just listed them.
	BoundsOfCubes(cubes Box) (Box, error)
}
