// Package reftest runs a decoder over reference volumes in the Neuroglancer
// Precomputed format, written by other programs. It is for tests.
//
// The volumes are in the directory that the environment variable WKWFS_REFDATA names,
// else in shared/refdata beside the checkout; without it, tests are skipped.
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
)

// Scale is one unsharded scale of a reference volume, as its manifest describes it.
type Scale struct {
	Volume, Key string
	DataType    string `json:"data_type"`
	Channels    int    `json:"num_channels"`
	Size        [3]int // voxels
	Offset      [3]int `json:"voxel_offset"`
	ChunkSize   [3]int `json:"chunk_size"`
	Block       [3]int `json:"compressed_segmentation_block_size"`
	Encoding    string // as in info
	Sharding    any    // nil: unsharded
	Present     int    `json:"chunks_present"`
	SHA256      string // of the whole volume
	Expected    string // lossy encodings: the file that the volume must be like …
	OrExpected  string `json:"or_expected"` // … or this one
	MaxAbsDiff  int    `json:"max_abs_diff"`
	Chunks      []Chunk
}

// Chunk is one chunk of a scale.
type Chunk struct {
	Name   string // of its file, without .gz
	Grid   [3]int // its position, in chunks
	Size   [3]int // voxels, cut off at the edge of the volume
	SHA256 string // of its values, channel fastest; "" where not known
}

// A Decoder returns a chunk's values, little-endian, channel fastest, then x, y, z.
type Decoder func(s Scale, size [3]int, data []byte) ([]byte, error)

// ValueBytes returns the bytes of one value.
func (s Scale) ValueBytes() int {
	bits, _ := strconv.Atoi(strings.TrimLeft(s.DataType, "uintflo"))
	return bits / 8
}

// Voxels returns the number of voxels in a box of this size.
func Voxels(size [3]int) int { return size[0] * size[1] * size[2] }

// Interleave turns the values of a chunk from channel slowest to channel fastest.
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

// Volumes decodes all volumes with this encoding and compares every voxel.
func Volumes(t *testing.T, encoding string, decode Decoder) {
	var manifest struct {
		Volumes []struct {
			Volume string
			Scales []Scale
		}
	}
	root := dir(t)
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
		t.Errorf("no volume is encoded as %s", encoding)
	}
}

// Damaged decodes the chunks of the damaged volumes with this encoding: bad ones must
// give an error, which is returned to be looked at, and all others what they hold.
func Damaged(t *testing.T, encoding string, decode Decoder) (errs map[string]error) {
	var manifest struct {
		Cases []struct {
			Case string
			Bad  []Chunk `json:"bad_chunks"`
			Good []Chunk `json:"good_chunks"`
			Scale
		}
	}
	root := filepath.Join(dir(t), "damaged")
	readJSON(t, filepath.Join(root, "damaged.json"), &manifest)
	errs = map[string]error{}
	for _, c := range manifest.Cases {
		if c.Encoding != encoding || c.Sharding != nil {
			continue
		}
		folder := filepath.Join(root, c.Case, "8_8_30")
		for _, chunk := range c.Bad {
			_, err := decode(c.Scale, chunk.Size, readChunk(t, folder, chunk.Name))
			if err == nil {
				t.Errorf("%s: chunk %s is bad and was decoded", c.Case, chunk.Name)
			}
			errs[c.Case] = err
		}
		for _, chunk := range c.Good {
			checkSum(t, c.Scale, chunk, readChunk(t, folder, chunk.Name), decode)
		}
	}
	return errs
}

// ChunkData returns the stored bytes of a chunk, for benchmarks and seeds.
func ChunkData(t testing.TB, volume, key, name string) []byte {
	return readChunk(t, filepath.Join(dir(t), volume, key), name)
}

// dir returns the folder of the volumes. Packages that use this one lie two levels
// below the checkout.
func dir(t testing.TB) string {
	root := os.Getenv("WKWFS_REFDATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "refdata")
	}
	root = filepath.Join(root, "precomputed")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no reference data: %v; WKWFS_REFDATA names the directory", err)
	}
	return root
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
