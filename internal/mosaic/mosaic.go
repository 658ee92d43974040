package mosaic

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Mosaic is the cubes of a mag as one source; voxel 0,0,0 is the first of cube 0,0,0.
// It shows a snapshot: a cube that is no longer as the snapshot says fails. Whether the snapshot
// is still true is asked when a file of the mag is opened ([Mosaic.Current]); if not, a new Mosaic takes
// its place, with another version, and the old one serves those that have it open. No
// page cache ever holds both.
type Mosaic struct {
	mag     volume.Mag
	version vfs.Version

	cube   volume.Grid // the geometry of a cube
	blocks volume.Vec  // of a cube, on each axis
	bounds volume.Box  // the layer's bounding box, in absolute voxels of the mag
	grid   volume.Grid // to the end of the last cube

	index   cubeIndex
	watch   *watch
	bounded atomic.Int64 // when the bounds were last compared with the source, in ns
	shown   *snapshot
	moved   atomic.Bool // something is not as it was surveyed

	mu     sync.Mutex           // for what follows; not held over I/O
	tiles  map[volume.Vec]*tile // cubes that are open, or being opened
	idle   *list.List           // of *tile, those in no use, the longest unused first
	most   int                  // tiles that are kept open in no use
	files  int                  // open files that read from here
	opens  int                  // how often one was opened
	closed bool                 // none was open for a while: cubes are closed when they are in no use
}

var _ volume.Keyed = (*Mosaic)(nil)

// mosaics numbers the mosaics of this process, started when it was: together they
// name a mosaic for all time.
var (
	mosaics atomic.Int64
	started = time.Now().UnixNano()
)

// New takes a snapshot of a mag. If shared, others than the user who runs this process may read what is made of it, and
// are promised no more than all cubes and their directories allow.
func New(mag volume.Mag, shared bool) (*Mosaic, error) {
	return newMosaic(&watch{mag: mag, shared: shared})
}

// Next takes another snapshot of the same mag.
func (m *Mosaic) Next() (*Mosaic, error) { return newMosaic(m.watch) }

func newMosaic(w *watch) (*Mosaic, error) {
	s := w.now()
	switch {
	case s.err != nil:
		return nil, s.err
	case s.bounds.Empty():
		return nil, errors.New("neither a bounding box nor a cube")
	}
	g := s.grid
	m := &Mosaic{
		mag: w.mag, watch: w, cube: g, blocks: g.Blocks(), bounds: s.bounds, grid: g,
		shown: &snapshot{mag: w.mag, survey: s}, tiles: map[volume.Vec]*tile{}, idle: list.New(), most: maxTiles,
	}
	m.index.mag = w.mag
	m.grid.Size = m.Local(s.bounds).Max.CeilDiv(g.Size).Max(volume.Cube(1)).Mul(g.Size)
	id := binary.LittleEndian.AppendUint64(nil, uint64(mosaics.Add(1)))
	sum := sha256.Sum256(fmt.Appendf(id, "%d %v %v", started, g, s.bounds))
	m.version = vfs.Version(sum[:16])
	return m, nil
}

// Version names what the Mosaic shows.
func (m *Mosaic) Version() vfs.Version { return m.version }

// Taken is when the snapshot was begun.
func (m *Mosaic) Taken() time.Time { return m.shown.survey.taken }

// Grid returns the geometry of the cubes from 0,0,0 to the last one of the bounding box.
func (m *Mosaic) Grid() volume.Grid { return m.grid }

// Cube returns the geometry of each cube.
func (m *Mosaic) Cube() volume.Grid { return m.cube }

// Bounds returns the layer's bounding box, in absolute voxels of the mag.
func (m *Mosaic) Bounds() volume.Box { return m.bounds }

// About describes the mag.
func (m *Mosaic) About() volume.About { return m.mag.About() }

// Local turns a box in absolute voxels of the mag into one in those of the Mosaic.
func (m *Mosaic) Local(b volume.Box) volume.Box {
	return volume.Box{Min: b.Min.Sub(m.cube.Origin), Max: b.Max.Sub(m.cube.Origin)}
}

// Flat lays out a box, given in absolute voxels of the mag. Outside of the bounding box there are zeros.
func (m *Mosaic) Flat(box volume.Box) *flat.Array {
	valid := m.Local(m.bounds).Intersect(volume.Box{Max: m.grid.Size})
	return flat.New(m.grid, m.Local(box), valid)
}

// Current reports whether what is shown of the box, in absolute voxels of the mag, is still so. Other cubes are of no
// concern to a file of the box; but one that has come to be in the box, outside of the bounds that were found from the cubes, is.
//
// Few cubes are looked at, each by itself, if the source answers at once. Else a survey says so, which may be as old as it is
// believed.
func (m *Mosaic) Current(box volume.Box) bool {
	whole := box == m.bounds
	local := m.Local(box)
	cubes := volume.Box{Min: local.Min.Div(m.cube.Size), Max: local.Max.CeilDiv(m.cube.Size)}
	switch {
	case m.moved.Load():
		return false
	case m.shown.hasFew(cubes) && !vfs.IsLate(m.mag):
		return m.looksTheSame(cubes, whole)
	}
	now := m.watch.fresh()
	if !m.shown.survey.agrees(now, cubes, whole || !m.shown.complete()) {
		return false
	}
	return m.shown.complete() || m.shown.pinsHold(cubes, now.believed())
}

// looksTheSame looks at the geometry, at the bounding box if the whole is shown, and at a few cubes.
func (m *Mosaic) looksTheSame(cubes volume.Box, whole bool) bool {
	g, err := m.mag.CubeGrid()
	if err != nil || g != m.cube {
		return false
	}
	if (whole || !m.shown.complete()) && !m.boundsHold(whole) {
		return false
	}
	return m.shown.holds(cubes) && m.mayBeSearched(cubes)
}

// boundsHold reports whether the bounding box is still the same. It may have to be
// found from all the cubes there are: those who open one box after the other are told
// what was true less than a second ago.
func (m *Mosaic) boundsHold(whole bool) bool {
	if now := time.Now().UnixNano(); !whole && now-m.bounded.Load() < int64(time.Second) {
		return true
	}
	bounds, err := m.mag.Bounds()
	m.bounded.Store(time.Now().UnixNano())
	return err == nil && bounds == m.bounds
}

// mayBeSearched reports whether the directories of the cubes still let all those in who may read the whole. Directories that
// are gone let nobody read anything.
func (m *Mosaic) mayBeSearched(cubes volume.Box) bool {
	if !m.watch.shared {
		return true
	}
	var dirs [][]int // z, or z and y
	zs, rows := map[int]bool{}, map[[2]int]bool{}
	for _, c := range m.shown.known(cubes) {
		if z := c[2]; !zs[z] {
			zs[z] = true
			dirs = append(dirs, []int{z})
		}
		if row := [2]int{c[2], c[1]}; !rows[row] {
			rows[row] = true
			dirs = append(dirs, row[:])
		}
	}
	access := m.watch.latest().access
	for _, may := range parallel.Each(dirs, func(dir []int) bool {
		info, err := m.mag.StatCubes(dir...)
		return err != nil || access.covers(info)
	}) {
		if !may {
			return false
		}
	}
	return true
}
