package prefetch

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// numbered is a source whose bytes tell where they are.
type numbered struct{ grid volume.Grid }

func (n numbered) Grid() volume.Grid { return n.grid }

func (n numbered) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels = memory(b.At)
		lo := b.At.Mul(n.grid.Block)
		for v := range (volume.Box{Max: n.grid.Block}).All() {
			b.Voxels[v.Index(n.grid.Block)] = numberAt(v.Add(lo))
		}
	}
}

func numberAt(v volume.Vec) byte { return byte(v[0]*7 + v[1]*31 + v[2]*101) }

// naive is the array of a grid, voxel by voxel.
func naive(size volume.Vec) []byte {
	var flat []byte
	for v := range (volume.Box{Max: size}).All() {
		flat = append(flat, numberAt(v))
	}
	return flat
}

// TestPushedPages holds that of a slab of whole planes each page is offered, as it is, but those
// that have something of the first plane or of what follows the slab; also where no plane
// starts with a page.
func TestPushedPages(t *testing.T) {
	const pageSize = 4096
	blocks := cache.New(64 << 20)
	defer blocks.Close()
	for _, head := range []int64{0, 352, 4096} {
		for _, side := range []volume.Vec{{256, 256, 40}, {300, 101, 40}, {64, 16, 32}, {1000, 1001, 33}} {
			grid := volume.Grid{Size: side, Block: volume.Cube(32), Type: volume.Uint8, Channels: 1}
			array := flat.New(grid, volume.Box{Max: side}, volume.Box{Max: side})
			l := newLayout(array)
			s, err := newSlab(blocks.Source(numbered{grid}), slabKey{blocks: l.validBlocks(0)}, cache.Never)
			if err != nil {
				t.Fatal(err)
			}
			defer s.hold.Close()
			want := naive(side)
			start, end := head+array.Plane(), head+32*array.Plane()
			missing := end/pageSize - (start+pageSize-1)/pageSize
			var mu sync.Mutex
			q := pusher{array: array, head: head, sink: vfs.Sink{All: true, Page: pageSize, Piece: 256 << 10, Ahead: lookahead, Write: func(p []byte, off int64) bool {
				mu.Lock()
				defer mu.Unlock()
				if off%pageSize != 0 || len(p)%pageSize != 0 || !bytes.Equal(p, want[off-head:][:len(p)]) {
					t.Errorf("%v after %d: %d bytes at %d: not whole pages as they are", side, head, len(p), off)
				}
				missing -= int64(len(p)) / pageSize
				return true
			}}}
			q.reader.Store(-lookahead)
			q.push(t.Context(), part{s, array, l.slabBox(0)})
			if missing != 0 {
				t.Errorf("%v after %d: %d pages were not offered", side, head, missing)
			}
		}
	}
}
