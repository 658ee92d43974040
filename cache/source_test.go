package cache

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// filled is an array with a Fill of its own.
type filled struct {
	*array
	fill func(blocks []volume.Block, memory func(volume.Vec) []byte)
}

func (f filled) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	f.fill(blocks, memory)
}

// lend decodes a block into memory that was lent.
func (f filled) lend(b *volume.Block, memory func(volume.Vec) []byte) {
	b.Voxels = memory(b.At)
	copy(b.Voxels, f.content(b.At))
}

// Sources may answer in another order and by several goroutines, ask for memory twice or for memory that they do not
// need.
func TestFill(t *testing.T) {
	a := filled{array: newArray(1, volume.Vec{8, 1, 1}, 5000)}
	unwritten := volume.Vec{5, 0, 0}
	a.fill = func(blocks []volume.Block, memory func(volume.Vec) []byte) {
		slices.Reverse(blocks)
		done := make(chan bool)
		for i := range blocks {
			b := &blocks[i]
			go func() {
				memory(b.At)
				if b.At != unwritten {
					a.lend(b, memory)
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
				if at == unwritten && voxels != nil || at != unwritten && !bytes.Equal(voxels, a.content(at)) {
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

// What a source must not do is an error, and takes no memory.
func TestSourcesThatErr(t *testing.T) {
	const size = 5000
	for _, tt := range []struct {
		name string
		fill func(a filled, b *volume.Block, memory func(volume.Vec) []byte)
		err  string
	}{
		{"short", func(a filled, b *volume.Block, memory func(volume.Vec) []byte) {
			a.lend(b, memory)
			b.Voxels = b.Voxels[:size-1]
		}, "block 1,0,0: 4999 bytes, expected 5000"},
		{"long", func(a filled, b *volume.Block, memory func(volume.Vec) []byte) {
			a.lend(b, memory)
			b.Voxels = b.Voxels[:size+1]
		}, "block 1,0,0: 5001 bytes, expected 5000"},
		{"empty", func(a filled, b *volume.Block, memory func(volume.Vec) []byte) {
			b.Voxels = []byte{}
		}, "block 1,0,0: 0 bytes, expected 5000"},
		{"memory of its own", func(a filled, b *volume.Block, memory func(volume.Vec) []byte) {
			b.Voxels = a.content(b.At)
		}, "block 1,0,0: its voxels are not in the memory that was lent for them"},
		{"memory of its own beside what was lent", func(a filled, b *volume.Block, memory func(volume.Vec) []byte) {
			memory(b.At)
			b.Voxels = a.content(b.At)
		}, "block 1,0,0: its voxels are not in the memory that was lent for them"},
		{"another block", func(a filled, b *volume.Block, memory func(volume.Vec) []byte) {
			b.At = volume.Vec{0, 0, 0}
			a.lend(b, memory)
		}, "block 1,0,0: the source said nothing of it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := filled{array: newArray(1, volume.Vec{3, 1, 1}, size)}
			a.fill = func(blocks []volume.Block, memory func(volume.Vec) []byte) {
				for i := range blocks {
					if blocks[i].At[0] == 1 {
						tt.fill(a, &blocks[i], memory)
					} else {
						a.lend(&blocks[i], memory)
					}
				}
			}
			c := newTestCache(t, 1<<20)
			src := c.Source(a)
			if err := <-readAt(t.Context(), src, row(0, 3)); err == nil || err.Error() != tt.err {
				t.Errorf("%v, expected %s", err, tt.err)
			}
			checkBlocks(t, src, a.array, []volume.Vec{{0, 0, 0}, {2, 0, 0}})
			if st := c.Stats(); st.Loads != 3 || st.Failures != 1 || lent(c) != 2*2*int64(pageSize) {
				t.Errorf("%+v, %d bytes lent", st, lent(c))
			}
		})
	}
}

// A block that was not asked for is an error of those that were.
func TestBlockNotAskedFor(t *testing.T) {
	a := filled{array: newArray(1, volume.Vec{3, 1, 1}, 5000)}
	for _, fill := range []func(blocks []volume.Block, memory func(volume.Vec) []byte){
		func(blocks []volume.Block, memory func(volume.Vec) []byte) { blocks[0].At[0] = 2 },
		func(blocks []volume.Block, memory func(volume.Vec) []byte) { memory(volume.Vec{2, 0, 0}) },
	} {
		a.fill = fill
		src := newTestCache(t, 1<<20).Source(a)
		for _, bs := range [][]volume.Vec{row(0, 1), row(0, 2)} {
			if err := <-readAt(t.Context(), src, bs); err == nil {
				t.Errorf("%d blocks are read of a source that answers with another", len(bs))
			}
		}
	}
}
