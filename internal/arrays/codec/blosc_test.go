package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
)

// chunkOf is how a test writes a chunk of blosc.
type chunkOf struct {
	flags     byte // with the compression
	valueSize int
	blockSize int
}

func (c chunkOf) String() string {
	return fmt.Sprintf("blosc compression %d flags %05b values of %d blocks of %d", c.flags>>5, c.flags&31, c.valueSize,
		c.blockSize)
}

// chunk writes a chunk as the specification says, byte by byte and bit by bit.
func (c chunkOf) chunk(b []byte) []byte {
	blocks := (len(b) + c.blockSize - 1) / c.blockSize
	starts := make([]byte, 4*blocks)
	var data []byte
	for i := range blocks {
		block := b[i*c.blockSize : min((i+1)*c.blockSize, len(b))]
		binary.LittleEndian.PutUint32(starts[4*i:], uint32(bloscHeaderBytes+len(starts)+len(data)))
		parts := 1
		if c.flags&bloscUnsplit == 0 && len(block) == c.blockSize && c.valueSize <= 16 &&
			len(block)/c.valueSize >= 128 {
			parts = c.valueSize
		}
		block = c.shuffled(block)
		for n := len(block) / parts; len(block) > 0; block = block[n:] {
			stored := c.compressed(block[:n])
			data = binary.LittleEndian.AppendUint32(data, uint32(len(stored)))
			data = append(data, stored...)
		}
	}
	return c.header(len(b), append(starts, data...))
}

// header puts a header before body.
func (c chunkOf) header(n int, body []byte) []byte {
	b := []byte{2, 1, c.flags, byte(c.valueSize)}
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.blockSize))
	b = binary.LittleEndian.AppendUint32(b, uint32(bloscHeaderBytes+len(body)))
	return append(b, body...)
}

// shuffled returns a block with its bytes or bits shuffled.
func (c chunkOf) shuffled(b []byte) []byte {
	out := bytes.Clone(b)
	n := len(b) / c.valueSize
	switch {
	case c.flags&bloscBytes != 0 && c.valueSize > 1:
		for i := range n * c.valueSize {
			out[i%c.valueSize*n+i/c.valueSize] = b[i]
		}
	case c.flags&bloscBits != 0 && n%8 == 0:
		clear(out[:n*c.valueSize])
		for bit := range 8 * n * c.valueSize {
			value, of := bit/(8*c.valueSize), bit%(8*c.valueSize)
			to := of*n + value
			out[to/8] |= b[bit/8] >> (bit % 8) & 1 << (to % 8)
		}
	}
	return out
}

// compressed returns the compressed form of a stream, or b itself if that is not shorter.
func (c chunkOf) compressed(b []byte) []byte {
	var out []byte
	switch c.flags >> 5 {
	case bloscLZ:
		out = blosclzOf(b)
	case bloscLZ4:
		out = make([]byte, lz4.CompressBlockBound(len(b)))
		n, err := lz4.CompressBlock(b, out, nil)
		if err != nil {
			panic(err)
		}
		out = out[:n]
	case bloscSnappy:
		out = snappy.Encode(nil, b)
	case bloscZlib:
		out = zlibbed(b)
	case bloscZstd:
		out = zstded(b, false, true)
	}
	if len(out) == 0 || len(out) >= len(b) {
		return b
	}
	return out
}

func bloscSamples() []sample {
	var all []sample
	add := func(c chunkOf, b []byte) {
		all = append(all, sample{name: c.String() + fmt.Sprintf(" %d bytes", len(b)), codec: Blosc{}, decoded: b,
			stored: c.chunk(b), unverified: true})
	}
	for compression := range byte(bloscCompressions) {
		for _, order := range []byte{0, bloscBytes, bloscBits} {
			for _, unsplit := range []byte{0, bloscUnsplit} {
				add(chunkOf{compression<<5 | order | unsplit, 2, 4096}, voxels(20_000))
			}
			add(chunkOf{compression<<5 | order, 4, 1024}, append(noise(3000), voxels(1096)...))
		}
	}
	for _, size := range []int{1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 255} {
		for _, order := range []byte{bloscBytes, bloscBits} {
			for _, n := range []int{1, 127, 128, 2047, 2048, 2049, 4096 + 8*size, 4096 + 8*size + 1} {
				block := max(2048/size, 1) * size
				add(chunkOf{bloscLZ4<<5 | order, size, block}, voxels(n))
			}
		}
	}
	stored := chunkOf{bloscLZ4<<5 | bloscStored | bloscBytes, 4, 1000}
	return append(all, sample{name: "blosc stored", codec: Blosc{}, decoded: noise(2500),
		stored: stored.header(2500, noise(2500)), unverified: true},
		sample{name: "blosc empty", codec: Blosc{}, decoded: nil, stored: stored.header(0, nil), unverified: true})
}

// TestBloscErrors changes one thing in a chunk of 3 blocks of 4096 bytes, of which the last has 1808, in 2 streams each
// but the last.
func TestBloscErrors(t *testing.T) {
	c := chunkOf{bloscLZ4<<5 | bloscBytes, 2, 4096}
	good := c.chunk(voxels(10_000))
	le := binary.LittleEndian
	for _, test := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"nothing", func(b []byte) []byte { return b }, ""},
		{"no header", func(b []byte) []byte { return b[:15] }, "blosc data at byte 15: unexpected EOF"},
		{"another version", func(b []byte) []byte { b[0] = 5; return b },
			"unsupported blosc version at byte 0: expected 2, found 5"},
		{"a flag of the future", func(b []byte) []byte { b[2] |= 8; return b },
			"unsupported blosc flags at byte 2: expected bit 3 to be 0, found 00101001"},
		{"another compression", func(b []byte) []byte { b[2] = 5 << 5; return b },
			"unsupported blosc compression at byte 2: expected less than 5, found 5"},
		{"another LZ4", func(b []byte) []byte { b[1] = 2; return b },
			"unsupported blosc version of the compression at byte 1: expected 1, found 2"},
		{"values of 0 bytes", func(b []byte) []byte { b[3] = 0; return b },
			"blosc bytes of a value at byte 3: expected 1 or more, found 0"},
		{"more than the limit", func(b []byte) []byte { le.PutUint32(b[4:], 10_001); return b },
			"blosc length at byte 4: expected at most 10000 bytes, found 10001"},
		{"2^31 bytes", func(b []byte) []byte { le.PutUint32(b[4:], 1<<31); return b },
			"blosc length at byte 4: expected 0 or more, found -2147483648"},
		{"blocks of 0 bytes", func(b []byte) []byte { le.PutUint32(b[8:], 0); return b },
			"blosc bytes of a block at byte 8: expected 1 or more, found 0"},
		{"blocks of 2^32-1 bytes", func(b []byte) []byte { le.PutUint32(b[8:], 1<<32-1); return b },
			"blosc bytes of a block at byte 8: expected 1 or more, found -1"},
		{"blocks of 1 byte", func(b []byte) []byte { le.PutUint32(b[8:], 1); return b },
			"blosc offsets of blocks at byte 16: expected 10000 words, found "},
		{"blocks that do not split", func(b []byte) []byte { le.PutUint32(b[8:], 4095); return b },
			"blosc bytes of a block at byte 8: expected a multiple of 2, found 4095"},
		{"a byte less", func(b []byte) []byte { return b[:len(b)-1] },
			"blosc size at byte 12: expected that of the chunk, "},
		{"a block past the end", func(b []byte) []byte { le.PutUint32(b[20:], uint32(len(b)-3)); return b },
			"blosc block 1 at byte "},
		{"a block at 2^32-1", func(b []byte) []byte { le.PutUint32(b[20:], 1<<32-1); return b },
			"blosc block 1 at byte 4294967295: "},
		{"a stream past the end", func(b []byte) []byte { le.PutUint32(b[28:], 1<<31); return b },
			"blosc block 0 at byte 32: a stream of 2147483648 bytes, of which "},
		{"the same block twice", func(b []byte) []byte { copy(b[20:], b[16:20]); copy(b[24:], b[16:20]); return b },
			"that overlaps others"},
		{"stored", func(b []byte) []byte { b[2] |= bloscStored; return b },
			"blosc stored bytes at byte 16: expected 10000, found "},
	} {
		_, err := decode(t, Blosc{}, make([]byte, 10_000), test.change(bytes.Clone(good)), 10_000)
		switch {
		case err == nil && test.want != "":
			t.Errorf("%s: no error", test.name)
		case err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: expected %q, found %q", test.name, test.want, err)
		}
	}
}

// TestBloscStreamErrors damages a stream of each compression.
func TestBloscStreamErrors(t *testing.T) {
	for compression, want := range []string{"blosclz data", "lz4 block", "snappy", "zlib data", "zstd data"} {
		b := chunkOf{byte(compression<<5) | bloscUnsplit, 1, 1000}.chunk(voxels(1000))
		for i := 24; i < len(b); i++ {
			b[i] = 0xfe
		}
		if _, err := decode(t, Blosc{}, nil, b, 1000); err == nil ||
			!strings.Contains(err.Error(), "blosc block 0 at byte 24: "+want) {
			t.Errorf("compression %d: expected an error of %s, found %v", compression, want, err)
		}
	}
}

func FuzzBlosc(f *testing.F) { fuzz(f, Blosc{}, bloscSamples()) }
