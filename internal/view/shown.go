package view

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/mosaic"
	"github.com/wkwfs/wkwfs/internal/prefetch"
	"github.com/wkwfs/wkwfs/volume"
)

// shown is the voxels of a mag in one snapshot, and what files made of them have in common.
type shown struct {
	*mosaic.Mosaic
	blocks  *cache.Source
	stack   *prefetch.Stack // of the whole volume's planes
	layouts sync.Map        // of the whole volume: format's suffix → result of makeLayout
}

// array lays out a box, in absolute voxels of the mag, that has head bytes in front of it in its file.
func (m *shown) array(box volume.Box, head int) prefetch.Array {
	return prefetch.Array{Array: m.Flat(box), Source: m.blocks, Version: m.Version(), Head: int64(head)}
}

// describe describes a box for a header.
func (m *shown) describe(name string, box volume.Box) header.Array {
	g := m.Grid()
	g.Size, g.Origin = box.Size(), box.Min
	return header.Array{Grid: g, Data: volumeStem + rawSuffix, Name: name, Category: m.About().Category}
}

// plane returns the z of a file of the box, both in absolute voxels of the mag, and how many bytes lie before it in the
// volume; false unless the box is one plane, and all of it, of a volume that is a file itself.
func (m *shown) plane(box volume.Box) (z int, offset int64, ok bool) {
	whole, grid := m.Bounds(), m.Grid()
	grid.Size = whole.Size()
	whole.Min[2], whole.Max[2] = box.Min[2], box.Min[2]+1
	if box != whole || box.Intersect(m.Bounds()).Empty() || grid.Validate() != nil {
		return 0, 0, false
	}
	grid.Size[2] = 1
	return box.Min[2], int64(box.Min[2]-m.Bounds().Min[2]) * grid.Bytes(), true
}

// shelf keeps what is shown of each mag that was asked for.
type shelf struct {
	prefetch *prefetch.Prefetcher
	shared   bool

	mu    sync.Mutex
	shown map[volume.Mag]*shown
}

// get returns what is shown of the mag if it is good enough, else a new snapshot.
func (s *shelf) get(mag volume.Mag, good func(*shown) bool) (*shown, error) {
	s.mu.Lock()
	m := s.shown[mag]
	s.mu.Unlock()
	begun := time.Now()
	if m != nil && good(m) {
		return m, nil
	}
	made, err := open(s, func() (*shown, error) { return s.show(mag, m) })
	if err != nil {
		return nil, err
	}
	for {
		s.mu.Lock()
		now := s.shown[mag]
		if now == m {
			s.shown[mag] = made
		}
		s.mu.Unlock()
		switch {
		case now == m:
			return made, nil
		case now.Taken().After(begun) || good(now): // another reader was quicker
			return now, nil
		}
		m = now
	}
}

// open opens something. If the process may have no more files open, cubes that no file needs now are closed for it.
func open[T any](s *shelf, what func() (T, error)) (T, error) {
	opened, err := what()
	if errors.Is(err, syscall.EMFILE) && s.closeIdle() {
		return what()
	}
	return opened, err
}

// openCube opens a cube as a file of its own.
func (t *tree) openCube(m volume.Mag, c volume.Vec) (volume.CubeFile, error) {
	return open(&t.shelf, func() (volume.CubeFile, error) { return m.OpenCube(c) })
}

// closeIdle closes the cubes of all mags that are in no use, and reports whether there was one.
func (s *shelf) closeIdle() bool {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.shown))
	s.mu.Unlock()
	closed := false
	for _, m := range all {
		closed = m.CloseIdle() || closed
	}
	return closed
}

// show takes a snapshot of the mag, the next one after before if that is not nil.
func (s *shelf) show(mag volume.Mag, before *shown) (*shown, error) {
	taken, err := s.snapshot(mag, before)
	if err != nil {
		return nil, err
	}
	m := &shown{Mosaic: taken, blocks: s.prefetch.Cache().Source(taken)}
	m.stack = s.prefetch.NewStack(func() (prefetch.Array, func()) {
		m.Open()
		return m.array(m.Bounds(), 0), m.Close
	})
	return m, nil
}

func (s *shelf) snapshot(mag volume.Mag, before *shown) (*mosaic.Mosaic, error) {
	if before != nil {
		return before.Next()
	}
	return mosaic.New(mag, s.shared)
}
