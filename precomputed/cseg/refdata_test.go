package cseg

import (
	"errors"
	"testing"

	"github.com/wkwfs/wkwfs/precomputed/internal/reftest"
	"github.com/wkwfs/wkwfs/volume"
)

func decodeChunk(s reftest.Scale, size [3]int, data []byte) ([]byte, error) {
	dst := make([]byte, reftest.Voxels(size)*s.Channels*s.ValueBytes())
	if s.Block == ([3]int{}) {
		s.Block = [3]int{8, 8, 8} // the manifest of damaged volumes lacks it
	}
	err := Decode(data, size, s.Block, s.Channels, s.ValueBytes(), dst)
	return reftest.Interleave(dst, s.Channels, s.ValueBytes()), err
}

func TestReferenceVolumes(t *testing.T) {
	reftest.Volumes(t, "compressed_segmentation", decodeChunk)
}

func TestDamagedVolumes(t *testing.T) {
	for name, err := range reftest.Damaged(t, "compressed_segmentation", decodeChunk) {
		if _, is := errors.AsType[*volume.FormatError](err); !is {
			t.Errorf("%s: got %v, expected a volume.FormatError", name, err)
		}
		t.Logf("%s: %v", name, err)
	}
}
