package prefetch

import (
	"bytes"
	"math"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestThickness: portions have several slabs if blocks have few planes, whole cells of them, and no more than fit into
// the limits.
func TestThickness(t *testing.T) {
	for _, test := range []struct {
		size, block volume.Vec
		want        int
	}{
		{volume.Vec{1024, 1024, 64}, volume.Vec{1024, 64, 1}, 16},
		{volume.Vec{1024, 1024, 64}, volume.Vec{64, 64, 3}, 4},
		{volume.Vec{1024, 1024, 64}, volume.Vec{64, 64, 8}, 1},
		{volume.Vec{1024, 1024, 64}, volume.Vec{32, 32, 32}, 1},
		{volume.Vec{4096, 1024, 64}, volume.Vec{4096, 64, 1}, 8},
		{volume.Vec{8192, 2048, 64}, volume.Vec{8192, 64, 1}, 1},
		{volume.Vec{16384, 2048, 64}, volume.Vec{16384, 64, 1}, 1},
		{volume.Vec{8192, 8192, 64}, volume.Vec{8192, 64, 1}, 1},
	} {
		g := voxeltest.Grid(test.size, test.block, volume.Uint8, 1)
		l := newLayout(flat.New(g, volume.Box{Max: test.size}, volume.Box{Max: test.size}), &usual)
		p := plan{layout: l}
		if got := p.thickness(vfs.Speed{AtOnce: true}, l); got != test.want {
			t.Errorf("%v in blocks of %v: %d slabs, want %d", test.size, test.block, got, test.want)
		}
		if got := p.thickness(vfs.Speed{Late: true, Long: math.MaxInt}, l); got != max(test.want, l.cell[2]) {
			t.Errorf("%v in blocks of %v: %d slabs of a distant source, want %d or a cell", test.size, test.block, got,
				test.want)
		}
	}
}

// TestThinSlabs reads an array whose blocks have one plane. All planes but the first of each portion are pushed, so the
// page cache gets most of them, and each block is decoded once.
func TestThinSlabs(t *testing.T) {
	size := volume.Vec{128, 128, 100}
	src := voxeltest.Source{Shape: voxeltest.Grid(size, volume.Vec{128, 32, 1}, volume.Uint8, 1)}
	all := volume.Box{Max: size}
	want, plane := src.Flat(all), 128*128
	synctest.Test(t, func(t *testing.T) {
		blocks := cache.New(64 << 20)
		defer blocks.Close()
		r := New(blocks).NewReader(Array{Array: flat.New(src.Shape, all, all), Source: blocks.Source(src)}, NoHint)
		defer r.Close()
		var mu sync.Mutex
		pushed := make([]bool, size[2])
		r.Push(vfs.Sink{All: true, Page: 4 << 10, Piece: 256 << 10, Write: func(b []byte, off int64) bool {
			mu.Lock()
			defer mu.Unlock()
			if !bytes.Equal(b, want[off:][:len(b)]) {
				t.Errorf("%d bytes at %d are wrong", len(b), off)
			}
			for z := range len(b) / plane {
				pushed[int(off)/plane+z] = true
			}
			return true
		}})
		read := 0
		for z := range size[2] {
			mu.Lock()
			known := pushed[z]
			mu.Unlock()
			if known {
				continue
			}
			p := make([]byte, plane)
			if n, err := r.ReadAt(t.Context(), p, int64(z*plane)); n != plane || err != nil ||
				!bytes.Equal(p, want[z*plane:][:plane]) {
				t.Fatalf("plane %d: %d bytes, %v", z, n, err)
			}
			read++
			synctest.Wait()
		}
		// The first 192 KiB make the reader sequential. The rest of their piece is not pushed, because the reader is in
		// it. Each further portion of 16 planes has a first plane.
		if read > 16+6 {
			t.Errorf("%d planes were read, and not pushed", read)
		}
		if got := blocks.Stats().Loads; got > uint64(size[2]*4+12*4) {
			t.Errorf("%d blocks were loaded, of %d", got, size[2]*4)
		}
	})
}
