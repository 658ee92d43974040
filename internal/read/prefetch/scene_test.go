package prefetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

var (
	sceneSize   = volume.Vec{512, 512, 32}
	sceneBlock  = volume.Vec{64, 64, 8}
	sceneGrid   = voxeltest.Grid(sceneSize, sceneBlock, volume.Uint8, 1)
	scenePlane  = int64(512 * 512)
	slabBlocks  = 8 * 8
	errDamaged  = errors.New("damaged")
	sceneVoxels = sync.OnceValue(
		func() []byte { return voxeltest.Source{Shape: sceneGrid}.Flat(volume.Box{Max: sceneSize}) })
)

const (
	fitsTwoReaders   = 16 << 20 // a budget for two readers with portions of whole slabs
	fitsOneReader    = 9 << 20  // for one such reader
	fitsPartialSlabs = 5 << 20  // only for portions of half slabs
)

// scene is a source of four slabs, its cache and its readers, in a synctest bubble.
type scene struct {
	t          *testing.T
	cache      *cache.Cache
	budget     int64
	prefetcher *Prefetcher
	source     *cache.Source
	loads      atomic.Int64
	longest    atomic.Int64 // blocks of the largest call of Fill
	longRead   int          // what LongRead returns
	late       bool         // what Late returns
	near       atomic.Bool  // what Near returns
	atOnce     bool         // what AnswersAtOnce returns
	announced  []volume.Box // by announceMu
	announceMu sync.Mutex
	gate       chan struct{} // if not nil, loads wait until it is closed
	damaged    volume.Vec    // a block that cannot be read; at first, none
}

// inScene runs a test in a scene, and then checks that all memory was released.
func inScene(t *testing.T, budget int64, f func(t *testing.T, s *scene)) {
	t.Helper()
	sceneVoxels() // outside of the bubble
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, cache: cache.New(budget), budget: budget, damaged: volume.Cube(-1)}
		defer s.cache.Close()
		s.prefetcher = New(s.cache)
		l := usual
		l.thickPlanes = 0 // slabs of a scene are not taken for thin ones
		s.prefetcher.limits = &l
		s.source = s.cache.Source(s)
		f(t, s)
		synctest.Wait()
		s.expectFree(true)
	})
}

func (s *scene) Grid() volume.Grid {
	return sceneGrid
}

// Speed implements vfs.SpeedReporter.
func (s *scene) Speed() vfs.Speed {
	return vfs.Speed{Late: s.late, Near: s.near.Load(), AtOnce: s.atOnce, Long: s.longRead}
}

// Announce implements volume.Announcer.
func (s *scene) Announce(_ context.Context, box volume.Box) {
	s.announceMu.Lock()
	defer s.announceMu.Unlock()
	s.announced = append(s.announced, box)
}

func (s *scene) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	s.loads.Add(int64(len(blocks)))
	if n := int64(len(blocks)); n > s.longest.Load() {
		s.longest.Store(n) // nothing needs the exact value of simultaneous calls
	}
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
		}
	}
	for i := range blocks {
		b := &blocks[i]
		if b.At == s.damaged {
			b.Err = errDamaged
			continue
		}
		b.Voxels = memory(b.At)
		lo := b.At.Mul(sceneBlock)
		for y := range sceneBlock[1] {
			for z := range sceneBlock[2] {
				from := lo.Add(volume.Vec{0, y, z}).Index(sceneSize)
				copy(b.Voxels[(volume.Vec{0, y, z}).Index(sceneBlock):][:sceneBlock[0]], sceneVoxels()[from:])
			}
		}
	}
}

// open returns a reader of a box.
func (s *scene) open(box volume.Box, h Hint) *Reader {
	a := flat.New(s.Grid(), box, volume.Box{Max: sceneSize})
	return s.prefetcher.NewReader(Array{Array: a, Source: s.source}, h)
}

// openAll returns a reader of the whole volume.
func (s *scene) openAll(h Hint) *Reader { return s.open(volume.Box{Max: sceneSize}, h) }

// read reads n bytes at off in pieces of 64 KiB, and compares them.
func (s *scene) read(r *Reader, off, n int64) {
	s.t.Helper()
	for at := off; at < off+n; at += 64 * k {
		p := make([]byte, min(64*k, off+n-at))
		if got, err := r.ReadAt(s.t.Context(), p, at); got != len(p) || err != nil && err != io.EOF {
			s.t.Fatalf("%d bytes at %d: %d, %v", len(p), at, got, err)
		}
		want := make([]byte, len(p))
		box := r.array.Box()
		for i := 0; i < len(p); { // row by row of the box
			y, z := r.array.RowAt(at + int64(i))
			x := box.Min[0] + int((at+int64(i))%r.array.RowBytes())
			i += copy(want[i:], sceneVoxels()[(volume.Vec{x, y, z}).Index(sceneSize):][:box.Max[0]-x])
		}
		if !bytes.Equal(p, want) {
			s.t.Fatalf("%d bytes at %d: wrong bytes", len(p), at)
		}
	}
}

// expectState checks the state of a reader, and that it has memory except in the random state.
func (s *scene) expectState(r *Reader, want state) {
	s.t.Helper()
	if r.plan.state != want || (r.ledger.reserved > 0) != (want != random) {
		s.t.Errorf("state %d with %d bytes, expected %d", r.plan.state, r.ledger.reserved, want)
	}
}

// expectLoads waits until nothing is in progress, and checks the number of blocks loaded since its last call.
func (s *scene) expectLoads(want int) {
	s.t.Helper()
	synctest.Wait()
	if got := s.loads.Swap(0); got != int64(want) {
		s.t.Errorf("%d blocks loaded, expected %d", got, want)
	}
}

// expectFree checks whether half of the budget can be reserved.
func (s *scene) expectFree(want bool) {
	s.t.Helper()
	got := s.cache.Reserve(s.budget / 2)
	if got {
		s.cache.Unreserve(s.budget / 2)
	}
	if got != want {
		s.t.Errorf("half of the budget can be reserved: %v, expected %v", got, want)
	}
}
