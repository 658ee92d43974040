package chunked

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/volume"
)

// The array of benchmarks: a shard of WEBKNOSSOS' layout, c, x, y, z, in blocks of 32³.
const (
	benchSide  = 256
	benchBlock = 32
)

// tissue returns the voxels of a block, like an image of an electron microscope: smooth, with noise.
func tissue(at volume.Vec, r *rand.Rand) []byte {
	voxels := make([]byte, 0, benchBlock*benchBlock*benchBlock)
	for p := range (volume.Box{Max: volume.Cube(benchBlock)}).All() {
		q := at.Mul(volume.Cube(benchBlock)).Add(p)
		v := 128 + 60*math.Sin(float64(q[0])/17)*math.Cos(float64(q[1])/23)*math.Sin(float64(q[2])/11) +
			6*r.NormFloat64()
		voxels = append(voxels, byte(max(0, min(255, v))))
	}
	return voxels
}

// benchShard writes a shard, and returns its mag and the encoded blocks.
func benchShard(b *testing.B) (volume.Mag, [][]byte) {
	b.Helper()
	a := &Array{
		Shape: []int{1, benchSide, benchSide, benchSide}, Chunk: []int{1, benchSide, benchSide, benchSide},
		Type:  volume.Uint8,
		Names: []string{"c", "x", "y", "z"}, Key: Key{"c", "/"}, Order: []int{3, 2, 1, 0},
		Codecs: codec.Chain{codec.Zstd{}},
		Shards: []Shard{{Inner: []int{1, benchBlock, benchBlock, benchBlock}, Order: []int{0, 1, 2, 3}, Checksums: 1}},
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(5)))
	if err != nil {
		b.Fatal(err)
	}
	var blocks [][]byte
	var entries []entry
	var file []byte
	r := rand.New(rand.NewPCG(1, 2))
	n := benchSide / benchBlock
	for x := range n { // the order of the index: z fastest
		for y := range n {
			for z := range n {
				blocks = append(blocks, w.EncodeAll(tissue(volume.Vec{x, y, z}, r), nil))
				entries = append(entries, entry{uint64(len(file)), uint64(len(blocks[len(blocks)-1]))})
				file = append(file, blocks[len(blocks)-1]...)
			}
		}
	}
	file = append(file, encodeIndex(entries)...)
	dir := b.TempDir()
	name := filepath.Join(dir, a.Key.name([]int{0, 0, 0, 0}))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, file, 0o644); err != nil {
		b.Fatal(err)
	}
	fsys, err := store.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { fsys.Close() })
	m, err := New(fsys, ".", a, Options{})
	if err != nil {
		b.Fatal(err)
	}
	return m, blocks
}

// encodeIndex encodes a shard index with its checksum.
func encodeIndex(entries []entry) (b []byte) {
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, e.offset), e.size)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// BenchmarkFill reads all blocks of a shard, 16 at a time, in one goroutine.
func BenchmarkFill(b *testing.B) {
	m, _ := benchShard(b)
	f, err := m.OpenCube(volume.Vec{})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	g := f.Grid()
	memory := make([]byte, 16*g.BlockBytes())
	b.SetBytes(g.Bytes())
	b.ReportAllocs()
	for b.Loop() {
		var batch []volume.Block
		for at := range (volume.Box{Max: g.Blocks()}).All() {
			if batch = append(batch, volume.Block{At: at}); len(batch) < 16 {
				continue
			}
			rest := memory
			f.Fill(b.Context(), batch, func(volume.Vec) []byte {
				block := rest[:g.BlockBytes()]
				rest = rest[g.BlockBytes():]
				return block
			})
			for _, block := range batch {
				if block.Err != nil {
					b.Fatal(block.Err)
				}
			}
			batch = batch[:0]
		}
	}
}

// BenchmarkCodec decodes the same blocks with the codec alone.
func BenchmarkCodec(b *testing.B) {
	_, blocks := benchShard(b)
	memory := make([]byte, benchBlock*benchBlock*benchBlock)
	b.SetBytes(int64(len(blocks) * len(memory)))
	for b.Loop() {
		for _, block := range blocks {
			if err := codec.DecodeInto(codec.Zstd{}, memory, block); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkCopy brings the values of a chunk of 64³ into the order of a block.
func BenchmarkCopy(b *testing.B) {
	const side = 64
	for _, order := range []string{"xyz", "zyx", "yzx", "xzy"} {
		for _, t := range []volume.Type{volume.Uint8, volume.Uint16, volume.Uint64} {
			b.Run(fmt.Sprintf("%s fastest last, %v", order, t), func(b *testing.B) {
				l := layout{n: [4]int{1, side, side, side}, to: [4]int{1, 1, side, side * side}}
				for i, axis := range order {
					l.from[1+int(axis-'x')] = []int{side * side, side, 1}[i]
				}
				chunk, block := make([]byte, side*side*side*t.Size()), make([]byte, side*side*side*t.Size())
				b.SetBytes(int64(len(block)))
				for b.Loop() {
					l.copyTo(block, chunk, t.Size(), false)
				}
			})
		}
	}
}
