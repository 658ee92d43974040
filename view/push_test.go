package view

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// numbered is a source whose bytes tell where they are.
type numbered struct{ grid volume.Grid }

func (n numbered) Grid() volume.Grid { return n.grid }

func (n numbered) Block(_ context.Context, b volume.Vec) ([]byte, error) {
	block := make([]byte, n.grid.BlockBytes())
	i := 0
	for v := range (volume.Box{Min: b.Mul(n.grid.Block), Max: b.Add(volume.Cube(1)).Mul(n.grid.Block)}).All() {
		block[i] = byte(v[0]*7 + v[1]*31 + v[2]*101)
		i++
	}
	return block, nil
}

func (n numbered) Scan(ctx context.Context, blocks volume.Box, memory func(b volume.Vec) []byte) error {
	for b := range blocks.All() {
		block, err := n.Block(ctx, b)
		if err != nil {
			return err
		}
		copy(memory(b), block)
	}
	return nil
}

// TestPushedPages holds that of a slab of whole planes each page is offered, as it is, but those
// that have something of the first plane or of what follows the slab; also where no plane
// begins with a page.
func TestPushedPages(t *testing.T) {
	for _, head := range []int64{0, 352, 4096} {
		for _, side := range []volume.Vec{{256, 256, 40}, {300, 101, 40}, {64, 16, 32}, {1000, 1001, 33}} {
			f := NewFlat(numbered{volume.Grid{Size: side, Block: volume.Cube(32), Type: volume.Uint8, Channels: 1}}, volume.Box{Max: side})
			c := newCutting(f)
			c.rows = c.all()
			s := f.newSlab(slabKey{box: c.box(0)}, make([]byte, c.size()))
			if err := s.fill(t.Context(), f, f.src.(volume.Scanner)); err != nil {
				t.Fatal(err)
			}
			want := make([]byte, f.Size())
			if _, err := f.ReadAtContext(t.Context(), want, 0); err != nil {
				t.Fatal(err)
			}
			begin, end := head+f.plane, head+32*f.plane
			missing := end/pageSize - (begin+pageSize-1)/pageSize
			var mu sync.Mutex
			q := pusher{flat: f, head: head, all: true, take: func(p []byte, off int64) bool {
				mu.Lock()
				defer mu.Unlock()
				if off%pageSize != 0 || len(p)%pageSize != 0 || !bytes.Equal(p, want[off-head:][:len(p)]) {
					t.Errorf("%v behind %d: %d bytes at %d: not whole pages as they are", side, head, len(p), off)
				}
				missing -= int64(len(p)) / pageSize
				return true
			}}
			q.reader.Store(-ahead)
			q.push(t.Context(), s)
			if missing != 0 {
				t.Errorf("%v behind %d: %d pages were not offered", side, head, missing)
			}
		}
	}
}
