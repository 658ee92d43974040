package picture

import (
	"errors"
	"testing"

	"github.com/wkwfs/wkwfs/precomputed/internal/reftest"
	"github.com/wkwfs/wkwfs/volume"
)

type decodeFunc = func(data []byte, pixels, channels, bytesPerValue int, dst []byte) error

var encodings = map[string]decodeFunc{"png": DecodePNG, "jpeg": DecodeJPEG, "jxl": DecodeJXL}

func decoder(decode decodeFunc) reftest.Decoder {
	return func(s reftest.Scale, size [3]int, data []byte) ([]byte, error) {
		pixels := reftest.Voxels(size)
		dst := make([]byte, pixels*s.Channels*s.ValueBytes())
		return dst, decode(data, pixels, s.Channels, s.ValueBytes(), dst)
	}
}

func TestReferenceVolumes(t *testing.T) {
	for encoding, decode := range encodings {
		reftest.Volumes(t, encoding, decoder(decode))
	}
}

func TestDamagedVolumes(t *testing.T) {
	for encoding, decode := range encodings {
		for name, err := range reftest.Damaged(t, encoding, decoder(decode)) {
			if _, is := errors.AsType[*volume.FormatError](err); !is {
				t.Errorf("%s: got %v, expected a volume.FormatError", name, err)
			}
		}
	}
}
