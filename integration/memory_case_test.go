package integration

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// memoryCase is a volume of chunks that lie one after the other on z, and the way in which it is read.
type memoryCase struct {
	Format  string       `json:"format"` // zarr, zarr-shards, n5, precomputed, precomputed-shards or wkw
	Codecs  []string     `json:"codecs"` // of bytes; the first one is the encoding of Precomputed
	Type    string       `json:"type"`   // uint8 or uint32
	Big     bool         `json:"big,omitempty"`
	Turned  bool         `json:"turned,omitempty"` // z is the fast axis of a chunk of Zarr
	Plane   [2]int       `json:"plane"`            // voxels of a chunk on x and y
	Depth   int          `json:"depth"`            // and on z
	Planes  int          `json:"planes"`           // voxels of the volume on z
	Stored  string       `json:"stored"`           // right, zeros, long, cut, noise or claims
	Content torture.Seed `json:"content"`
	Cache   int          `json:"cache"` // MiB
	Readers int          `json:"readers"`
	Way     string       `json:"way"` // mount, serve, nfs, cp, check or info
}

const (
	memoryLongTimes  = 16 // how many times more than a chunk a stream decodes to that is too long
	memoryMostBytes  = 1 << 28
	memoryMostCodecs = 30 // Zarr has at most 32, with those that are not of bytes
)

var (
	memoryFormats = []string{"zarr", "zarr-shards", "n5", "precomputed", "precomputed-shards", "wkw"}
	memoryStored  = []string{"right", "right", "right", "zeros", "long", "cut", "noise", "claims"}
	memoryWays    = []string{"mount", "mount", "serve", "nfs", "cp", "check", "info"}

	// memoryCodecs has the codecs of each format, as its metadata name them.
	memoryCodecs = map[string][]string{
		"zarr": {"", "gzip", "numcodecs.zlib", "zstd", "blosc", "numcodecs.lz4", "numcodecs.bz2",
			"numcodecs.lzma", "numcodecs.xz", "crc32c"},
		"n5":          {"raw", "gzip", "zlib", "bzip2", "lz4", "xz"},
		"precomputed": {"raw", "compressed_segmentation", "compresso", "png", "jpeg", "jxl"},
		"wkw":         {"raw", "lz4"},
	}
)

func (c memoryCase) family() string { return strings.TrimSuffix(c.Format, "-shards") }

func (c memoryCase) valueBytes() int {
	if c.Type == "uint32" {
		return 4
	}
	return 1
}

// chunkBytes returns the bytes of a decoded chunk.
func (c memoryCase) chunkBytes() int { return c.valueBytes() * c.Plane[0] * c.Plane[1] * c.Depth }

func (c memoryCase) chunks() int { return (c.Planes + c.Depth - 1) / c.Depth }

// valid reports whether the case is one that newMemoryCase could return, or a smaller one.
func (c memoryCase) valid() bool {
	if !slices.Contains(memoryFormats, c.Format) || !slices.Contains(memoryStored, c.Stored) ||
		!slices.Contains(memoryWays, c.Way) || c.Type != "uint8" && c.Type != "uint32" {
		return false
	}
	for _, n := range []int{c.Plane[0], c.Plane[1], c.Depth, c.Planes, c.Readers} {
		if n < 1 || n > 1<<20 {
			return false
		}
	}
	if len(c.Codecs) < 1 || len(c.Codecs) > memoryMostCodecs || c.Cache < 1 || c.Cache > 1024 ||
		c.Plane[0]*c.Plane[1] > 1<<24 || c.chunks() > 1000 {
		return false
	}
	for i, name := range c.Codecs {
		if !slices.Contains(memoryCodecs[c.family()], name) && !(c.family() == "precomputed" && i == 1 &&
			name == "gzip") || i > 0 && c.family() == "n5" {
			return false
		}
	}
	// What is written has to fit into the memory of the test.
	return c.Plane[0]*c.Plane[1]*min(c.Depth, c.Planes)*c.valueBytes() <= memoryMostBytes &&
		(c.chunkBytes() <= memoryMostBytes || c.family() == "precomputed")
}

// voxels returns the decoded chunk. Neighbours are equal, so it compresses. It is zeros if its codec has no encoder in
// Go.
func (c memoryCase) voxels(planes int) []byte {
	b := make([]byte, c.valueBytes()*c.Plane[0]*c.Plane[1]*planes)
	if c.isZeros() {
		return b
	}
	r := c.Content.Rand()
	for i := 0; i < len(b); i += 64 {
		v := byte(1 + r.IntN(9))
		for j := i; j < min(i+64, len(b)); j++ {
			b[j] = v
		}
	}
	return b
}

// isZeros reports whether all voxels are 0: an encoder writes nothing else, or takes long for it.
func (c memoryCase) isZeros() bool {
	return c.Stored != "right" || slices.ContainsFunc(c.Codecs, func(name string) bool {
		return slices.Contains([]string{"numcodecs.bz2", "bzip2", "numcodecs.lzma", "numcodecs.xz", "xz",
			"compressed_segmentation", "compresso", "jpeg", "jxl"}, name)
	})
}

// isRight reports whether every voxel has to be right, if the volume is shown at all.
func (c memoryCase) isRight() bool {
	return (c.Stored == "right" || c.Stored == "zeros") && (c.Codecs[0] != "jxl" || c.hasJXL())
}

// hasJXL reports whether there is a JPEG XL picture of each chunk: nothing in Go writes others than [jxlOfZeros].
func (c memoryCase) hasJXL() bool {
	return c.Stored == "right" && c.Cache >= 1024 && c.Plane == [2]int{128, 128} && c.Depth == 64 && c.Planes%64 == 0
}

// newMemoryCase returns a volume of up to some chunks.
func newMemoryCase(r *rand.Rand) memoryCase {
	c := memoryCase{
		Format: randomOf(r, memoryFormats), Type: randomOf(r, []string{"uint8", "uint32"}), Turned: r.IntN(4) == 0,
		Stored: randomOf(r, memoryStored), Content: torture.Seed(r.Uint64()), Way: randomOf(r, memoryWays),
		Cache: randomOf(r, []int{16, 64, 64, 256}), Readers: randomOf(r, []int{1, 4, 16}),
	}
	family := c.family()
	c.Codecs = []string{randomOf(r, memoryCodecs[family])}
	side := randomOf(r, []int{64, 256, 512})
	c.Plane, c.Depth = [2]int{side, side}, randomOf(r, []int{4, 16, 64, 128})
	switch {
	case family == "wkw":
		side = randomOf(r, []int{32, 128, 256})
		c.Plane, c.Depth, c.Type, c.Turned = [2]int{side, side}, side, "uint8", false
	case family == "precomputed":
		c.Turned = false
		if r.IntN(2) == 0 {
			c.Codecs = append(c.Codecs, "gzip")
		}
		switch c.Codecs[0] {
		case "compressed_segmentation":
			c.Type = "uint32"
		case "png", "jpeg", "jxl":
			c.Type = "uint8"
		}
	case family == "zarr":
		for r.IntN(3) == 0 && len(c.Codecs) < memoryMostCodecs && c.Codecs[0] != "numcodecs.bz2" {
			c.Codecs = append(c.Codecs, randomOf(r, []string{"gzip", "zstd", "crc32c"}))
		}
		if r.IntN(10) == 0 {
			c.Codecs = slices.Repeat([]string{"gzip"}, memoryMostCodecs)
		}
		c.Big = c.Type == "uint32" && r.IntN(2) == 0
	case family == "n5":
		c.Turned = false
	}
	c.Planes = randomOf(r, []int{c.Depth, 3 * c.Depth, 2*c.Depth + 1, 3, 1})
	if r.IntN(8) == 0 && family != "wkw" { // far past the end
		c.Depth, c.Planes = randomOf(r, []int{1 << 12, 1 << 10}), 15
		if c.chunkBytes() > 1<<26 {
			c.Plane = [2]int{64, 64}
		}
	}
	return c
}
