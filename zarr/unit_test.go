package zarr

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestBlocksOfBlosc: chunks of 64³ values of 4 bytes have two blocks if Blosc has two blocks of them, and one if the
// metadata do not tell. What is odd in the configuration is no error: chunks have their own header.
func TestBlocksOfBlosc(t *testing.T) {
	v2 := strings.NewReplacer(`[4,4,4]`, `[64,64,64]`, `<u2`, `<u4`).Replace(soundV2)
	v3 := strings.NewReplacer(`[4,4,4]`, `[64,64,64]`, `uint16`, `uint32`).Replace(soundV3)
	for _, test := range []struct {
		config string
		want   int // voxels of a block on z
	}{
		{`"cname":"lz4","clevel":5,"shuffle":1,"blocksize":0`, 32},
		{`"cname":"lz4","clevel":5,"shuffle":1`, 32},
		{`"cname":"zstd","clevel":5,"shuffle":1,"typesize":4,"blocksize":0`, 32},
		{`"cname":"lz4","clevel":9,"shuffle":1,"typesize":4`, 64}, // one block of 1 MiB
		{`"cname":"lz4","clevel":9,"blocksize":131072`, 32},
		{`"cname":"lz4","clevel":5,"blocksize":100000`, 64},
		{`"cname":"lz4","clevel":5,"blocksize":-1`, 32},
		{`"cname":"lz4","clevel":5,"blocksize":"auto"`, 64},
		{`"cname":"lz4","clevel":1e99`, 64},
		{`"cname":"lz4","clevel":5,"typesize":-4`, 64},
		{`"cname":"other"`, 64},
		{`"cname":7`, 64},
		{`"clevel":5`, 64},
	} {
		for file, text := range map[string]string{
			arrayV2:    strings.Replace(v2, `"compressor":null`, `"compressor":{"id":"blosc",`+test.config+`}`, 1),
			metadataV3: strings.Replace(v3, `}]}`, `},{"name":"blosc","configuration":{`+test.config+`}}]}`, 1),
		} {
			m, err := OpenArray(fstest.MapFS{"a/" + file: &fstest.MapFile{Data: []byte(text)}}, "a", ArrayOptions{})
			if err != nil {
				t.Errorf("%s, %s: %v", file, test.config, err)
				continue
			}
			if g, err := m.CubeGrid(); err != nil || g.Block != (volume.Vec{64, 64, test.want}) {
				t.Errorf("%s, %s: blocks of %v, %v, expected %d on z", file, test.config, g.Block, err, test.want)
			}
		}
	}
}
