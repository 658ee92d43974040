package n5

import (
	"encoding/binary"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestExtents reads blocks whose headers have an extent of their own. It must have the voxels of the array, and no more
// than a block has.
func TestExtents(t *testing.T) {
	const attributes = `{"dimensions": [5, 4, 4], "blockSize": [2, 2, 2], "dataType": "uint8", "compression": {"type": "raw"}}`
	for _, c := range []struct {
		name   string
		extent [3]uint32
		valid  bool
	}{
		{"0/0/0", [3]uint32{2, 2, 2}, true},
		{"0/0/0", [3]uint32{3, 2, 2}, false},
		{"0/0/0", [3]uint32{2, 3, 2}, false},
		{"0/0/0", [3]uint32{2, 2, 3}, false},
		{"0/0/0", [3]uint32{1, 2, 2}, false},
		{"0/0/0", [3]uint32{2, 2, 0}, false},
		{"2/1/1", [3]uint32{1, 2, 2}, true}, // the array has no more voxels there
		{"2/1/1", [3]uint32{2, 2, 2}, true},
		{"2/1/1", [3]uint32{3, 2, 2}, false},
		{"2/1/1", [3]uint32{0, 2, 2}, false},
	} {
		b, voxels := []byte{0, 0, 0, 3}, uint32(1)
		for _, n := range c.extent {
			b = binary.BigEndian.AppendUint32(b, n)
			voxels *= n
		}
		for i := range voxels {
			b = append(b, byte(1+i%c.extent[0])) // x + 1
		}
		m, err := OpenArray(fstest.MapFS{"attributes.json": {Data: []byte(attributes)}, c.name: {Data: b}}, ".",
			ArrayOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := volume.ReadBox(t.Context(), m, volume.Box{Max: volume.Vec{5, 4, 4}})
		at := 0 // of voxel 0 of the block
		if c.name == "2/1/1" {
			at = 4 + 5*(2+4*2)
		}
		switch {
		case c.valid && (err != nil || got[at] != 1 || got[at+5] != 1):
			t.Errorf("block %s of %v: got %v, %v", c.name, c.extent, got, err)
		case !c.valid && (err == nil || !strings.Contains(err.Error(), "expected an extent from")):
			t.Errorf("block %s of %v: got %v, %v", c.name, c.extent, got, err)
		}
	}
}
