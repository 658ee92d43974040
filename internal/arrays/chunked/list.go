package chunked

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// listing keeps the positions of the cubes that have a file. It implements [lattice.Store].
type listing struct {
	mag   *Mag
	limit int // of positions
	all   *lattice.Budget

	mu    sync.Mutex
	found lattice.Positions
	err   error     // why found may be incomplete
	taken time.Time // when the listing ended
	age   time.Duration
}

// A listing is used for ttl.Least, or for ageFactor times as long as it took. Without that, a walk through 100,000 rows
// of cubes lists them 100,000 times.
const ageFactor = 10

// Positions implements [lattice.Store]. It returns the positions of the cubes that have a file. If a directory cannot
// be listed, it returns the others with the error. If there are more than the limit, the error is a
// [lattice.TooManyError].
func (l *listing) Positions(fresh bool) (lattice.Positions, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ttl.IsRecent(l.taken) || !fresh && time.Since(l.taken) < l.age {
		return l.found, l.err
	}
	start := time.Now()
	l.found.Release()
	l.found = lattice.Positions{}
	l.found, l.err = l.read()
	l.taken = time.Now()
	l.age = max(ttl.Least, ageFactor*l.taken.Sub(start))
	return l.found, l.err
}

func (l *listing) read() (lattice.Positions, error) {
	found := l.all.Collect(l.mag.lattice, l.limit)
	var failed error
	for c, err := range l.mag.walkFiles {
		if err != nil {
			failed = err
			continue
		}
		if err := found.Add(c); err != nil {
			return lattice.Positions{Lattice: l.mag.lattice}, err
		}
	}
	return found.Positions(), failed
}

// Walk implements [lattice.Store].
func (l *listing) Walk(yield func(volume.Vec, error) bool) { l.mag.walkFiles(yield) }

// Describe implements [lattice.Store].
func (l *listing) Describe() func(volume.Vec) (fs.FileInfo, error) { return l.mag.statCube }

// maxLookups is the number of cubes that are looked up one by one if the fill value is not zero.
const maxLookups = 4096

// lacks reports whether a cube has no file according to a valid listing. Then it need not be looked up. lacks returns
// false if it does not know.
func (l *listing) lacks(c volume.Vec) bool {
	if l.mag.array.fillsZero() || l.mag.lattice.Chunks() <= maxLookups {
		return false
	}
	found, err := l.Positions(false)
	return err == nil && !found.Contains(c)
}

// walkFiles yields the cube of each file of a chunk, in any order, and errors of listing. A cube with several files is
// yielded several times. An entry of the wrong kind counts: it exists and cannot be read, so it must not read as
// absent.
func (m *Mag) walkFiles(yield func(volume.Vec, error) bool) {
	if m.array.Tree == nil && m.array.Key.Separator != "/" {
		m.walkNames(yield)
		return
	}
	for n := range m.nodes(len(m.array.Shape)) {
		if n.err != nil {
			if !yield(volume.Vec{}, n.err) {
				return
			}
		} else if !yield(m.cubeOf(n.at), nil) {
			return
		}
	}
}

// nodes yields the nodes of a level of the tree of chunks, in any order, and errors of the levels above. It lists many
// directories at once, and holds only those in memory.
func (m *Mag) nodes(level int) iter.Seq[node] {
	return func(yield func(node) bool) {
		if level == 0 {
			yield(node{dir: path.Join(m.dir, m.array.Key.Prefix)})
			return
		}
		for n, found := range parallel.EachOf(m.nodes(level-1), m.listNode) {
			if found.err != nil && !yield(node{err: found.err}) {
				return
			}
			for _, number := range found.numbers {
				if !yield(m.child(n, number)) {
					return
				}
			}
		}
	}
}

// walkNames is walkFiles for a key without directories.
func (m *Mag) walkNames(yield func(volume.Vec, error) bool) {
	rank := len(m.array.Shape)
	for entries, err := range vfs.ListDir(m.fsys, m.dir) {
		for _, e := range entries {
			if at, ok := m.array.Key.parse(e.Name(), rank); ok && m.shows(at) && !yield(m.cubeOf(at), nil) {
				return
			}
		}
		if err = vfs.CheckAbsent(m.fsys, ".", m.dir, err); err != nil && !vfs.NothingListed(err) {
			yield(volume.Vec{}, err)
			return
		}
	}
}

// node is a directory or a chunk of the tree of chunks.
type node struct {
	dir string
	at  []int // the indices on its path
	err error // why nodes may be missing; then it is no node
}

func (m *Mag) child(n node, number int) node {
	name := strconv.Itoa(number)
	if t := m.array.Tree; t != nil {
		name = t.Dir(len(n.at), number)
	}
	return node{dir: path.Join(n.dir, name), at: append(n.at[:len(n.at):len(n.at)], number)}
}

// numbers are the entries of a directory of the tree of chunks.
type numbers struct {
	numbers []int
	err     error
}

// listNode lists the numbers in a directory that are those of chunks that are shown.
func (m *Mag) listNode(n node) (found numbers) {
	if n.err != nil {
		return numbers{err: n.err}
	}
	axis := len(n.at)
	if number, ok := m.only(axis); ok {
		return numbers{numbers: []int{number}}
	}
	for entries, err := range vfs.ListDir(m.fsys, n.dir) {
		for _, e := range entries {
			if number, ok := m.indexIn(axis, e.Name()); ok && m.showsOn(axis, number) && m.hasFile(n, number) {
				found.numbers = append(found.numbers, number)
			}
		}
		if err = vfs.CheckAbsent(m.fsys, ".", n.dir, err); err != nil && !vfs.NothingListed(err) {
			found.err = err
		}
	}
	return found
}

// only returns the one index on an axis of directories that is shown, such as a time: its directory need not be
// searched. If it is absent, so is all in it.
func (m *Mag) only(axis int) (index int, ok bool) {
	if m.array.Tree != nil || axis == len(m.array.Shape)-1 || slices.Contains(m.axis[:], axis) {
		return 0, false
	}
	return m.index[axis] / m.array.Chunk[axis], true
}

// indexIn returns the index that an entry of a directory of the tree of chunks has the name of.
func (m *Mag) indexIn(axis int, name string) (int, bool) {
	if t := m.array.Tree; t != nil {
		return t.Index(axis, name)
	}
	return volume.ParseIndex(name)
}

// hasFile reports whether a child of a directory has the file of its chunk, if the array has a directory for each
// chunk. What may exist counts.
func (m *Mag) hasFile(n node, number int) bool {
	if m.array.Tree == nil || len(n.at) < len(m.array.Shape)-1 {
		return true
	}
	leaf := m.child(n, number)
	name := path.Join(leaf.dir, m.array.Tree.File(leaf.at))
	_, err := fs.Stat(m.fsys, name)
	return !errors.Is(vfs.CheckAbsent(m.fsys, ".", name, err), fs.ErrNotExist)
}

// shows reports whether a chunk is in the array and has a channel that is shown.
func (m *Mag) shows(at []int) bool {
	for axis, n := range at {
		if !m.showsOn(axis, n) {
			return false
		}
	}
	return true
}

func (m *Mag) showsOn(axis, n int) bool {
	switch axis {
	case m.axis[axisX], m.axis[axisY], m.axis[axisZ]:
		return n <= (m.array.Shape[axis]-1)/m.array.Chunk[axis]
	case m.axis[axisC]:
		parts := m.parts(m.array)
		return n >= parts[0] && n < parts[1]
	}
	return n == m.index[axis]/m.array.Chunk[axis]
}

// cubeOf returns the cube that a chunk is a part of.
func (m *Mag) cubeOf(at []int) (c volume.Vec) {
	for i := range 3 {
		if m.axis[i] != none {
			c[i] = at[m.axis[i]]
		}
	}
	return c
}
