package prefetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestWholeRead: a read of all of a small array that is read once decodes its blocks without a portion, and keeps no
// memory.
func TestWholeRead(t *testing.T) {
	box := volume.Box{Min: volume.Vec{70, 33, 3}, Max: volume.Vec{150, 120, 19}}
	const blocks = 2 * 2 * 3
	readAll := func(t *testing.T, s *scene, r *Reader) []byte {
		p := make([]byte, r.array.Size()+10)
		n, err := r.ReadAt(t.Context(), p, 0)
		if int64(n) != r.array.Size() || err != io.EOF {
			t.Fatal(n, err)
		}
		return p[:n]
	}
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r := s.open(box, HintOnce)
		defer r.Close()
		whole := readAll(t, s, r)
		s.expectLoads(blocks)
		s.expectState(r, random)
		s.expectFree(true)

		s.read(r, 0, r.array.Size()) // compares the bytes
		s.expectState(r, sequential)
		again := readAll(t, s, r)
		s.loads.Store(0)
		if !bytes.Equal(again, whole) {
			t.Error("the read of all has other bytes")
		}
	})
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		s.damaged = volume.Vec{2, 1, 1}
		r := s.open(box, HintOnce)
		defer r.Close()
		if n, err := r.ReadAt(t.Context(), make([]byte, r.array.Size()), 0); n != 0 || !errors.Is(err, errDamaged) {
			t.Error(n, err)
		}
		s.loads.Store(0)
	})
}

// TestWholeReadFails: an error of one block is that of the read, also if the source panics or ends the goroutine of a
// batch. A reader that is canceled does not wait for a source that hangs, and gets no byte later.
func TestWholeReadFails(t *testing.T) {
	for name, fail := range map[string]func(*testing.T, <-chan struct{}) error{
		"error":    func(*testing.T, <-chan struct{}) error { return errDamaged },
		"panic":    func(*testing.T, <-chan struct{}) error { panic(errDamaged) },
		"goexit":   func(*testing.T, <-chan struct{}) error { runtime.Goexit(); return nil },
		"injected": func(*testing.T, <-chan struct{}) error { return nil },
		"cancel":   func(_ *testing.T, closed <-chan struct{}) error { <-closed; return nil },
		"succeed":  func(*testing.T, <-chan struct{}) error { return nil },
	} {
		for _, speed := range []vfs.Speed{{}, {AtOnce: true}, {Late: true}, {Late: true, Long: 4 << 10}} {
			if name == "cancel" && speed.AtOnce {
				continue // it waits for its own blocks
			}
			synctest.Test(t, func(t *testing.T) {
				closed := make(chan struct{})
				d := decoder{voxeltest.Grid(volume.Cube(64), volume.Cube(16), volume.Uint8, 1), speed,
					func(at volume.Vec) error {
						if at == (volume.Vec{3, 2, 1}) {
							return fail(t, closed)
						}
						return nil
					}}
				if name == "injected" {
					defer guard.Inject(func(place string) {
						if place == "prefetch.together" {
							panic(name)
						}
					})()
				}
				c := cache.New(8 << 20)
				defer c.Close()
				p, whole := New(c), volume.Box{Max: d.grid.Size}
				l := usual
				l.leastBatch = 1
				p.limits = &l
				r := p.NewReader(Array{Array: flat.New(d.grid, whole, whole), Source: c.Source(d)}, HintOnce)
				ctx, cancel := context.WithCancel(t.Context())
				data, result := make([]byte, r.array.Size()), make(chan error, 1)
				go func() { // of the reader, which the source may end, too
					err := errUnfinished
					defer func() { result <- err }()
					err = guard.Do("test", func() error { _, err := r.ReadAt(ctx, data, 0); return err })
				}()
				if synctest.Wait(); name == "cancel" {
					cancel()
				}
				if err := <-result; (err == nil) != (name == "succeed") {
					t.Errorf("%s, %+v: %v", name, speed, err)
				}
				before := bytes.Clone(data)
				cancel()
				close(closed)
				r.Close()
				if synctest.Wait(); !bytes.Equal(data, before) {
					t.Errorf("%s, %+v: bytes are written after the return", name, speed)
				}
			})
		}
	}
}
