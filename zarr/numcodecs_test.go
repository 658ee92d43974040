package zarr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestNumcodecs: codecs of numcodecs in version 3 decode as those of version 2. Unknown ones are refused.
func TestNumcodecs(t *testing.T) {
	voxels := make([]byte, 2*4*4*4)
	for i := range 4 * 4 * 4 {
		binary.LittleEndian.PutUint16(voxels[2*i:], uint16(257*i+1))
	}
	var stored bytes.Buffer
	w := zlib.NewWriter(&stored)
	w.Write(voxels) // to memory: it cannot fail
	w.Close()
	for name, want := range map[string]string{
		"numcodecs.zlib": "",
		// not among those of bytes
		"numcodecs.delta": `unsupported codec: expected a codec that is known, found "delta"`,
		"numcodecs.":      `unsupported codec: expected a codec that is known, in its place, found "numcodecs."`,
		"numcodecs.\\\"":  "unsupported codec",
	} {
		metadata := strings.Replace(soundV3, `}]}`, `},{"name":"`+name+`","configuration":{"level":1}}]}`, 1)
		m, err := OpenArray(fstest.MapFS{metadataV3: {Data: []byte(metadata)}, "c/0/0/0": {Data: stored.Bytes()}}, ".",
			ArrayOptions{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, expected %q", name, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.OpenCube(volume.Vec{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if got, err := volume.ReadBlock(t.Context(), c, volume.Vec{}); err != nil || !bytes.Equal(got, voxels) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
