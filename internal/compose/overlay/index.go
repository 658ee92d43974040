package overlay

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// maxParts limits the parts of a list: cubes above in cubes below. A real annotation has some thousand.
const maxParts = 1 << 22

// part is a cube above, or what it covers of a cube below.
type part struct {
	at   volume.Vec // in cubes above
	box  volume.Box // in absolute voxels of the mag
	info fs.FileInfo
	err  error // why it cannot be described
}

// cell is the parts that are in a cube below. It is immutable once it is listed.
type cell []part

// err returns why a part cannot be described, or nil.
func (c cell) err() error {
	for _, p := range c {
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

// version returns the version of cube n of a grid that is made of the parts and of what is below, whose version is zero
// if there is nothing. Then a part may be all that several cubes are made of: its place in each counts.
func (c cell) version(g volume.Grid, n volume.Vec, below vfs.Version) vfs.Version {
	h := sha256.New()
	h.Write([]byte("overlay"))
	fmt.Fprint(h, g.CubeBox(n), g.Block)
	h.Write(below[:])
	for _, p := range c {
		v := vfs.VersionOf(p.info)
		fmt.Fprint(h, p.at)
		h.Write(v[:])
	}
	return vfs.Version(h.Sum(nil)[:16])
}

// listing is all cells, by the positions of cubes below. It is immutable.
type listing struct {
	cells map[volume.Vec]cell
	err   error // why there is no list
	ttl.Answer
	generation uint64 // of the mag above, when the list was started
}

func (l *listing) counts() bool { return l != nil && l.Counts() }

// index lists the cubes above, again when the list is old.
type index struct {
	below, above volume.Mag
	latest       atomic.Pointer[listing]
	taking       sync.Mutex // held while a list is taken; readers with a valid one do not need it
}

// isValid reports whether a list is not old. A mag above that knows its changes makes a list old by nothing else.
func (x *index) isValid(l *listing) bool {
	if g, ok := x.above.(vfs.Generational); ok {
		return l != nil && l.generation == g.Generation()
	}
	return l.counts()
}

// valid returns a list that is not old.
func (x *index) valid() *listing {
	if l := x.latest.Load(); x.isValid(l) {
		return l
	}
	x.taking.Lock()
	defer x.taking.Unlock()
	if l := x.latest.Load(); x.isValid(l) { // another goroutine has taken it
		return l
	}
	l := x.take()
	x.latest.Store(l)
	return l
}

func (x *index) take() *listing {
	l := &listing{cells: map[volume.Vec]cell{}, Answer: ttl.Ask(), generation: vfs.GenerationOf(x.above)}
	l.err = x.list(l.cells)
	for _, c := range l.cells {
		slices.SortFunc(c, func(a, b part) int { return slices.Compare(a.at[:], b.at[:]) })
	}
	l.End()
	return l
}

// list adds the parts of all cubes above that are in the bounding box of the layer below.
func (x *index) list(cells map[volume.Vec]cell) error {
	g, bounds, err := geometry(x.below)
	if err != nil {
		return err
	}
	above, err := x.above.CubeGrid()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has neither a header nor a cube
	}
	n := 0
	for c, listed := range volume.AllCubes(x.above) {
		switch {
		case listed != nil:
			return listed
		case err != nil: // there are cubes, and their geometry is unknown
			return err
		}
		p := part{at: c, box: above.CubeBox(c)}
		inside := p.box.Intersect(bounds)
		if inside.Empty() {
			continue
		}
		if p.info, p.err = x.above.StatCubes(c[2], c[1], c[0]); errors.Is(p.err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		for at := range inside.Sub(g.Origin).Div(g.Size).All() {
			if n++; n > maxParts {
				return fmt.Errorf("blocks over a layer: expected at most %d, found more", maxParts)
			}
			cells[at] = append(cells[at], p)
		}
	}
	return nil
}

// geometry returns the cubes and the bounding box of a mag.
func geometry(m volume.Mag) (g volume.Grid, bounds volume.Box, err error) {
	if g, err = m.CubeGrid(); err == nil {
		bounds, err = m.Bounds()
	}
	return g, bounds, err
}

// level returns the numbers of a level of the index of cubes, as [volume.Mag].Cubes does, of the cubes that have
// parts. It is in rising order.
func (l *listing) level(zy ...int) (numbers []int) {
	for c := range l.cells {
		zyx := [3]int{c[2], c[1], c[0]}
		if slices.Equal(zyx[:len(zy)], zy) {
			numbers = append(numbers, zyx[len(zy)])
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
