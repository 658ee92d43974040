package chunked

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// FuzzShard reads shards with any bytes: nested, with the index at the start or the end.
func FuzzShard(f *testing.F) {
	array := func(atStart, checked bool) *Array {
		inner, innermost := Shard{Inner: []int{2, 4, 4}, Order: []int{2, 0, 1}, AtStart: atStart},
			Shard{Inner: []int{1, 2, 2}, Order: []int{0, 1, 2}, AtStart: !atStart}
		if checked {
			inner.Checksums = 1
		}
		return &Array{
			Shape: []int{4, 8, 8}, Chunk: []int{4, 8, 8}, Type: volume.Uint16, Order: []int{0, 1, 2},
			Key:    Key{"c", "/"},
			Shards: []Shard{inner, innermost}, Fill: []byte{7, 0},
		}
	}
	for _, atStart := range []bool{false, true} {
		m := &model{Array: array(atStart, true), absent: map[string]bool{"[0 0 0]": true}}
		m.write()
		f.Add(m.files["a/c/0/0/0"].Data, atStart, true)
	}
	f.Fuzz(func(t *testing.T, shard []byte, atStart, checked bool) {
		mag, err := New(fstest.MapFS{"a/c/0/0/0": &fstest.MapFile{Data: shard}}, "a", array(atStart, checked),
			Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := mag.OpenCube(volume.Vec{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		g := c.Grid()
		for at := range (volume.Box{Max: g.Blocks()}).All() {
			voxels, err := volume.ReadBlock(t.Context(), c, at)
			if _, format := errors.AsType[*volume.FormatError](err); err != nil && !format ||
				err == nil && len(voxels) != g.BlockBytes() {
				t.Fatalf("block %v: got %d bytes, %T: %v", at, len(voxels), err, err)
			}
		}
	})
}
