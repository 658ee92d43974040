package nml

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestLargestID finds the largest number in each place, of all types.
func TestLargestID(t *testing.T) {
	for typ, want := range map[volume.Type]uint64{
		volume.Uint8: 0x81, volume.Uint16: 0x8181, volume.Uint32: 0x81818181, volume.Uint64: 0x8181818181818181,
		volume.Int8: 0, volume.Int32: 0, volume.Float32: 0,
	} {
		size := typ.Size()
		for place := range 4 {
			voxels := make([]byte, 4*size)
			for i := range voxels {
				voxels[i] = 1
			}
			for i := range size {
				voxels[place*size+i] = 0x81
			}
			if got := LargestID(voxels, typ); got != want {
				t.Errorf("%v at %d: got %#x, expected %#x", typ, place, got, want)
			}
		}
		if got := LargestID(nil, typ); got != 0 {
			t.Errorf("%v: got %d of nothing", typ, got)
		}
	}
}
