package prefetch

import (
	"bytes"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestPushedPages checks which pages of a portion of whole planes are pushed: all, except those that contain bytes of
// the first plane or of the next portion. Planes need not start at a page. A portion of one plane has none.
func TestPushedPages(t *testing.T) {
	const pageSize = 4096
	blocks := cache.New(64 << 20)
	defer blocks.Close()
	for _, side := range []volume.Vec{{256, 256, 40}, {300, 101, 40}, {64, 16, 32}, {1000, 1001, 33},
		{1000, 1000, 33}} {
		grid := voxeltest.Grid(side, volume.Cube(32), volume.Uint8, 1)
		src := voxeltest.Source{Shape: grid}
		cached := blocks.Source(src)
		array := flat.New(grid, volume.Box{Max: side}, volume.Box{Max: side})
		l := newLayout(array, &usual)
		want := src.Flat(volume.Box{Max: side})
		for _, head := range []int64{0, 352, 4096} {
			for i := range l.count() {
				s, err := usual.load(cached, l.part(i, 1), cache.Never, false)
				if err != nil {
					t.Fatal(err)
				}
				defer s.hold.Close()
				start := head + s.run(0).Start() + array.PlaneBytes()
				end := head + s.run(0).Start() + s.planes()*array.PlaneBytes()
				missing := max(end/pageSize-(start+pageSize-1)/pageSize, 0)
				var mu sync.Mutex
				p := pusher{array: array, head: head, sink: vfs.Sink{All: true, Page: pageSize, Piece: 256 << 10,
					Ahead: usual.kernelReadahead, Write: func(b []byte, off int64) bool {
						mu.Lock()
						defer mu.Unlock()
						if off%pageSize != 0 || len(b)%pageSize != 0 || !bytes.Equal(b, want[off-head:][:len(b)]) {
							t.Errorf("%v after %d: %d bytes at %d are wrong, or not whole pages", side, head, len(b),
								off)
						}
						missing -= int64(len(b)) / pageSize
						return true
					}}}
				p.position.Store(-usual.kernelReadahead)
				p.push(t.Context(), s)
				if missing != 0 {
					t.Errorf("%v after %d, portion %d: %d pages were not pushed", side, head, i, missing)
				}
			}
		}
	}
}
