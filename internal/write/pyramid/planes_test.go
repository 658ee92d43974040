package pyramid

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/volume"
)

// TestPlanesAreSparse: planes of zeros take no room in the temporary file, also in its second slab.
func TestPlanesAreSparse(t *testing.T) {
	m := &mag{voxel: 1, region: volume.Box{Max: volume.Vec{256, 256, 32}}, slab: 32, row: 32, writer: &writer{}}
	m.grid.Block = volume.Cube(32)
	p, err := newPlanes(m, false, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for plane := range 2 {
		if err := p.begin(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		want := make([]byte, 256*256*32)
		for i := range 256 * 256 {
			want[256*256*plane+i] = byte(i%255 + 1)
		}
		for y := 0; y < 256; y += 32 {
			err := p.write(&worker{}, volume.Box{Min: volume.Vec{0, y, 0}, Max: volume.Vec{256, y + 32, 32}},
				func(dst []byte, pitch downsample.Pitch) {
					for z := range 32 {
						copy(dst[z*pitch.Plane:][:pitch.Plane], want[256*(256*z+y):])
					}
				})
			if err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, len(want))
		if _, err := p.file.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
			t.Errorf("plane %d: the voxels differ, or %v", plane, err)
		}
		info, err := p.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		// A file system without holes would have all 2 MiB.
		if taken := info.Sys().(*syscall.Stat_t).Blocks * 512; taken > 4*256*256 {
			t.Errorf("plane %d: the file takes %d bytes on the disk", plane, taken)
		}
	}
}
