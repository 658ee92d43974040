package compresso

import (
	"errors"
	"testing"

	"github.com/wkwfs/wkwfs/precomputed/internal/reftest"
	"github.com/wkwfs/wkwfs/volume"
)

func decodeChunk(s reftest.Scale, size [3]int, data []byte) ([]byte, error) {
	dst := make([]byte, reftest.Voxels(size)*s.ValueBytes())
	return dst, Decode(data, size, s.ValueBytes(), dst)
}

func TestReferenceVolumes(t *testing.T) {
	reftest.Volumes(t, "compresso", decodeChunk)
}

func TestDamagedVolumes(t *testing.T) {
	for name, err := range reftest.Damaged(t, "compresso", decodeChunk) {
		if _, is := errors.AsType[*volume.FormatError](err); !is {
			t.Errorf("%s: got %v, expected a volume.FormatError", name, err)
		}
	}
}
