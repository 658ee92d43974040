package view_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/internal/view"
)

// readSlice reads a slice in pieces of n bytes.
func readSlice(tree fs.FS, z int, n int64) ([]byte, error) {
	f, err := tree.Open(fmt.Sprintf("slices/z%07d.tif", z))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	for off := int64(0); off < info.Size(); off += n {
		if _, err := vfs.ReadAt(context.Background(), f, b[off:min(off+n, info.Size())], off); err != nil && err != io.EOF {
			return nil, err
		}
	}
	return b, nil
}

// slicesOf returns all slices of newStreamed's mag, read without a cache.
func slicesOf(t *testing.T, plain fs.FS) [][]byte {
	t.Helper()
	var all [][]byte
	for z := range 128 {
		b, err := readSlice(plain, z, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// TestStackOfSlices reads all slices in their order: they are those of the mag, and once it is known that they all
// will be read, they come out of slabs, as the volume does.
func TestStackOfSlices(t *testing.T) {
	dir, plain := newStreamed(t)
	want := slicesOf(t, plain)
	blocks := cache.New(64 << 20)
	defer blocks.Close()
	tree := newTree(t, dir, view.Options{Cache: blocks})
	for z := range want {
		if got, err := readSlice(tree, z, 4096); err != nil || !bytes.Equal(got, want[z]) {
			t.Fatalf("slice %d: %d bytes, not those that are there: %v", z, len(got), err)
		}
	}
	// Each of the first slices has bytes of 8 × 4 blocks.
	if got, most := wanted(blocks), uint64(5)*8*4; got > most {
		t.Errorf("%d blocks were wanted of the cache, expected at most %d", got, most)
	}
}

// TestWhoPicksSlices reads slices in other orders: no block is loaded twice, and none that nobody wants.
func TestWhoPicksSlices(t *testing.T) {
	dir, _ := newStreamed(t)
	const planes, layer = 128, 8 * 4 // blocks of one layer, which is 16 planes
	all := make([]int, planes)
	for i := range all {
		all[i] = i
	}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	random := rand.New(rand.NewPCG(1, 2)).Perm(planes)
	var byTwo []int // readers in order, one of each half
	for z := range planes / 2 {
		byTwo = append(byTwo, z, z+planes/2)
	}
	for _, c := range []struct {
		name string
		read []int
		most uint64 // loads
	}{
		{"one", []int{20}, layer},
		{"a few of a layer", []int{20, 21, 22, 17, 29, 19}, layer},
		{"back and forth", []int{20, 21, 20, 21, 22, 21, 20, 19, 18, 19, 20}, layer},
		{"backwards", backwards, planes / 16 * layer},
		{"random", random, planes / 16 * layer},
		{"every third", append(every(all, 3), every(all, 3)...), planes / 16 * layer},
		{"two readers in order", byTwo, planes / 16 * layer},
		{"in order, again and again", append(slices.Clone(all), all...), 2 * planes / 16 * layer},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks := cache.New(64 << 20)
			defer blocks.Close()
			tree := newTree(t, dir, view.Options{Cache: blocks})
			for _, z := range c.read {
				if _, err := readSlice(tree, z, 1<<20); err != nil {
					t.Fatal(err)
				}
			}
			if got := blocks.Stats().Loads; got > c.most {
				t.Errorf("%d loads, expected at most %d", got, c.most)
			}
		})
	}
}

// every returns each nth of some numbers.
func every(all []int, n int) (some []int) {
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// TestSlicesTogether has readers of the same stack, of every third slice, of slices from the last to the first, and of
// the volume, with memory for few of them.
func TestSlicesTogether(t *testing.T) {
	dir, plain := newStreamed(t)
	want := slicesOf(t, plain)
	for _, budget := range []int64{256 << 10, 2 << 20, 64 << 20} {
		blocks := cache.New(budget)
		defer blocks.Close()
		tree := newTree(t, dir, view.Options{Cache: blocks})
		var group sync.WaitGroup
		for reader := range 6 {
			group.Go(func() {
				for i := range want {
					z := [...]int{i, i, i * 3 % len(want), len(want) - 1 - i, i ^ 1, (i + 64) % len(want)}[reader]
					if got, err := readSlice(tree, z, 5000); err != nil || !bytes.Equal(got, want[z]) {
						t.Errorf("reader %d, slice %d: %d bytes, not those that are there: %v", reader, z, len(got), err)
						return
					}
				}
			})
		}
		group.Go(func() {
			if _, err := fs.ReadFile(tree, "volume.raw"); err != nil {
				t.Error(err)
			}
		})
		group.Wait()
	}
}

// TestStackIsLeft holds that a stream of slices has memory while somebody may open another slice, and no longer.
func TestStackIsLeft(t *testing.T) {
	dir, _ := newStreamed(t)
	synctest.Test(t, func(t *testing.T) {
		const budget = 4 << 20
		blocks := cache.New(budget)
		defer blocks.Close()
		tree := newTree(t, dir, view.Options{Cache: blocks})
		free := func() bool {
			if blocks.Reserve(budget / 2) {
				blocks.Unreserve(budget / 2)
				return true
			}
			return false
		}
		read := func(from, to int) {
			for z := from; z < to; z++ {
				if _, err := readSlice(tree, z, 4096); err != nil {
					t.Fatal(err)
				}
			}
		}
		read(0, 60)
		if free() {
			t.Error("60 slices were read, and there is no stream")
		}
		time.Sleep(4 * time.Second)
		read(60, 61)
		time.Sleep(4 * time.Second)
		if free() {
			t.Error("the stream has not waited for the next slice")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !free() {
			t.Error("nobody has read a slice for 6 seconds, and the memory is not free")
		}
		read(61, 128)
		time.Sleep(time.Minute)
	})
}
