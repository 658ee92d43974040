package lz4block

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// BenchmarkDecode decodes blocks of many small matches, as images of tissue have. With the environment variable CUBE,
// it decodes the blocks of that cube file.
func BenchmarkDecode(b *testing.B) {
	size, srcs := 32768, make([][]byte, 512)
	if name := os.Getenv("CUBE"); name != "" {
		size, srcs = blocksOf(b, name)
	} else {
		for i := range srcs {
			srcs[i] = compressed(texture(rand.New(rand.NewPCG(11, uint64(i))), size), false)
		}
	}
	dst := make([][]byte, len(srcs))
	for i := range dst {
		dst[i] = make([]byte, size)
	}
	run := func(name string, do func(i int) error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size * len(srcs)))
			for b.Loop() {
				for i := 0; i < len(srcs); i += 2 {
					if err := do(i); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	run("pierrec", func(i int) error {
		_, err := lz4.UncompressBlock(srcs[i], dst[i])
		_, err1 := lz4.UncompressBlock(srcs[i+1], dst[i+1])
		return errors.Join(err, err1)
	})
	withEachDecoder(func(decoder string) {
		run(decoder+", one by one", func(i int) error {
			return errors.Join(Decode(dst[i], srcs[i]), Decode(dst[i+1], srcs[i+1]))
		})
		run(decoder+", pairs", func(i int) error {
			return errors.Join(DecodePair(dst[i], srcs[i], dst[i+1], srcs[i+1]))
		})
	})
}

// blocksOf returns the first blocks of a compressed cube file of version 1, and their decoded length.
func blocksOf(b *testing.B, name string) (size int, blocks [][]byte) {
	file, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	log2, start := file[4], binary.LittleEndian.Uint64(file[8:])
	for i := range min(1<<(3*(log2>>4)), 4096) {
		end := binary.LittleEndian.Uint64(file[16+8*i:])
		blocks, start = append(blocks, file[start:end]), end
	}
	return int(file[7]) << (3 * (log2 & 15)), blocks
}

// texture returns n bytes of repeated words of 5 to 9 bytes, and short runs.
func texture(r *rand.Rand, n int) []byte {
	var words [2048][]byte
	for i := range words {
		words[i] = make([]byte, 5+r.IntN(5))
		for j := range words[i] {
			words[i][j] = byte(r.Uint32())
		}
	}
	var b []byte
	for len(b) < n {
		b = append(b, words[r.IntN(len(words))]...)
		switch r.IntN(8) {
		case 0, 1:
			b = append(b, byte(r.Uint32()))
		case 2:
			b = append(b, bytes.Repeat(b[len(b)-1:], 5+r.IntN(5))...)
		}
	}
	return b[:n]
}
