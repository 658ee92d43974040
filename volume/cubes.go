package volume

import (
	"errors"
	"io/fs"
	"iter"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// Indexed is a Mag that tells more about its cubes than the methods of Mag do, or tells it faster.
type Indexed interface {
	// Index returns what the Mag can tell. It is fast.
	Index() Index
}

// Index is what a [Mag] tells about its cubes and the files that it is made of. Each field may be nil: the functions of
// this package then use the methods of the Mag.
type Index struct {
	// List yields what Cubes returns, in pieces, so that a level of any size takes little memory. Each piece is in
	// rising order. An error is the last item.
	List func(zy ...int) iter.Seq2[[]int, error]
	// Describe is [DescribeCubes] for this Mag. It is faster than one StatCubes for each entry.
	Describe func(zy ...int) iter.Seq2[[]CubeEntry, error]
	// Walk is [AllCubes] for this Mag. It is faster than one level after the other, or holds fewer cubes in memory.
	Walk func() iter.Seq2[Vec, error]
	// Bounds returns what Bounds of the Mag returns if cubes is the box of all cubes, in the grid of cubes. It is for
	// callers that have just listed them. A Mag has it if it computes its bounding box from the cubes.
	Bounds func(cubes Box) (Box, error)
	// StoredIn returns a name of the stored file of a cube, which is unique in the mag. It is empty if each cube has a
	// file of its own. StoredIn opens no file.
	StoredIn func(c Vec) string

	// Metadata describes the files besides the cubes that the voxels depend on, as far as they exist. A user who may
	// not read one of them must not be shown voxels.
	Metadata func() []fs.FileInfo
	// Files says which names the cube files have. So files that the Mag does not read can be found.
	Files func() CubeFiles
	// Parts are the mags that this one is made of, each with cube files of its own. They may have Parts, too.
	Parts []MagPart
}

// IndexOf returns the Index of an [Indexed], or one without fields.
func IndexOf(m Mag) Index {
	if i, ok := m.(Indexed); ok {
		return i.Index()
	}
	return Index{}
}

// StatMetadata returns the Metadata of the [Index] of a mag.
func StatMetadata(m Mag) []fs.FileInfo {
	if metadata := IndexOf(m).Metadata; metadata != nil {
		return metadata()
	}
	return nil
}

// ListCubes yields one level of the index of cubes, in pieces. Each piece is in rising order. There is one piece if the
// [Index] of the mag has no List.
func ListCubes(m Mag, zy ...int) iter.Seq2[[]int, error] {
	if list := IndexOf(m).List; list != nil {
		return list(zy...)
	}
	return func(yield func([]int, error) bool) { yield(m.Cubes(zy...)) }
}

// Everywhere returns a box of all cubes.
func Everywhere() Box { return Box{Min: Cube(-1 << 60), Max: Cube(1 << 60)} }

// AllCubes yields the positions of all cubes of a mag, z slowest. A directory of more than some thousand entries is in
// an order of its own. If a directory cannot be listed, AllCubes yields the error and goes on with the next one. It
// lists many directories at once, and holds only some of them in memory.
func AllCubes(m Mag) iter.Seq2[Vec, error] {
	if walk := IndexOf(m).Walk; walk != nil {
		return walk()
	}
	return CubesIn(m, Everywhere())
}

// CubesIn yields the positions of the cubes in a box of the grid of cubes, as AllCubes does. It does not
// list directories outside of the box.
func CubesIn(m Mag, box Box) iter.Seq2[Vec, error] {
	return Walk(func(zy ...int) iter.Seq2[[]int, error] { return ListCubes(m, zy...) }, box)
}

// Walk is CubesIn for an index of cubes of which list yields a level, as [ListCubes] does. Many goroutines call list at
// once. A level of more than one piece is listed more than once.
func Walk(list func(zy ...int) iter.Seq2[[]int, error], box Box) iter.Seq2[Vec, error] {
	w := walk{list, box}
	return func(yield func(Vec, error) bool) {
		for row, xs := range parallel.EachOf(w.rows, func(r row) level { return w.start(r, r.at[2], r.at[1]) }) {
			for x, err := range w.numbers(xs, row.at[2], row.at[1]) {
				if !yield(Vec{x, row.at[1], row.at[2]}, err) {
					return
				}
			}
		}
	}
}

// walk lists the cubes in a box.
type walk struct {
	list func(zy ...int) iter.Seq2[[]int, error]
	box  Box
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
	for plane, ys := range parallel.EachOf(w.planes, func(r row) level { return w.start(r, r.at[2]) }) {
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

// start lists the first piece of a directory.
func (w walk) start(r row, zy ...int) (l level) {
	if r.err != nil {
		return level{err: r.err}
	}
	first := true
	for piece, err := range w.list(zy...) {
		if !first {
			l.more = true
			break
		}
		l.numbers, l.err, first = piece, err, false
	}
	return l
}

// numbers yields the numbers of a directory that are inside the box, and its error. If start has listed only a part,
// numbers lists the directory again.
func (w walk) numbers(l level, zy ...int) iter.Seq2[int, error] {
	pieces := func(yield func([]int, error) bool) { yield(l.numbers, l.err) }
	if l.more {
		pieces = w.list(zy...)
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

// DescribeCubes yields one level of the index of cubes, in pieces as [ListCubes] does, with the attributes that
// StatCubes returns. It leaves out entries that are removed while it runs.
func DescribeCubes(m Mag, zy ...int) iter.Seq2[[]CubeEntry, error] {
	if describe := IndexOf(m).Describe; describe != nil {
		return describe(zy...)
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
