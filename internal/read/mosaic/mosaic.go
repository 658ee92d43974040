package mosaic

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Mosaic is the cubes of a mag as one source of blocks. Voxel 0,0,0 is the first voxel of cube 0,0,0.
//
// A Mosaic shows a snapshot. Reading a cube that has changed since then fails with vfs.ErrChanged. When a file of the
// mag is opened, [Mosaic.Current] compares the snapshot with the source. If they differ, a new Mosaic with another
// version takes its place, and the old one serves the files that have it open. So no page cache ever holds both.
//
// All methods may be called by several goroutines at once.
type Mosaic struct {
	mag      volume.Mag
	surveyor *surveyor
	snapshot *snapshot
	version  vfs.Version

	cube   volume.Grid // geometry of each cube
	blocks volume.Vec  // blocks of a cube on each axis
	bounds volume.Box  // bounding box of the layer, in absolute voxels of the mag
	grid   volume.Grid // geometry of cube 0,0,0 to the last cube

	index         cubeIndex
	boundsChecked atomic.Int64 // time of the last comparison of the bounds with the source, in ns since 1970
	outdated      atomic.Bool  // a cube was found to differ from the snapshot

	durableOnce sync.Once
	durable     vfs.Version // see DurableVersion
	contentOnce sync.Once
	content     vfs.Version // see ContentVersion

	mu      sync.Mutex // guards the fields below; never held during I/O
	handles map[volume.Vec]*handle
	idle    *lru.Cache[volume.Vec, *handle] // without users; the budget is a number of handles
	files   int                             // open files that read from the mosaic
	opens   int                             // calls of Open
	// no file is open, since idleTimeout: handles without users are closed at once
	unused bool
}

var _ volume.Keyed = (*Mosaic)(nil)

// The number of a mosaic in this process and the start of the process together are unique.
var (
	lastMosaic atomic.Int64
	started    = time.Now().UnixNano()
)

// New takes a snapshot of a mag. shared means that other users than that of this process may read files that are made
// of the mosaic. Then the permissions of such files allow only users whom all cubes and their directories allow.
func New(mag volume.Mag, shared bool) (*Mosaic, error) {
	return newMosaic(&surveyor{mag: mag, shared: shared, limits: usual})
}

// Next takes another snapshot of the same mag.
func (m *Mosaic) Next() (*Mosaic, error) { return newMosaic(m.surveyor) }

func newMosaic(w *surveyor) (*Mosaic, error) {
	s := w.fresh()
	switch {
	case s.err != nil:
		return nil, s.err
	case s.bounds.Empty():
		return nil, errors.New("neither a bounding box nor a cube")
	}
	g := s.grid
	m := &Mosaic{
		mag: w.mag, surveyor: w, snapshot: &snapshot{mag: w.mag, survey: s, most: w.limits.few}, cube: g,
		blocks: g.Blocks(), bounds: s.bounds, grid: g,
		index: cubeIndex{mag: w.mag, most: w.limits.rows}, handles: map[volume.Vec]*handle{},
		idle: lru.New[volume.Vec, *handle](int64(w.limits.idle)),
	}
	m.grid.Size = m.Local(s.bounds).Max.CeilDiv(g.Size).Max(volume.Cube(1)).Mul(g.Size)
	id := binary.LittleEndian.AppendUint64(nil, uint64(lastMosaic.Add(1)))
	sum := sha256.Sum256(fmt.Appendf(id, "%d %v %v", started, g, s.bounds))
	m.version = vfs.Version(sum[:16])
	return m, nil
}

// Version identifies what the Mosaic shows. No other Mosaic has the same version, in this process or another.
func (m *Mosaic) Version() vfs.Version { return m.version }

// Taken returns when the snapshot was started.
func (m *Mosaic) Taken() time.Time { return m.snapshot.survey.Asked }

// Grid returns the geometry of all cubes, from 0,0,0 to the last cube of the bounding box.
func (m *Mosaic) Grid() volume.Grid { return m.grid }

// Cube returns the geometry of each cube. Its origin is that of cube 0,0,0.
func (m *Mosaic) Cube() volume.Grid { return m.cube }

// Bounds returns the bounding box of the layer, in absolute voxels of the mag.
func (m *Mosaic) Bounds() volume.Box { return m.bounds }

// Cubes returns the number of cubes whose versions the snapshot holds. It is 0 if there are more than 20,000.
func (m *Mosaic) Cubes() int {
	if !m.snapshot.complete() {
		return 0
	}
	return len(*m.snapshot.survey.cubes)
}

// About describes the mag.
func (m *Mosaic) About() volume.About { return m.mag.About() }

// Local converts a box from absolute voxels of the mag to voxels of the Mosaic.
func (m *Mosaic) Local(b volume.Box) volume.Box { return b.Sub(m.cube.Origin) }

// Flat lays out a box, in absolute voxels of the mag, as a flat array. Voxels outside of the bounding box are zero.
func (m *Mosaic) Flat(box volume.Box) *flat.Array {
	valid := m.Local(m.bounds).Intersect(volume.Box{Max: m.grid.Size})
	return flat.New(m.grid, m.Local(box), valid)
}
