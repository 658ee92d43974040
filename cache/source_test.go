package cache

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// customSource is an array with a custom Fill.
type customSource struct {
	*array
	fill func(blocks []volume.Block, memory func(volume.Vec) []byte)
}

func (f customSource) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	f.fill(blocks, memory)
}

// decode decodes a block into memory that was lent.
func (f customSource) decode(b *volume.Block, memory func(volume.Vec) []byte) {
	b.Voxels = memory(b.At)
	copy(b.Voxels, f.content(b.At))
}

// Fill may reorder the blocks, use several goroutines, and request memory twice or for blocks that were never written.
func TestFill(t *testing.T) {
	a := customSource{array: newArray(1, volume.Vec{8, 1, 1}, 5000)}
	absent := volume.Vec{5, 0, 0}
	a.fill = func(blocks []volume.Block, memory func(volume.Vec) []byte) {
		slices.Reverse(blocks)
		done := make(chan bool)
		for i := range blocks {
			b := &blocks[i]
			go func() {
				memory(b.At)
				if b.At != absent {
					a.decode(b, memory)
				}
				done <- true
			}()
		}
		for range blocks {
			<-done
		}
	}
	for _, budget := range []int64{0, 1 << 20} {
		c := newTestCache(t, budget)
		src := c.Source(a)
		for range 2 {
			err := src.Read(t.Context(), row(0, 8), Always, func(at volume.Vec, voxels []byte) {
				if at == absent && voxels != nil || at != absent && !bytes.Equal(voxels, a.content(at)) {
					t.Errorf("block %v: wrong bytes", at)
				}
			})
			if err != nil {
				t.Error(err)
			}
		}
		if got := lent(c); budget == 0 && got != 0 || budget > 0 && got != 7*2*int64(pageSize) {
			t.Errorf("budget %d: %d bytes lent", budget, got)
		}
	}
}

// A result that Fill must not return is an error of the block, and takes no memory.
func TestSourceErrors(t *testing.T) {
	const size = 5000
	for _, tt := range []struct {
		name string
		fill func(a customSource, b *volume.Block, memory func(volume.Vec) []byte)
		err  string
	}{
		{"short", func(a customSource, b *volume.Block, memory func(volume.Vec) []byte) {
			a.decode(b, memory)
			b.Voxels = b.Voxels[:size-1]
		}, "block 1,0,0: 4999 bytes, expected 5000"},
		{"long", func(a customSource, b *volume.Block, memory func(volume.Vec) []byte) {
			a.decode(b, memory)
			b.Voxels = b.Voxels[:size+1]
		}, "block 1,0,0: 5001 bytes, expected 5000"},
		{"empty", func(a customSource, b *volume.Block, memory func(volume.Vec) []byte) {
			b.Voxels = []byte{}
		}, "block 1,0,0: 0 bytes, expected 5000"},
		{"other memory", func(a customSource, b *volume.Block, memory func(volume.Vec) []byte) {
			b.Voxels = a.content(b.At)
		}, "block 1,0,0: its voxels are not in the memory that was lent for them"},
		{"other memory in addition to what was lent",
			func(a customSource, b *volume.Block, memory func(volume.Vec) []byte) {
				memory(b.At)
				b.Voxels = a.content(b.At)
			}, "block 1,0,0: its voxels are not in the memory that was lent for them"},
		{"another block", func(a customSource, b *volume.Block, memory func(volume.Vec) []byte) {
			b.At = volume.Vec{0, 0, 0}
			a.decode(b, memory)
		}, "block 1,0,0: the source returned without a result for it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := customSource{array: newArray(1, volume.Vec{3, 1, 1}, size)}
			a.fill = func(blocks []volume.Block, memory func(volume.Vec) []byte) {
				for i := range blocks {
					if blocks[i].At[0] == 1 {
						tt.fill(a, &blocks[i], memory)
					} else {
						a.decode(&blocks[i], memory)
					}
				}
			}
			c := newTestCache(t, 1<<20)
			src := c.Source(a)
			if err := <-readBlocks(t.Context(), src, row(0, 3)); err == nil || err.Error() != tt.err {
				t.Errorf("%v, expected %s", err, tt.err)
			}
			checkBlocks(t, src, a.array, []volume.Vec{{0, 0, 0}, {2, 0, 0}})
			if st := c.Stats(); st.Loads != 3 || st.Failures != 1 || lent(c) != 2*2*int64(pageSize) {
				t.Errorf("%+v, %d bytes lent", st, lent(c))
			}
		})
	}
}

// If Fill returns another block than the requested ones, the requested ones fail.
func TestUnrequestedBlock(t *testing.T) {
	a := customSource{array: newArray(1, volume.Vec{3, 1, 1}, 5000)}
	for _, fill := range []func(blocks []volume.Block, memory func(volume.Vec) []byte){
		func(blocks []volume.Block, memory func(volume.Vec) []byte) { blocks[0].At[0] = 2 },
		func(blocks []volume.Block, memory func(volume.Vec) []byte) { memory(volume.Vec{2, 0, 0}) },
	} {
		a.fill = fill
		src := newTestCache(t, 1<<20).Source(a)
		for _, bs := range [][]volume.Vec{row(0, 1), row(0, 2)} {
			if err := <-readBlocks(t.Context(), src, bs); err == nil {
				t.Errorf("no error for %d blocks although the source returned another block", len(bs))
			}
		}
	}
}
