package pyramid

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// ZstdLevel is the level at which blocks of shards are compressed, that of WEBKNOSSOS.
const ZstdLevel = 5

// shardLayout stores cubes as shards of Zarr 3, as WEBKNOSSOS does (codec sharding_indexed, version 1.0): inner chunks
// in any order, then the index. The axes of the array are c, x, y, z. An inner chunk is transposed, so its bytes are
// those of a block. Inner chunks of zeros are absent.
//
// The index has 16 bytes for each inner chunk, z fastest: offset and length. Both are 2^64 − 1 if the chunk is absent.
// The crc32c of the index follows it. Until a shard is complete, its file has the index after the place that the
// longest blocks would need.
type shardLayout struct {
	grid  volume.Grid // of a shard
	bound int         // most bytes of a stored block
}

func newShardLayout(g volume.Grid) shardLayout {
	l := shardLayout{grid: g}
	l.bound = l.newEncoder().Bound()
	return l
}

// entryBytes is the size of an entry of the index.
const entryBytes = 16

func (l shardLayout) name(c volume.Vec) string { return fmt.Sprintf("c/0/%d/%d/%d", c[0], c[1], c[2]) }

func (l shardLayout) first() uint64 { return 0 }

// blocks returns the number of blocks of a shard.
func (l shardLayout) blocks() int64 {
	n := l.grid.Blocks()
	return int64(n[0]) * int64(n[1]) * int64(n[2])
}

// indexAt returns the offset of the index while the shard is being written.
func (l shardLayout) indexAt() int64 { return l.blocks() * int64(l.bound) }

func (l shardLayout) writeTable(f *os.File, p *subCube, ends []uint64) error {
	side, first := p.cube.m.subCubeSide(), p.firstBlock()
	n := l.grid.Blocks()
	row := make([]byte, side*entryBytes) // blocks along z
	for x := range side {
		for y := range side {
			for z := range side {
				offset, length := extentOf(ends, wkw.MortonIndex(volume.Vec{x, y, z}))
				binary.LittleEndian.PutUint64(row[z*entryBytes:], p.offset+offset)
				binary.LittleEndian.PutUint64(row[z*entryBytes+8:], length)
			}
			at := int64(first[2]) + int64(n[2])*(int64(first[1]+y)+int64(n[1])*int64(first[0]+x))
			if _, err := f.WriteAt(row, l.indexAt()+at*entryBytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// extentOf returns the offset and the length of block i.
func extentOf(ends []uint64, i uint64) (offset, length uint64) {
	if i > 0 {
		offset = ends[i-1]
	}
	return offset, ends[i] - offset
}

func (l shardLayout) finish(f *os.File, end uint64) error {
	index := make([]byte, l.blocks()*entryBytes+crc32.Size)
	entries := index[:len(index)-crc32.Size]
	if err := f.Truncate(l.indexAt() + int64(len(entries))); err != nil {
		return err
	}
	if _, err := f.ReadAt(entries, l.indexAt()); err != nil {
		return err
	}
	for e := entries; len(e) > 0; e = e[entryBytes:] {
		if binary.LittleEndian.Uint64(e[8:]) == 0 { // absent
			binary.LittleEndian.PutUint64(e, math.MaxUint64)
			binary.LittleEndian.PutUint64(e[8:], math.MaxUint64)
		}
	}
	binary.LittleEndian.PutUint32(index[len(entries):], crc32.Checksum(entries, crc32.MakeTable(crc32.Castagnoli)))
	if err := f.Truncate(int64(end)); err != nil {
		return err
	}
	_, err := f.WriteAt(index, int64(end))
	return err
}

// newEncoder returns an encoder whose frames have their length and a checksum.
func (l shardLayout) newEncoder() encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(ZstdLevel)),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true),
		zstd.WithAllLitEntropyCompression(true)) // images have few repetitions, but some values are more frequent
	if err != nil {
		panic(err) // not with these options
	}
	return zstdEncoder{e, l.grid.BlockBytes()}
}

type zstdEncoder struct {
	*zstd.Encoder
	block int // bytes
}

// Encode implements encoder.
func (e zstdEncoder) Encode(dst, block []byte) ([]byte, error) { return e.EncodeAll(block, dst), nil }

// Bound implements encoder.
func (e zstdEncoder) Bound() int { return e.MaxEncodedSize(e.block) }
