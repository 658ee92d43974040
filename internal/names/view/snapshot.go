package view

import (
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/read/mosaic"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// snapshot is the voxels of a mag at one time, and what files that are made of them share.
type snapshot struct {
	*mosaic.Mosaic
	path    string      // of the mag in the mount, for the log
	unit    header.Unit // of lengths in headers
	durable bool        // see Options.DurableVersions
	column  columnLimits
	blocks  *cache.Source
	stack   *prefetch.Stack // of the planes of the whole volume
	layouts sync.Map        // of the whole volume: suffix of the format → result of makeLayout
}

// array returns the voxels of a box, in absolute voxels of the mag, as an array. Its file has head bytes in front of
// them.
func (s *snapshot) array(box volume.Box, head int) prefetch.Array {
	return prefetch.Array{Array: s.Flat(box), Source: s.blocks, Head: int64(head), Name: s.path}
}

// fileVersion returns the version of files that are made of the snapshot.
func (s *snapshot) fileVersion() vfs.Version {
	if !s.durable {
		return s.Version()
	}
	version := s.DurableVersion()
	sum := sha256.Sum256(append(version[:], s.unit...))
	return vfs.Version(sum[:len(version)])
}

// header describes a box, in absolute voxels of the mag, for a header.
func (s *snapshot) header(name string, box volume.Box) header.Array {
	g := s.Grid()
	g.Size, g.Origin = box.Size(), box.Min
	return header.Array{Grid: g, Data: tree.VolumeRaw, Name: name, Category: s.About().Category, Unit: s.unit}
}

// storage describes for volume.json how the voxels are stored.
func (s *snapshot) storage() header.Storage {
	about := s.About()
	return header.Storage{Mag: about.Factor, Cube: s.Cube().Size, Compression: about.Compression}
}

// isLabels reports whether the values are IDs of segments.
func (s *snapshot) isLabels() bool {
	return s.About().Category == "segmentation" && s.Cube().Channels == 1 && !s.Cube().Type.IsFloat()
}

// planeOf reports whether a box, in absolute voxels of the mag, is one whole plane of a volume that can be a file. It
// returns the z of the plane and its offset in the volume, in bytes.
func (s *snapshot) planeOf(box volume.Box) (z int, offset int64, ok bool) {
	whole, grid := s.Bounds(), s.Grid()
	grid.Size = whole.Size()
	whole.Min[2], whole.Max[2] = box.Min[2], box.Min[2]+1
	if box != whole || box.Intersect(s.Bounds()).Empty() || grid.Validate() != nil {
		return 0, 0, false
	}
	grid.Size[2] = 1
	return box.Min[2], int64(box.Min[2]-s.Bounds().Min[2]) * grid.Bytes(), true
}

// snapshots has the last snapshot of each mag that was used recently.
type snapshots struct {
	prefetch *prefetch.Prefetcher
	shared   bool // as in mosaic.New
	unit     header.Unit
	durable  bool // see Options.DurableVersions
	column   columnLimits

	mu   sync.Mutex
	last *lru.Cache[volume.Mag, *snapshot] // the budget is a number of cubes
}

// snapshotCost is the cost of a snapshot without cubes, in cubes.
const snapshotCost = 512

// get returns the last snapshot of a mag if it is acceptable, or else a new one. The path is that of the mag in the
// mount.
func (s *snapshots) get(mag volume.Mag, path string, acceptable func(*snapshot) bool) (*snapshot, error) {
	last := s.latest(mag)
	start := time.Now()
	if last != nil && acceptable(last) {
		return last, nil
	}
	taken, err := retryOpen(s, func() (*snapshot, error) { return s.take(mag, path, last) })
	if err != nil {
		return nil, err
	}
	for {
		found := s.replace(mag, last, taken)
		switch {
		case found == nil:
			return taken, nil
		case found.Taken().After(start) || acceptable(found): // another goroutine was faster
			return found, nil
		}
		last = found
	}
}

// latest returns the last snapshot of a mag, or nil.
func (s *snapshots) latest(mag volume.Mag) *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, _ := s.last.Get(mag)
	return last
}

// replace replaces the last snapshot of a mag, unless that is there and not last. Then it returns that one, else nil.
func (s *snapshots) replace(mag volume.Mag, last, taken *snapshot) (found *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, _ := s.last.Get(mag); found != nil && found != last {
		return found
	}
	s.last.Put(mag, taken, int64(taken.Cubes()+snapshotCost))
	return nil
}

// take takes a snapshot of a mag. last is the snapshot before it, or nil.
func (s *snapshots) take(mag volume.Mag, path string, last *snapshot) (*snapshot, error) {
	var m *mosaic.Mosaic
	var err error
	if last == nil {
		m, err = mosaic.New(mag, s.shared)
	} else {
		m, err = last.Next()
	}
	if err != nil {
		return nil, err
	}
	blocks := s.prefetch.Cache().Source(m)
	if err := fits(s.prefetch.Cache(), m, m.Grid(), mag, path); err != nil {
		return nil, err
	}
	snap := &snapshot{Mosaic: m, path: path, unit: s.unit, durable: s.durable, column: s.column, blocks: blocks}
	snap.stack = s.prefetch.NewStack(func() (prefetch.Array, func()) {
		m.Open()
		return snap.array(m.Bounds(), 0), m.Close
	})
	return snap, nil
}

// closeIdle closes the idle cubes of all mags, and reports whether there was one.
func (s *snapshots) closeIdle() bool {
	closed := false
	for _, snap := range s.all() {
		closed = snap.CloseIdle() || closed
	}
	return closed
}

// all returns the last snapshots of all mags.
func (s *snapshots) all() []*snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(s.last.Values())
}

// retryOpen calls open. If the process has too many open files, it closes idle cubes and calls open again.
func retryOpen[T any](s *snapshots, open func() (T, error)) (T, error) {
	opened, err := open()
	if errors.Is(err, syscall.EMFILE) && s.closeIdle() {
		return open()
	}
	return opened, err
}

// openCube opens a cube as a file of its own.
func (f *FS) openCube(m volume.Mag, c volume.Vec) (volume.CubeFile, error) {
	return retryOpen(&f.snapshots, func() (volume.CubeFile, error) { return m.OpenCube(c) })
}
