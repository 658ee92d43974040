// Package reftest tests a decoder with Neuroglancer Precomputed volumes that other programs wrote. It is for tests.
package reftest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// Scale is a scale of a reference volume, from the manifest.
type Scale struct {
	Volume, Key string
	DataType    string `json:"data_type"`
	Channels    int    `json:"num_channels"`
	Size        [3]int // in voxels
	Offset      [3]int `json:"voxel_offset"`
	ChunkSize   [3]int `json:"chunk_size"`
	Block       [3]int `json:"compressed_segmentation_block_size"`
	Encoding    string // as in the info file
	Sharding    any    // nil: unsharded
	Present     int    `json:"chunks_present"`
	SHA256      string // of the whole volume
	Expected    string // for lossy encodings: a file with similar values
	OrExpected  string `json:"or_expected"` // another such file, or empty
	MaxAbsDiff  int    `json:"max_abs_diff"`
	Chunks      []Chunk
}

// Chunk is one chunk of a scale.
type Chunk struct {
	Name   string // of the file, without .gz
	Grid   [3]int // position in chunks
	Size   [3]int // in voxels, clipped to the volume
	SHA256 string // of the values, channel fastest; empty if unknown
}

// Decoder returns the values of a chunk, little-endian, with the channel fastest, then x, y, z.
type Decoder func(s Scale, size [3]int, data []byte) ([]byte, error)

// ValueBytes returns the bytes of one value.
func (s Scale) ValueBytes() int {
	bits, _ := strconv.Atoi(strings.TrimLeft(s.DataType, "uintflo"))
	return bits / 8
}

// Voxels returns the number of voxels of a size.
func Voxels(size [3]int) int { return size[0] * size[1] * size[2] }

// Interleave returns values with the channel fastest. In planar, the channel is slowest. A value has width bytes.
func Interleave(planar []byte, channels, width int) []byte {
	out := make([]byte, len(planar))
	values := len(planar) / width / channels
	for c := range channels {
		for i := range values {
			copy(out[(i*channels+c)*width:][:width], planar[(c*values+i)*width:])
		}
	}
	return out
}

// Volumes decodes all unsharded volumes with an encoding and compares each voxel.
func Volumes(t *testing.T, encoding string, decode Decoder) {
	var manifest struct {
		Volumes []struct {
			Volume string
			Scales []Scale
		}
	}
	root := refdata.Dir(t, "precomputed")
	readJSON(t, filepath.Join(root, "manifest.json"), &manifest)
	n := 0
	for _, v := range manifest.Volumes {
		for _, s := range v.Scales {
			s.Volume = v.Volume
			if s.Encoding != encoding || s.Sharding != nil {
				continue
			}
			n++
			t.Run(s.Volume, func(t *testing.T) { checkVolume(t, root, s, decode) })
		}
	}
	if n == 0 {
		t.Errorf("no volume has the encoding %s", encoding)
	}
}

// Damaged decodes the chunks of the damaged volumes with an encoding. Good chunks must have the right voxels. Bad
// chunks must be errors. Damaged returns these errors by the name of the volume.
func Damaged(t *testing.T, encoding string, decode Decoder) (errs map[string]error) {
	var manifest struct {
		Cases []struct {
			Case string
			Bad  []Chunk `json:"bad_chunks"`
			Good []Chunk `json:"good_chunks"`
			Scale
		}
	}
	root := filepath.Join(refdata.Dir(t, "precomputed"), "damaged")
	readJSON(t, filepath.Join(root, "damaged.json"), &manifest)
	errs = map[string]error{}
	for _, c := range manifest.Cases {
		if c.Encoding != encoding || c.Sharding != nil {
			continue
		}
		dir := filepath.Join(root, c.Case, "8_8_30")
		for _, chunk := range c.Bad {
			_, err := decode(c.Scale, chunk.Size, readChunk(t, dir, chunk.Name))
			if err == nil {
				t.Errorf("%s: no error for bad chunk %s", c.Case, chunk.Name)
			}
			errs[c.Case] = err
		}
		for _, chunk := range c.Good {
			checkSum(t, c.Scale, chunk, readChunk(t, dir, chunk.Name), decode)
		}
	}
	return errs
}

// ChunkData returns the stored bytes of a chunk, for benchmarks and seeds.
func ChunkData(t testing.TB, volume, key, name string) []byte {
	return readChunk(t, filepath.Join(refdata.Dir(t, "precomputed"), volume, key), name)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
}
