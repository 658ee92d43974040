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
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/vfs"
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
		if _, err := vfs.ReadAt(context.Background(), f, b[off:min(off+n, info.Size())], off); err != nil &&
			err != io.EOF {
			return nil, err
		}
	}
	return b, nil
}

// slicesOf returns all slices of the mag of newMag.
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

// TestSlicesInOrder reads all slices in order. After the first slices, the rest are read from slabs, like the volume.
func TestSlicesInOrder(t *testing.T) {
	dir, plain := newMag(t)
	want := slicesOf(t, plain)
	blocks := cache.New(64 << 20)
	defer blocks.Close()
	tree := newTree(t, dir, view.Options{Cache: blocks})
	for z := range want {
		if got, err := readSlice(tree, z, 4096); err != nil || !bytes.Equal(got, want[z]) {
			t.Fatalf("slice %d: got %d bytes, not the expected ones: %v", z, len(got), err)
		}
	}
	// Each of the first slices has bytes of 8 × 4 blocks.
	if got, most := blockReads(blocks), uint64(5)*8*4; got > most {
		t.Errorf("%d blocks were read from the cache, expected at most %d", got, most)
	}
}

// TestSlicesReadOnce checks that slices are read past the page cache when they are opened in order, and only then.
func TestSlicesReadOnce(t *testing.T) {
	dir, _ := newMag(t)
	blocks := cache.New(64 << 20)
	defer blocks.Close()
	tree := newTree(t, dir, view.Options{Cache: blocks})
	for i, z := range []int{0, 1, 2, 3, 4, 5, 40, 20} {
		f, err := tree.Open(fmt.Sprintf("slices/z%07d.tif", z))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := f.(vfs.Pusher).ReadOnce(), i >= 1 && i <= 5; got != want {
			t.Errorf("slice %d is read once: %v, expected %v", z, got, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSlicesInOtherOrders reads slices in other orders. No block is loaded twice, and only blocks of the slices are
// loaded.
func TestSlicesInOtherOrders(t *testing.T) {
	dir, _ := newMag(t)
	const planes, slab = 128, 8 * 4 // blocks of a slab, which is 16 planes
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
		{"one", []int{20}, slab},
		{"a few of a slab", []int{20, 21, 22, 17, 29, 19}, slab},
		{"back and forth", []int{20, 21, 20, 21, 22, 21, 20, 19, 18, 19, 20}, slab},
		{"backwards", backwards, planes / 16 * slab},
		{"random", random, planes / 16 * slab},
		{"every third", append(every(all, 3), every(all, 3)...), planes / 16 * slab},
		{"two readers in order", byTwo, planes / 16 * slab},
		{"in order, again and again", append(slices.Clone(all), all...), 2 * planes / 16 * slab},
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

// every returns every nth number.
func every(all []int, n int) (some []int) {
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// TestSlicesConcurrently runs readers of slices in several orders, and a reader of the volume. There is memory for the
// slabs of a few of them.
func TestSlicesConcurrently(t *testing.T) {
	dir, plain := newMag(t)
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
						t.Errorf("reader %d, slice %d: got %d bytes, not the expected ones: %v", reader, z, len(got),
							err)
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

// TestSlicesReleaseMemory reads slices in order. Their slabs keep memory while the next slice may be opened, and no
// longer.
func TestSlicesReleaseMemory(t *testing.T) {
	dir, _ := newMag(t)
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
			t.Error("no memory is reserved after 60 slices")
		}
		time.Sleep(4 * time.Second)
		read(60, 61)
		time.Sleep(4 * time.Second)
		if free() {
			t.Error("no memory is reserved 4 seconds after a slice")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !free() {
			t.Error("memory is still reserved 6 seconds after the last slice")
		}
		read(61, 128)
		time.Sleep(time.Minute)
	})
}
