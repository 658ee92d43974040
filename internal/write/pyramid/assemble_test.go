package pyramid

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestCanceledDirect cancels writes past the page cache after some reads. Nothing half is left, and the next call
// completes the layer.
func TestCanceledDirect(t *testing.T) {
	stops := []int{1, 5, 9}
	if testing.Short() {
		stops = stops[1:2]
	}
	for _, stop := range stops {
		c := directCase(t)
		ctx, cancel := context.WithCancel(t.Context())
		reads := 0
		c.src.sequential = true
		c.src.onRead = func() {
			if reads++; reads == stop {
				cancel()
			}
		}
		if err := Write(ctx, c.src, c.Layer); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped after %d reads: %v", stop, err)
		}
		cancel()
		c.checkNoTemp(t)
		c.src.next = 0
		c.write(t)
	}
}

// directCase returns a case of large cubes on a disk, compressed.
func directCase(t *testing.T) layerCase {
	c := newCase(t, rand.New(rand.NewPCG(1, 2)), header(32, 8, wkw.LZ4, volume.Uint8), box(0, 0, 0, 120, 250, 300), two)
	c.Memory = 256 << 20
	c.onDisk(t)
	return c
}

// TestDiskFailsDirect: an error of the disk ends the call with just that error, and nothing half is left.
func TestDiskFailsDirect(t *testing.T) {
	c := directCase(t)
	if !writesDirectly(c.Temp) {
		t.Skip("the file system of temporary files is written through the page cache")
	}
	w := &writer{layer: c.Layer}
	if err := w.plan(); err != nil {
		t.Fatal(err)
	}
	w.disk.do(func() error { return syscall.ENOSPC })
	err := w.disk.cause(errors.Join(w.writeAll(t.Context(), c.src), w.close()))
	if err != syscall.ENOSPC {
		t.Errorf("got %v", err)
	}
	c.checkNoTemp(t)
}

// TestSpoolWaits: if the memory is full, a chunk waits for sub-cubes that are copied out of the spool. It goes to the
// file only if they free nothing.
func TestSpoolWaits(t *testing.T) {
	for _, frees := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newSpool(100, 100, t.TempDir())
			defer s.close()
			k := &worker{}
			first := spoolRun(t, s, k, 'a')
			if err := s.sealOf(k); err != nil { // fills the memory
				t.Fatal(err)
			}
			s.leave(1)
			second := spoolRun(t, s, k, 'b')
			sealed := make(chan error)
			go func() { sealed <- s.sealOf(k) }()
			synctest.Wait()
			select {
			case err := <-sealed:
				t.Fatalf("did not wait: %v", err)
			default:
			}
			if frees {
				s.release(first)
			}
			s.leave(-1)
			if err := <-sealed; err != nil || s.inMemory() != frees {
				t.Errorf("%v, in memory: %v, want %v", err, s.inMemory(), frees)
			}
			var buf []byte
			if got, err := s.read(second, 0, 80, &buf); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{'b'}, 80)) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// spoolRun appends a run of 80 equal bytes to the chunk of a worker.
func spoolRun(t *testing.T, s *spool, k *worker, b byte) run {
	room, err := s.room(k, 80)
	if err != nil {
		t.Fatal(err)
	}
	n := copy(room[:80], bytes.Repeat([]byte{b}, 80))
	return s.commit(k, n, 1)
}
