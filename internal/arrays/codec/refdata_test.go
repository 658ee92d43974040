package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// array is what the metadata of an array say, as far as this test needs it.
type array struct {
	refdata.Array
	shape, chunk []int
	order        []int // axes of a stored chunk, the slowest first
	width        int   // bytes of a value
	bigEndian    bool
	codecs       Chain
	prefix       string // of the names of chunks
	separator    string
	n5           bool // chunks have a header, and are cut at the end of the array
}

// TestRefdata reads whole arrays that other programs wrote with these codecs, and compares their hashes.
func TestRefdata(t *testing.T) {
	root, manifest := refdata.Arrays(t)
	count := 0
	for _, v := range manifest.Arrays {
		if v.Expect != "ok" || !slices.Contains([]string{"v2_blosc", "v2_compressors", "v3_codecs", "n5_compression"},
			v.Dataset) {
			continue
		}
		count++
		t.Run(v.Path, func(t *testing.T) {
			a := openArray(t, filepath.Join(root, v.Path), v)
			sum := sha256.Sum256(a.read(t, filepath.Join(root, v.Path)))
			if hex.EncodeToString(sum[:]) != v.SHA256 {
				t.Error("other voxels than expected")
			}
		})
	}
	if count < 70 {
		t.Errorf("%d arrays, expected 70 or more", count)
	}
}

// openArray reads the metadata of an array.
func openArray(t *testing.T, dir string, v refdata.Array) array {
	a := array{Array: v, separator: "."}
	bits := v.DType[strings.IndexAny(v.DType, "0123456789"):]
	fmt.Sscan(bits, &a.width)
	a.width /= 8
	for i := range v.Axes {
		a.order = append(a.order, i)
	}
	switch v.Format {
	case "zarr2":
		a.openV2(t, dir)
	case "zarr3":
		a.openV3(t, dir)
	default:
		a.openN5(t, dir)
	}
	return a
}

// configuration is that of a codec in any of the formats.
type configuration struct {
	ID, Name, Type string
	UseZlib        bool
	Order          []int
	Endian         string
	Configuration  *configuration
}

var byName = map[string]Codec{
	"zlib": Zlib{}, "gzip": Gzip{}, "zstd": Zstd{}, "blosc": Blosc{}, "lz4": LZ4{}, "crc32c": CRC32C{},
	"bz2": Bzip2{}, "bzip2": Bzip2{}, "lzma": XZ{}, "xz": XZ{},
}

func (a *array) openV2(t *testing.T, dir string) {
	var m struct {
		Shape, Chunks []int
		DType, Order  string
		Separator     string `json:"dimension_separator"`
		Compressor    *configuration
	}
	parse(t, filepath.Join(dir, ".zarray"), &m)
	a.shape, a.chunk, a.separator, a.bigEndian = m.Shape, m.Chunks, m.Separator, m.DType[0] == '>'
	if m.Order == "F" {
		slices.Reverse(a.order)
	}
	if m.Compressor != nil {
		a.codecs = Chain{byName[m.Compressor.ID]}
	}
}

func (a *array) openV3(t *testing.T, dir string) {
	var m struct {
		Shape []int
		Grid  struct {
			Configuration struct {
				Shape []int `json:"chunk_shape"`
			}
		} `json:"chunk_grid"`
		Codecs []configuration
	}
	parse(t, filepath.Join(dir, "zarr.json"), &m)
	a.shape, a.chunk, a.prefix = m.Shape, m.Grid.Configuration.Shape, "c."
	for _, c := range m.Codecs {
		switch c.Name {
		case "transpose":
			order := make([]int, len(a.order))
			for i, axis := range c.Configuration.Order {
				order[i] = a.order[axis]
			}
			a.order = order
		case "bytes":
			a.bigEndian = c.Configuration != nil && c.Configuration.Endian == "big"
		default:
			a.codecs = append(a.codecs, byName[c.Name])
		}
	}
}

func (a *array) openN5(t *testing.T, dir string) {
	var m struct {
		Dimensions, BlockSize []int
		Compression           configuration
	}
	parse(t, filepath.Join(dir, "attributes.json"), &m)
	a.shape, a.chunk, a.separator, a.bigEndian, a.n5 = m.Dimensions, m.BlockSize, "/", true, true
	slices.Reverse(a.order)
	switch {
	case m.Compression.UseZlib:
		a.codecs = Chain{Zlib{}}
	case m.Compression.Type != "raw":
		a.codecs = Chain{byName[m.Compression.Type]}
	}
}

// read returns the whole array as a volume: the channel fastest, then x, y, z, little-endian.
func (a array) read(t *testing.T, dir string) []byte {
	out := make([]byte, a.Channels*a.Size[0]*a.Size[1]*a.Size[2]*a.width)
	grid := make([]int, len(a.shape))
	for i := range grid {
		grid[i] = (a.shape[i]-1)/a.chunk[i] + 1
	}
	each(grid, func(at []int) {
		name := make([]string, len(at))
		shape := slices.Clone(a.chunk)
		for i, v := range at {
			name[i] = fmt.Sprint(v)
			if a.n5 {
				shape[i] = min(shape[i], a.shape[i]-v*a.chunk[i])
			}
		}
		src, err := os.ReadFile(filepath.Join(dir, a.prefix+strings.Join(name, a.separator)))
		if err != nil {
			t.Fatal(err)
		}
		if a.n5 {
			src = src[4+4*int(binary.BigEndian.Uint16(src[2:])):]
		}
		a.place(out, a.decode(t, src, shape), at, shape)
	})
	return out
}

// decode decodes a chunk of a shape.
func (a array) decode(t *testing.T, src []byte, shape []int) []byte {
	n := a.width
	for _, v := range shape {
		n *= v
	}
	if len(src) > a.codecs.Bound(n) {
		t.Errorf("a chunk of %d bytes, more than the bound of %d", len(src), a.codecs.Bound(n))
	}
	b, err := decode(t, a.codecs, make([]byte, n), src, n)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != n {
		t.Fatalf("%d bytes of %d", len(b), n)
	}
	return b
}

// place copies the values of the chunk at a grid position to the volume.
func (a array) place(out, b []byte, grid, shape []int) {
	stored := make([]int, len(a.order))
	for i, axis := range a.order {
		stored[i] = shape[axis]
	}
	each(stored, func(at []int) {
		value := b[:a.width]
		b = b[a.width:]
		index := map[string]int{}
		for i, axis := range a.order {
			v := grid[axis]*a.chunk[axis] + at[i]
			if v >= a.shape[axis] {
				return
			}
			index[a.Axes[axis]] = v
		}
		voxel := index["x"] + a.Size[0]*(index["y"]+a.Size[1]*index["z"])
		to := out[(voxel*a.Channels+index["c"])*a.width:][:a.width]
		copy(to, value)
		if a.bigEndian {
			slices.Reverse(to)
		}
	})
}

// each calls f for every position in the shape, the last axis fastest.
func each(shape []int, f func(at []int)) {
	at := make([]int, len(shape))
	for {
		f(at)
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < shape[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

func parse(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
