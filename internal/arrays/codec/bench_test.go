package codec

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// BenchmarkDecode decodes 256 KiB with each codec.
func BenchmarkDecode(b *testing.B) {
	data := texture(256 << 10)
	for _, s := range []sample{
		{name: "raw", codec: Chain{}, stored: data},
		{name: "crc32c", codec: CRC32C{}, stored: withCRC32C(data)},
		{name: "gzip", codec: Gzip{}, stored: gzipped(data, 6)},
		{name: "zlib", codec: Zlib{}, stored: zlibbed(data)},
		{name: "zstd", codec: Zstd{}, stored: zstded(data, false, true)},
		{name: "zstd with checksum", codec: Zstd{}, stored: zstded(data, true, true)},
		{name: "zstd, crc32c", codec: Chain{Zstd{}, CRC32C{}}, stored: withCRC32C(zstded(data, false, true))},
		{name: "xz", codec: XZ{}, stored: xzOf(data, xz.WriterConfig{})},
		{name: "lz4", codec: LZ4{}, stored: append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))),
			lz4Block(data)...)},
		{name: "lz4 of Java", codec: LZ4Java{}, stored: lz4JavaOf(data, 1<<16)},
		{name: "blosc blosclz shuffle", codec: Blosc{}, stored: chunkOf{bloscLZ<<5 | bloscBytes, 2,
			32 << 10}.chunk(data)},
		{name: "blosc lz4", codec: Blosc{}, stored: chunkOf{bloscLZ4<<5 | bloscUnsplit, 2, 32 << 10}.chunk(data)},
		{name: "blosc lz4 shuffle", codec: Blosc{}, stored: chunkOf{bloscLZ4<<5 | bloscBytes, 2, 32 << 10}.chunk(data)},
		{name: "blosc lz4 bitshuffle", codec: Blosc{}, stored: chunkOf{bloscLZ4<<5 | bloscBits, 2,
			32 << 10}.chunk(data)},
		{name: "blosc zstd shuffle", codec: Blosc{}, stored: chunkOf{bloscZstd<<5 | bloscBytes | bloscUnsplit, 2,
			128 << 10}.chunk(data)},
	} {
		b.Run(s.name, func(b *testing.B) { benchmark(b, s.codec, s.stored, len(data)) })
	}
	// The blocks of blosc lz4, without blosc.
	b.Run("lz4block pairs", func(b *testing.B) {
		dst := make([]byte, len(data))
		var blocks [][]byte
		for part := range len(data) / (32 << 10) {
			blocks = append(blocks, lz4Block(data[part<<15:][:32<<10]))
		}
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for i := 0; i < len(blocks); i += 2 {
				if err, _ := lz4block.DecodePair(dst[i<<15:][:32<<10], blocks[i], dst[(i+1)<<15:][:32<<10],
					blocks[i+1]); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// texture returns n bytes of repeated words of 5 to 9 bytes, and a random byte after some. Images compress like this,
// to many small matches.
func texture(n int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	words := make([][]byte, 2048)
	for i := range words {
		words[i] = noise(1000 + i)[:5+r.IntN(5)]
	}
	var b []byte
	for len(b) < n {
		b = append(b, words[r.IntN(len(words))]...)
		if r.IntN(4) == 0 {
			b = append(b, byte(r.Uint32()))
		}
	}
	return b[:n]
}

func benchmark(b *testing.B, c Codec, stored []byte, n int) {
	dst := make([]byte, n)
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		if err := DecodeInto(c, dst, stored); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnshuffle puts blocks of 32 KiB in order.
func BenchmarkUnshuffle(b *testing.B) {
	src, dst := noise(32<<10), make([]byte, 32<<10)
	for _, size := range []int{2, 3, 4, 8, 16} {
		b.Run(fmt.Sprintf("bytes of %d", size), func(b *testing.B) {
			n := len(src) / size * size
			b.SetBytes(int64(n))
			for b.Loop() {
				unshuffleBytes(dst[:n], src[:n], size)
			}
		})
	}
	b.Run("bits", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			unshuffleBits(dst, src)
		}
	})
}
