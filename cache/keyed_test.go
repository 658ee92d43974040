package cache

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// blocksPerFile is the number of blocks in each file of a keyed array.
const blocksPerFile = 4

// keyed is a row of blocks in files. The version of a file is known after it was resolved.
type keyed struct {
	*array
	files   []vfs.Version // zero: the file does not exist
	resolve func(ctx context.Context, file int) error

	mu       sync.Mutex
	known    map[int]bool // by file
	resolved int
}

func newKeyed(size int, files ...byte) *keyed {
	k := &keyed{array: newArray(1, volume.Vec{len(files) * blocksPerFile, 1, 1}, size), known: map[int]bool{}}
	for _, version := range files {
		k.files = append(k.files, vfs.Version{version})
	}
	return k
}

func (k *keyed) Key(at volume.Vec) (volume.Key, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return volume.Key{Version: k.files[at[0]/blocksPerFile], Index: uint64(at[0] % blocksPerFile)},
		k.known[at[0]/blocksPerFile]
}

func (k *keyed) Resolve(ctx context.Context, at volume.Vec) error {
	file := at[0] / blocksPerFile
	if k.resolve != nil {
		if err := k.resolve(ctx, file); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.resolved++
	k.known[file] = true
	return nil
}

// content returns the voxels of a block. Blocks with the same key have the same voxels.
func (k *keyed) content(at volume.Vec) []byte {
	version := k.files[at[0]/blocksPerFile]
	if version == absent {
		return nil
	}
	return k.array.content(volume.Vec{at[0] % blocksPerFile, int(version[0]), 0})
}

func (k *keyed) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	fill(ctx, blocks, memory, func(ctx context.Context, at volume.Vec) ([]byte, error) {
		_, err := k.load(ctx, at)
		return k.content(at), err
	})
}

// checkKeyed reads blocks of a row and compares them with the source.
func checkKeyed(t *testing.T, src *Source, k *keyed, from, to int) {
	t.Helper()
	n := 0
	err := src.Read(t.Context(), row(from, to), Always, func(at volume.Vec, voxels []byte) {
		n++
		if want := k.content(at); !bytes.Equal(voxels, want) || (voxels == nil) != (want == nil) {
			t.Errorf("block %v: wrong bytes", at)
		}
	})
	if err != nil || n != to-from {
		t.Errorf("%d of %d blocks, %v", n, to-from, err)
	}
}

// Blocks of files that do not exist are not loaded. Blocks of the same version are loaded once. Each file is resolved
// once.
func TestKeyed(t *testing.T) {
	c := newTestCache(t, 1<<20)
	one, two := newKeyed(5000, 1, 0, 2, 1, 0), newKeyed(5000, 0, 3, 2)
	src := c.Source(one)
	for range 2 {
		checkKeyed(t, src, one, 0, 20)
		checkKeyed(t, src, one, 3, 9)
	}
	if one.total() != 8 || one.resolved != 5 {
		t.Errorf("%d blocks loaded and %d files resolved, expected 8 and 5", one.total(), one.resolved)
	}
	src = c.Source(two)
	checkKeyed(t, src, two, 0, 12)
	if two.total() != 4 || two.resolved != 3 {
		t.Errorf("%d blocks loaded and %d files resolved, expected 4 and 3", two.total(), two.resolved)
	}
	h := newHold(t, src, row(0, 12), 5, Never)
	if err := h.Wait(t.Context(), 0, 11); err != nil {
		t.Error(err)
	}
	for i := range 12 {
		if want := two.content(volume.Vec{i, 0, 0}); !bytes.Equal(h.Voxels()[i], want) {
			t.Errorf("block %d of a hold: wrong bytes", i)
		}
	}
	h.Close()
}

// The zero version means absent blocks only for keyed sources.
func TestVersionOfZeros(t *testing.T) {
	a := versionedArray{newArray(1, volume.Vec{4, 1, 1}, 5000), vfs.Version{}}
	checkBlocks(t, newTestCache(t, 1<<20).Source(a), a.array, row(0, 4))
}

// If a file cannot be resolved, reads of its blocks fail. Later requests try again.
func TestResolveFails(t *testing.T) {
	gone := errors.New("gone")
	for name, end := range map[string]func() error{
		"gone": func() error { return gone },
		"block 4,0,0: panic in cache.resolve: ouch": func() error { panic("ouch") },
		"block 4,0,0: the source ended ":            func() error { runtime.Goexit(); return nil },
	} {
		c := newTestCache(t, 1<<20)
		k := newKeyed(5000, 1, 2, 3)
		k.resolve = func(_ context.Context, file int) error {
			if file == 1 {
				return end()
			}
			return nil
		}
		src := c.Source(k)
		checkKeyed(t, src, k, 0, 4)
		if err := <-readBlocks(t.Context(), src, row(2, 9)); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%v, expected %s", err, name)
		}
		h := newHold(t, src, row(0, 12), 4, Never)
		for file := range 3 {
			err := h.Wait(t.Context(), file*blocksPerFile, file*blocksPerFile+3)
			if (file == 1) != (err != nil) || err != nil && !strings.HasPrefix(err.Error(), name) {
				t.Errorf("batch %d of a hold: %v, expected %s", file, err, name)
			}
		}
		h.Close()
		k.resolve = nil
		checkKeyed(t, src, k, 0, 12)
	}
}

// The same file may be part of two arrays with different block sizes, for example by a hard link.
func TestFileWithTwoBlockSizes(t *testing.T) {
	c := newTestCache(t, 1<<20)
	for _, size := range []int{64, 32, 64} {
		s := c.Source(newKeyed(size, 1))
		err := s.Read(t.Context(), []volume.Vec{{}}, Always, func(_ volume.Vec, voxels []byte) {
			if len(voxels) != size {
				t.Errorf("a block of %d bytes, want %d", len(voxels), size)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}
