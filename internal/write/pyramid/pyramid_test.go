package pyramid

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// header returns the header of cubes of one channel. Both sides are given: of a block in voxels, and of a cube in
// blocks.
func header(block, blocks int, bt wkw.BlockType, t volume.Type) wkw.Header {
	return wkw.Header{BlockSide: block, CubeBlocks: blocks, BlockType: bt, Type: t, Channels: 1}
}

var (
	two   = volume.Factor{2, 2, 2}
	flat2 = volume.Factor{2, 2, 1}
	four  = volume.Factor{4, 4, 2}
)

func box(x0, y0, z0, x1, y1, z1 int) volume.Box {
	return volume.Box{Min: volume.Vec{x0, y0, z0}, Max: volume.Vec{x1, y1, z1}}
}

// TestWrite writes layers at the limits of blocks, slabs and cubes, with enough memory and with nearly none.
func TestWrite(t *testing.T) {
	for _, test := range []struct {
		name    string
		header  wkw.Header
		box     volume.Box
		factors []volume.Factor
	}{
		{"one voxel", header(8, 2, wkw.LZ4, volume.Uint8), box(0, 0, 0, 1, 1, 1), []volume.Factor{two}},
		{"one cube", header(8, 2, wkw.LZ4, volume.Uint16), box(0, 0, 0, 16, 16, 16), []volume.Factor{two}},
		{"across cubes", header(8, 2, wkw.LZ4, volume.Uint8), box(15, 15, 15, 17, 17, 17), []volume.Factor{two}},
		{"odd", header(8, 4, wkw.LZ4, volume.Uint32), box(5, 30, 11, 42, 71, 70), []volume.Factor{flat2, four}},
		{"raw", header(8, 4, wkw.Raw, volume.Uint16), box(5, 30, 11, 42, 71, 70), []volume.Factor{flat2, four}},
		{"raw, tall", header(8, 16, wkw.Raw, volume.Uint8), box(5, 130, 11, 42, 201, 170),
			[]volume.Factor{flat2, four}},
		{"hard", header(16, 2, wkw.LZ4HC, volume.Uint8), box(5, 30, 11, 42, 71, 70), []volume.Factor{two}},
		{"one plane", header(32, 1, wkw.LZ4, volume.Uint8), box(0, 0, 7, 100, 90, 8), []volume.Factor{flat2}},
		{"blocks of one voxel", header(1, 8, wkw.LZ4, volume.Uint8), box(1, 2, 3, 9, 8, 7), []volume.Factor{two}},
		{"cubes of one block", header(4, 1, wkw.Raw, volume.Uint64), box(3, 3, 3, 14, 9, 11),
			[]volume.Factor{two, {4, 4, 4}}},
		{"large cube", header(4, 32, wkw.LZ4, volume.Uint8), box(3, 0, 0, 128, 40, 110), nil},
		{"far", header(8, 4, wkw.LZ4, volume.Uint8), box(1<<30+5, 1<<20, 99999, 1<<30+40, 1<<20+33, 100033),
			[]volume.Factor{two}},
	} {
		for _, memory := range []int64{1, 100 << 10, 64 << 20} {
			for _, kind := range []string{"any", "sequential", "planes"} {
				if testing.Short() && kind != "any" && memory != 100<<10 {
					continue // goroutines do the same with any memory
				}
				t.Run(fmt.Sprintf("%s/%d/%s", test.name, memory, kind), func(t *testing.T) {
					t.Parallel() // syncing is waiting
					c := newCase(t, rand.New(rand.NewPCG(1, 2)), test.header, test.box, test.factors...)
					c.Memory = memory
					c.src.sequential, c.src.wholePlanes = kind == "sequential", kind == "planes"
					c.write(t)
					if got, want := c.Stats.DoneBytes.Load(), int64(len(c.src.voxels)); got != want ||
						c.Stats.AllBytes.Load() != want {
						t.Errorf("%d of %d bytes are done, want %d", got, c.Stats.AllBytes.Load(), want)
					}
					for z, n := range c.src.reads {
						if plane := len(c.src.voxels) / c.src.size[2]; n != plane {
							t.Errorf("%d bytes of plane %d were read, want %d", n, z, plane)
						}
					}
				})
			}
		}
	}
}

// TestRandom writes random layers.
func TestRandom(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 15
	}
	for seed := range uint64(n) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			types := volume.Types()
			h := header(1<<(1+r.IntN(4)), 1<<r.IntN(4), wkw.BlockType(1+r.IntN(3)), types[r.IntN(len(types))])
			for h.BlockSide*h.CubeBlocks < 8 && seed%4 > 0 {
				h.CubeBlocks *= 2 // fewer files
			}
			h.Channels = 1 + r.IntN(2)*2*r.IntN(2)
			var b volume.Box
			for axis := range 3 {
				b.Min[axis] = r.IntN(70)
				b.Max[axis] = b.Min[axis] + 1 + r.IntN(60)
			}
			var factors []volume.Factor
			f := volume.Factor{1, 1, 1}
			for range r.IntN(4) {
				for axis := range 3 {
					f[axis] *= 1 + r.IntN(2)
				}
				if len(factors) == 0 && f == (volume.Factor{1, 1, 1}) ||
					len(factors) > 0 && f == factors[len(factors)-1] {
					f[0] *= 2
				}
				factors = append(factors, f)
			}
			c := newCase(t, r, h, b, factors...)
			c.Memory, c.Jobs = 1<<r.IntN(24), 1+r.IntN(5)
			c.Method = downsample.Nearest
			if h.Type.IsInteger() {
				c.Method = []downsample.Method{downsample.Mean, downsample.Mode, downsample.Nearest,
					downsample.Max}[r.IntN(4)]
			}
			c.src.sequential = r.IntN(3) == 0
			c.src.wholePlanes = r.IntN(3) == 0
			c.write(t)
		})
	}
}

// TestZeros: a cube of zeros is not written.
func TestZeros(t *testing.T) {
	c := newCase(t, rand.New(rand.NewPCG(1, 2)), header(8, 2, wkw.LZ4, volume.Uint8), box(0, 0, 0, 48, 16, 16), two)
	clear(c.src.voxels)
	c.src.voxels[20] = 1 // of the second cube
	c.write(t)
	for name, want := range map[string]bool{"1/z0/y0/x0.wkw": false, "1/z0/y0/x1.wkw": true, "1/z0/y0/x2.wkw": false} {
		if _, err := os.Stat(filepath.Join(c.Temp, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c.Stats.Written.Load() != 1 || c.Stats.Empty.Load() != 4 {
		t.Errorf("%d cubes are written and %d are empty", c.Stats.Written.Load(), c.Stats.Empty.Load())
	}
}

// TestCanceled cancels writes after each possible number of reads. Nothing half is left, and the next call completes
// the layer, from the last checkpoint.
func TestCanceled(t *testing.T) {
	for _, factors := range [][]volume.Factor{nil, {two}, {flat2, four}} {
		for stop := 1; ; stop++ {
			c := newCase(t, rand.New(rand.NewPCG(1, 2)), header(8, 2, wkw.LZ4, volume.Uint8), box(3, 3, 3, 40, 30, 100),
				factors...)
			ctx, cancel := context.WithCancel(t.Context())
			reads := 0
			c.src.onRead = func() {
				if reads++; reads == stop {
					cancel()
				}
			}
			c.Checkpoint = func(z int) error { c.From = z; return nil }
			err := Write(ctx, c.src, c.Layer)
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			c.checkNoTemp(t)
			kept := int64(max(c.From-3, 0) * 37 * 27)
			c.write(t)
			if got := c.Stats.KeptBytes.Load(); got != kept {
				t.Errorf("stopped after %d reads: kept %d bytes, want %d", stop, got, kept)
			}
		}
	}
}

// TestSourceFails: an error of the source ends the call, and nothing half is left.
func TestSourceFails(t *testing.T) {
	c := newCase(t, rand.New(rand.NewPCG(1, 2)), header(8, 4, wkw.LZ4, volume.Uint8), box(0, 0, 0, 64, 64, 64), two)
	c.src.voxels = c.src.voxels[:len(c.src.voxels)/2]
	c.src.size[2] /= 2 // the boxes of the other half fail
	if err := Write(t.Context(), c.src, c.Layer); err == nil {
		t.Fatal("no error")
	}
	c.checkNoTemp(t)
}

// TestHugeRows: a row of blocks that the spool cannot hold is refused before anything is allocated.
func TestHugeRows(t *testing.T) {
	c := newCase(t, rand.New(rand.NewPCG(1, 2)), header(8, 2, wkw.LZ4, volume.Uint8), box(0, 0, 0, 8, 8, 8))
	c.Mags[0].Header = header(512, 64, wkw.LZ4, volume.Uint8)
	if err := Write(t.Context(), c.src, c.Layer); err == nil ||
		!strings.Contains(err.Error(), "choose smaller blocks") {
		t.Errorf("got %v", err)
	}
}

// TestFactors: mags that are not once or twice as coarse as the one before are refused.
func TestFactors(t *testing.T) {
	for _, f := range []volume.Factor{{3, 1, 1}, {4, 4, 4}} {
		c := newCase(t, rand.New(rand.NewPCG(1, 2)), header(8, 2, wkw.LZ4, volume.Uint8), box(0, 0, 0, 8, 8, 8), f)
		if err := Write(t.Context(), c.src, c.Layer); err == nil {
			t.Errorf("mag %v: no error", f)
		}
	}
}
