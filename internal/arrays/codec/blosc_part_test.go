package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// decodePart decodes a part of src with DecodePart, and checks what holds for every input: only bytes of src are read,
// and no others than those of dst are written.
func decodePart(t testing.TB, src []byte, from, n, total int) ([]byte, error) {
	t.Helper()
	const canary = 0xa5
	full := bytes.Repeat([]byte{canary}, n+64)
	err := Blosc{}.DecodePart(full[:n:n], from, total, len(src), func(p []byte, at int) error {
		if at < 0 || at+len(p) > len(src) {
			t.Fatalf("reads %d bytes at byte %d of %d", len(p), at, len(src))
		}
		copy(p, src[at:])
		return nil
	})
	if !bytes.Equal(full[n:], bytes.Repeat([]byte{canary}, 64)) {
		t.Fatalf("writes more than %d bytes", n)
	}
	if err != nil {
		return nil, typed(t, Blosc{}, err)
	}
	return full[:n], nil
}

// TestBloscParts decodes parts of all chunks.
func TestBloscParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range bloscSamples() {
		n := len(s.decoded)
		for i := range 20 {
			from := r.IntN(n + 1)
			end := from + r.IntN(n-from+1)
			if i == 0 {
				from, end = 0, n
			}
			got, err := decodePart(t, s.stored, from, end-from, n)
			if err != nil || !bytes.Equal(got, s.decoded[from:end]) {
				t.Fatalf("%s: bytes %d to %d: other bytes than expected, %v", s.name, from, end, err)
			}
		}
		for _, total := range []int{n - 1, n + 1} {
			if _, err := decodePart(t, s.stored, 0, min(1, n), max(total, 1)); err == nil && total > 0 {
				t.Errorf("%s: decodes to %d bytes", s.name, total)
			}
		}
	}
}

// TestBloscPartReads: a part needs the header, the offsets and the blocks that hold it, in any order of the blocks. A
// chunk without compression is read into place.
func TestBloscPartReads(t *testing.T) {
	const block, blocks = 4096, 100 // more than bloscFirstRead has offsets of
	data := voxels(block * blocks)
	for _, of := range []chunkOf{{bloscLZ4<<5 | bloscBytes, 2, block}, {bloscZstd<<5 | bloscUnsplit, 2, block}} {
		stored := of.chunk(data)
		for i := range blocks {
			read := 0
			dst := make([]byte, block)
			err := Blosc{}.DecodePart(dst, i*block, len(data), len(stored), func(p []byte, at int) error {
				read += len(p)
				copy(p, stored[at:])
				return nil
			})
			if err != nil || !bytes.Equal(dst, data[i*block:][:block]) || read > bloscFirstRead+16+4*blocks+block+64 {
				t.Fatalf("%v: block %d: %d bytes read, %v", of, i, read, err)
			}
		}
	}
	flat := chunkOf{bloscLZ4<<5 | bloscStored, 1, block}
	stored := flat.header(len(data), data)
	dst, inPlace := make([]byte, 1000), false
	err := Blosc{}.DecodePart(dst, 500, len(data), len(stored), func(p []byte, at int) error {
		inPlace = inPlace || &p[0] == &dst[0] && len(p) == len(dst)
		copy(p, stored[at:])
		return nil
	})
	if err != nil || !inPlace || !bytes.Equal(dst, data[500:1500]) {
		t.Errorf("stored: in place: %v, %v", inPlace, err)
	}
}

// TestBloscPartErrors: damage is an error for the parts that need it. Errors of reading are returned as they are.
func TestBloscPartErrors(t *testing.T) {
	le := binary.LittleEndian
	data := voxels(3 * 4096)
	good := chunkOf{bloscLZ4<<5 | bloscUnsplit, 2, 4096}.chunk(data)
	for _, test := range []struct {
		name    string
		change  func(b []byte)
		damaged []int // blocks
	}{
		{"nothing", func([]byte) {}, nil},
		{"a stream", func(b []byte) { le.PutUint32(b[le.Uint32(b[20:]):], 1<<20) }, []int{1}},
		{"an offset past the end", func(b []byte) { le.PutUint32(b[24:], 1<<31) }, []int{2}},
		{"an offset in another block", func(b []byte) { le.PutUint32(b[16:], le.Uint32(b[20:])+1) }, []int{0, 1}},
		{"the size", func(b []byte) { b[12]++ }, []int{0, 1, 2}},
		{"the version", func(b []byte) { b[0]++ }, []int{0, 1, 2}},
		{"blocks of 1 byte", func(b []byte) { le.PutUint32(b[8:], 1) }, []int{0, 1, 2}},
	} {
		damaged := bytes.Clone(good)
		test.change(damaged)
		for i := range 3 {
			want := data[i*4096:][:4096]
			got, err := decodePart(t, damaged, i*4096, 4096, len(data))
			isDamaged := false
			for _, n := range test.damaged {
				isDamaged = isDamaged || n == i
			}
			if isDamaged != (err != nil) || err == nil && !bytes.Equal(got, want) {
				t.Errorf("%s: block %d: %v", test.name, i, err)
			}
		}
	}
	unreadable := fmt.Errorf("unreadable")
	for nth := range 2 {
		n := 0
		err := Blosc{}.DecodePart(make([]byte, 4096), 4096, len(data), len(good), func(p []byte, at int) error {
			if n++; n > nth {
				return unreadable
			}
			copy(p, good[at:])
			return nil
		})
		if !errors.Is(err, unreadable) {
			t.Errorf("read %d: %v", nth, err)
		}
	}
	if err := (Blosc{}).DecodePart(make([]byte, 4096), 0, len(data), 10,
		func([]byte, int) error { return nil }); err == nil {
		t.Error("a chunk of 10 bytes decodes")
	} else if _, ok := errors.AsType[*volume.FormatError](err); !ok {
		t.Errorf("a chunk of 10 bytes: %v", err)
	}
}

// TestBloscBlock compares the sizes of blocks with those of c-blosc 1.21.3, for chunks of 8 MiB.
func TestBloscBlock(t *testing.T) {
	for _, test := range []struct {
		compression      string
		level, valueSize int
		want             int
	}{
		{"lz4", 5, 1, 128 << 10}, {"lz4", 5, 4, 512 << 10}, {"lz4", 5, 2, 256 << 10}, {"lz4", 9, 8, 1 << 20},
		{"lz4", 0, 4, 8 << 10}, {"lz4", 1, 1, 64 << 10},
		{"lz4", 1, 2, 64 << 10}, {"blosclz", 9, 1, 256 << 10}, {"lz4hc", 1, 4, 128 << 10}, {"zlib", 1, 8, 256 << 10},
		{"zstd", 5, 1, 256 << 10}, {"zstd", 5, 8, 256 << 10},
		{"zstd", 1, 2, 32 << 10}, {"zstd", 9, 4, 1 << 20}, {"zstd", 3, 3, 131070}, {"lz4", 5, 24, 131064},
		{"", 5, 1, 0}, {"lz5", 5, 1, 0}, {"lz4", -1, 1, 0}, {"lz4", 10, 1, 0}, {"lz4", 5, 0, 0}, {"lz4", 5, 256, 0},
	} {
		if got := BloscBlock(test.compression, test.level, test.valueSize); got != test.want {
			t.Errorf("%s, level %d, values of %d bytes: %d, expected %d", test.compression, test.level, test.valueSize,
				got, test.want)
		}
	}
}

// FuzzBloscPart compares parts of any chunk with the whole.
func FuzzBloscPart(f *testing.F) {
	for i, s := range bloscSamples() {
		if len(s.stored) < 3000 {
			f.Add(s.stored, uint16(i*37), uint16(100), uint16(len(s.decoded)))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, from, n, total uint16) {
		end := min(int(from)+int(n), int(total))
		if int(from) > end {
			return
		}
		got, err := decodePart(t, src, int(from), end-int(from), int(total))
		whole, wholeErr := decode(t, Blosc{}, make([]byte, total), src, int(total))
		if err == nil && wholeErr == nil && !bytes.Equal(got, whole[from:end]) {
			t.Fatalf("bytes %d to %d differ from those of the whole chunk", from, end)
		}
	})
}

// TestLargeBloscBlocks decodes parts of blocks that are larger than the part, at the same time. Blocks that are too
// large for that are unsupported.
func TestLargeBloscBlocks(t *testing.T) {
	const block = smallBloscBlock + 1<<20
	data := noise(2 * block)
	stored := chunkOf{bloscSnappy<<5 | bloscUnsplit, 1, block}.chunk(data) // noise is stored
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			from, n := i*block/2, block/2
			got, err := decodePart(t, stored, from, n, len(data))
			if err != nil || !bytes.Equal(got, data[from:from+n]) {
				t.Error(err)
			}
		})
	}
	for _, size := range []uint32{maxBloscBlock + 1, 1} {
		const total = maxBloscBlock + 2
		large := append(bytes.Clone(stored[:bloscHeaderBytes]), make([]byte, 4*total)...)
		for at, n := range map[int]uint32{4: total, 8: size, 12: uint32(len(large))} {
			binary.LittleEndian.PutUint32(large[at:], n)
		}
		_, err := decodePart(t, large, 0, 100, total)
		if _, ok := errors.AsType[*volume.UnsupportedError](err); !ok {
			t.Errorf("blocks of %d bytes: %v, expected that they are unsupported", size, err)
		}
	}
}
