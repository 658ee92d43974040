package view

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/header"
	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// mosaic is the cubes of a mag as one source; voxel 0,0,0 is the first of cube 0,0,0.
// It shows a snapshot: what of the cubes is no longer as it says fails. Whether it
// is still true is asked when a file of the mag is opened; if not, a new mosaic takes
// its place, with another version, and the old one serves those who have it open. No
// page cache ever holds both.
type mosaic struct {
	mag     volume.Mag
	wrap    func(volume.Source) volume.Source
	version vfs.Version

	cube   volume.Grid // the geometry of a cube
	blocks volume.Vec  // of a cube, on each axis
	bounds volume.Box  // the layer's bounding box, in absolute voxels of the mag
	grid   volume.Grid // to the end of the last cube

	keeper  volume.Keeper // of the memory for decoded voxels; nil: there is none
	layouts sync.Map      // of the whole volume: format's suffix → header.Layout or error
	cubes   cubeIndex
	surveys surveyor
	planes  planes
	bounded atomic.Int64 // when the bounds were last compared with the source, in ns
	shown   *snapshot

	mu    sync.Mutex
	moved bool                 // something is not as it was surveyed
	tiles map[volume.Vec]*tile // cubes that are open
	used  *list.List           // of *tile, those in no use, the longest unused first
	files int                  // open files that read from here
}

// tile is one open cube of a mosaic.
type tile struct {
	at   volume.Vec
	file volume.CubeFile
	src  volume.Source // file, wrapped
	busy int           // readers in it
	rest *list.Element // in mosaic.used while it is in no use
}

// maxTiles is how many cubes a mosaic keeps open beyond those in use.
const maxTiles = 64

// mosaics numbers the mosaics of this process, started when it was: together they
// name a mosaic for all time.
var (
	mosaics atomic.Int64
	started = time.Now().UnixNano()
)

func newMosaic(mag volume.Mag, wrap func(volume.Source) volume.Source) (*mosaic, error) {
	g, err := mag.CubeGrid()
	if err != nil {
		return nil, err
	}
	bounds, err := mag.Bounds()
	if err != nil {
		return nil, err
	}
	if bounds.Empty() {
		return nil, errors.New("neither a bounding box nor a cube")
	}
	m := &mosaic{
		mag: mag, wrap: wrap, cube: g, blocks: g.Blocks(), bounds: bounds, grid: g,
		shown: newSnapshot(mag), tiles: map[volume.Vec]*tile{}, used: list.New(),
	}
	m.cubes.mag = mag
	m.surveys.mag = mag
	m.surveys.first(m.shown)
	m.grid.Size = m.local(bounds).Max.CeilDiv(g.Size).Max(volume.Cube(1)).Mul(g.Size)
	id := binary.LittleEndian.AppendUint64(nil, uint64(mosaics.Add(1)))
	sum := sha256.Sum256(fmt.Appendf(id, "%d %v %v", started, g, bounds))
	m.version = vfs.Version(sum[:16])
	// It is each cube that is read through the wrapper; this one is only asked.
	m.keeper, _ = wrap(m).(volume.Keeper)
	return m, nil
}

// Grid is the cubes from 0,0,0 to the last one of the bounding box.
func (m *mosaic) Grid() volume.Grid { return m.grid }

// local turns a box in absolute voxels of the mag into one in those of the mosaic.
func (m *mosaic) local(b volume.Box) volume.Box {
	return volume.Box{Min: b.Min.Sub(m.cube.Origin), Max: b.Max.Sub(m.cube.Origin)}
}

// flat lays out a box, given in absolute voxels of the mag.
func (m *mosaic) flat(box volume.Box) *Flat { return newFlat(m.source(), m.local(box), m.valid()) }

// valid is where there can be voxels: the bounding box, as far as it is in the grid.
func (m *mosaic) valid() volume.Box {
	return m.local(m.bounds).Intersect(volume.Box{Max: m.grid.Size})
}

// forget lets the next reader open the cube anew.
func (m *mosaic) forget(t *tile) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tiles[t.at] == t {
		delete(m.tiles, t.at)
	}
}

// acquire returns the cube, open; nil where there is none.
func (m *mosaic) acquire(c volume.Vec) (*tile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tiles[c]; t != nil {
		m.use(t)
		return t, nil
	}
	known, decided := m.shown.version(c)
	if decided && known == absent {
		return nil, nil
	}
	// Opened under the lock: it takes some microseconds, once a cube.
	f, err := m.openCube(c)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !decided:
		m.shown.pin(c, absent)
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cube %v, which is gone: %w", c, vfs.ErrChanged)
	case err != nil:
		return nil, err
	case decided && f.Version() != known:
		f.Close()
		return nil, fmt.Errorf("cube %v: %w", c, vfs.ErrChanged)
	case !m.surveys.survey(false).covers(f.Info()):
		// Who opened the whole may not be allowed to read this part of it.
		m.moved = true
		f.Close()
		return nil, fmt.Errorf("cube %v: its permissions: %w", c, vfs.ErrChanged)
	}
	m.shown.pin(c, f.Version())
	t := &tile{at: c, file: f, src: m.wrap(f)}
	m.tiles[c] = t
	m.use(t)
	return t, nil
}

// openCube opens a cube file. Cubes in no use are closed for it if the process may have
// no more files open. It is called with mu held.
func (m *mosaic) openCube(c volume.Vec) (volume.CubeFile, error) {
	for {
		f, err := m.mag.OpenCube(c)
		if !errors.Is(err, syscall.EMFILE) || m.used.Len() == 0 {
			return f, err
		}
		m.close(m.used.Front())
	}
}

func (m *mosaic) use(t *tile) {
	t.busy++
	if t.rest != nil {
		m.used.Remove(t.rest)
		t.rest = nil
	}
}

// release takes a reader out of a cube; the cube stays open for the next one.
func (m *mosaic) release(t *tile) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.busy--; t.busy > 0 {
		return
	}
	if m.tiles[t.at] != t { // forgotten
		t.file.Close() // read-only: nothing can be lost
		return
	}
	t.rest = m.used.PushBack(t)
	if m.used.Len() > maxTiles || m.files == 0 {
		m.close(m.used.Front())
	}
}

// close closes a cube that is in no use.
func (m *mosaic) close(e *list.Element) {
	t := m.used.Remove(e).(*tile)
	t.rest = nil
	delete(m.tiles, t.at)
	t.file.Close() // read-only: nothing can be lost
}

// addFile counts a file that was opened, and Close one that was closed; with the
// last one, the cubes are closed.
func (m *mosaic) addFile() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files++
}

// Close implements io.Closer for the files that read from here.
func (m *mosaic) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files--; m.files == 0 {
		for m.used.Len() > 0 {
			m.close(m.used.Front())
		}
	}
	return nil
}

// current reports whether what is shown of the box, in absolute voxels of the mag, is
// still so. Other cubes are of no concern to a file of the box, and there may be many
// of them; but one that has come to be in the box, outside of the bounds that were
// found from the cubes, is.
func (m *mosaic) current(box volume.Box) bool {
	g, err := m.mag.CubeGrid()
	if err != nil || g != m.cube {
		return false
	}
	if whole := box == m.bounds; (whole || !m.shown.isComplete()) && !m.boundsHold(whole) {
		return false
	}
	m.mu.Lock()
	moved := m.moved
	m.mu.Unlock()
	box = m.local(box)
	cubes := volume.Box{Min: box.Min.Div(m.cube.Size), Max: box.Max.CeilDiv(m.cube.Size)}
	return !moved && m.shown.holds(cubes) && m.mayBeSearched(cubes)
}

// boundsHold reports whether the bounding box is still the same. It may have to be
// found from all the cubes there are: those who open one box after the other are told
// what was true less than a second ago.
func (m *mosaic) boundsHold(whole bool) bool {
	if now := time.Now().UnixNano(); !whole && now-m.bounded.Load() < int64(time.Second) {
		return true
	}
	bounds, err := m.mag.Bounds()
	m.bounded.Store(time.Now().UnixNano())
	return err == nil && bounds == m.bounds
}

// mayBeSearched reports whether the directories of the cubes still let all those in who
// may read the whole. Directories that are gone let nobody read anything.
func (m *mosaic) mayBeSearched(cubes volume.Box) bool {
	known, _ := m.shown.in(cubes)
	looked := map[[2]int]bool{}
	for c := range known {
		if looked[[2]int{c[2], c[1]}] {
			continue
		}
		looked[[2]int{c[2], c[1]}] = true
		for _, dir := range [...][]int{{c[2]}, {c[2], c[1]}} {
			if info, err := m.mag.StatCubes(dir...); err == nil && !m.surveys.survey(false).covers(info) {
				return false
			}
		}
	}
	return true
}

// array describes a box of the mosaic for a header.
func (m *mosaic) array(name string, box volume.Box) header.Array {
	g := m.grid
	g.Size, g.Origin = box.Size(), box.Min
	return header.Array{Grid: g, Data: volumeStem + rawSuffix, Name: name, Category: m.mag.About().Category}
}

// shelf keeps the mosaic of each mag that was asked for.
type shelf struct {
	mu      sync.Mutex
	mosaics map[volume.Mag]*mosaic
}

// get returns the mosaic of the mag if it is good enough, else a new one.
func (s *shelf) get(mag volume.Mag, wrap func(volume.Source) volume.Source, good func(*mosaic) bool) (*mosaic, error) {
	s.mu.Lock()
	m := s.mosaics[mag]
	s.mu.Unlock()
	if m != nil && good(m) {
		return m, nil
	}
	made, err := newMosaic(mag, wrap)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.mosaics[mag]; now != m { // somebody else was quicker
		return now, nil
	}
	s.mosaics[mag] = made
	return made, nil
}
