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
	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

var (
	sceneSize   = volume.Vec{512, 512, 32}
	sceneBlock  = volume.Vec{64, 64, 8}
	scenePlane  = int64(512 * 512)
	layerBlocks = 8 * 8
	errDamaged  = errors.New("damaged")
	sceneVoxels = sync.OnceValue(func() []byte { return naive(sceneSize) })
)

const (
	manyLayers = 16 << 20 // a budget for slabs of whole layers: two readers have room
	oneReader  = 9 << 20  // or one
	noLayers   = 5 << 20  // or only parts of layers, which are two
)

// scene is a source of four layers of blocks, its cache, and readers of it, in a bubble with a clock of its own.
type scene struct {
	t       *testing.T
	cache   *cache.Cache
	budget  int64
	shared  *Prefetcher
	source  *cache.Source
	loads   atomic.Int64
	gate    chan struct{} // not nil: blocks are loaded once it is closed
	damaged volume.Vec    // a block that cannot be read; none at the start
}

// inScene runs a test in a scene, and then holds that all memory was given back.
func inScene(t *testing.T, budget int64, f func(t *testing.T, s *scene)) {
	t.Helper()
	sceneVoxels() // with a clock that goes on
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, cache: cache.New(budget), budget: budget, damaged: volume.Cube(-1)}
		defer s.cache.Close()
		s.shared = New(s.cache)
		s.source = s.cache.Source(s)
		f(t, s)
		synctest.Wait()
		s.free(true)
	})
}

func (s *scene) Grid() volume.Grid {
	return volume.Grid{Size: sceneSize, Block: sceneBlock, Type: volume.Uint8, Channels: 1}
}

func (s *scene) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	s.loads.Add(int64(len(blocks)))
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

// reader returns a reader of a box.
func (s *scene) reader(box volume.Box, h Habit) *Reader {
	a := flat.New(s.Grid(), box, volume.Box{Max: sceneSize})
	return s.shared.NewReader(Array{Array: a, Source: s.source, Version: vfs.Version{1}}, h)
}

// all returns a reader of the whole volume.
func (s *scene) all(h Habit) *Reader { return s.reader(volume.Box{Max: sceneSize}, h) }

// read reads n bytes from off on, in pieces of 64 KiB, and compares them.
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
			x := box.Min[0] + int((at+int64(i))%r.array.Row())
			i += copy(want[i:], sceneVoxels()[(volume.Vec{x, y, z}).Index(sceneSize):][:box.Max[0]-x])
		}
		if !bytes.Equal(p, want) {
			s.t.Fatalf("%d bytes at %d: not those that are there", len(p), at)
		}
	}
}

// is expects a state, and memory if the state has some.
func (s *scene) is(r *Reader, want state) {
	s.t.Helper()
	if r.state != want || (r.reserved > 0) != (want != random) {
		s.t.Errorf("state %d with %d bytes, expected %d", r.state, r.reserved, want)
	}
}

// loaded waits until nothing is under way, and expects that so many blocks were loaded since it was called last.
func (s *scene) loaded(want int) {
	s.t.Helper()
	synctest.Wait()
	if got := s.loads.Swap(0); got != int64(want) {
		s.t.Errorf("%d blocks loaded, expected %d", got, want)
	}
}

// free expects that half of the budget can be reserved, or that it cannot.
func (s *scene) free(want bool) {
	s.t.Helper()
	got := s.cache.Reserve(s.budget / 2)
	if got {
		s.cache.Unreserve(s.budget / 2)
	}
	if got != want {
		s.t.Errorf("all memory is free: %v, expected %v", got, want)
	}
}
