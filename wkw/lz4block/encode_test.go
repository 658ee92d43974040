package lz4block

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// encoding holds an encoder, and memory in which a read or write beyond the end of a slice faults.
type encoding struct {
	Encoder
	dst, src, back arena
}

func newEncoding(t testing.TB, atLeast int) *encoding {
	return &encoding{dst: newArena(t, Bound(atLeast)), src: newArena(t, max(atLeast, 1)),
		back: newArena(t, max(atLeast, 1))}
}

// check encodes voxels at both ends of the memory. The block must follow the rules of the format, and all decoders must
// return the voxels. check returns the block.
func (e *encoding) check(t *testing.T, voxels []byte) []byte {
	t.Helper()
	n := len(voxels)
	var blocks [2][]byte
	for i, part := range []func(arena, int) []byte{arena.first, arena.last} {
		src, dst := part(e.src, n), part(e.dst, Bound(n))
		copy(src, voxels)
		length, err := e.Encode(dst, src)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(src, voxels) {
			t.Fatal("Encode changed its source")
		}
		blocks[i] = bytes.Clone(dst[:length])
	}
	if !bytes.Equal(blocks[0], blocks[1]) {
		t.Fatalf("two blocks for % x: % x and % x", clip(voxels), clip(blocks[0]), clip(blocks[1]))
	}
	checkEnd(t, blocks[0], n)
	e.checkDecoders(t, blocks[0], voxels)
	return blocks[0]
}

// checkDecoders decodes a block with Decode, the model and pierrec/lz4.
func (e *encoding) checkDecoders(t *testing.T, block, want []byte) {
	t.Helper()
	check := func(decoder string, got []byte, err error) {
		t.Helper()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s of % x: %v, byte %d of %d", decoder, clip(block), err, firstDifference(got, want), len(want))
		}
	}
	got := e.back.first(len(want))
	err := Decode(got, block)
	check("Decode", got, err)
	got, valid := model(block, len(want))
	check(fmt.Sprintf("model (valid: %v)", valid), got, nil)
	got = make([]byte, len(want))
	n, err := lz4.UncompressBlock(block, got)
	check("pierrec/lz4", got[:max(n, 0)], err)
}

// checkEnd checks the end of a block of n bytes: the last 5 bytes are literals, and the last match starts at least 12
// bytes before the end.
func checkEnd(t *testing.T, block []byte, n int) {
	t.Helper()
	lastMatch, end := -1, 0 // positions in the decoded bytes
	for at := 0; ; {
		token := block[at]
		literals, next, _ := length(block, int(token>>4), at+1)
		if end += literals; next+literals == len(block) {
			if lastMatch >= 0 && (n-lastMatch < 12 || literals < 5) {
				t.Fatalf("a match %d bytes before the end, and %d last literals: % x", n-lastMatch, literals,
					clip(block))
			}
			return
		}
		lastMatch = end
		match, next, ok := length(block, int(token&longest), next+literals+2)
		if !ok {
			t.Fatalf("a block without an end: % x", clip(block))
		}
		end, at = end+match+minMatch, next
	}
}

// random returns n bytes that cannot be compressed.
func random(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	e := newEncoding(t, 1<<18)
	for i := range 600 {
		n := r.IntN(1 << r.IntN(19))
		switch i % 4 {
		case 0:
			e.check(t, random(r, n))
		case 1:
			e.check(t, texture(r, n))
		default:
			e.check(t, tissue(r, n))
		}
	}
}

// TestEncodeShort encodes all short blocks of two values, and blocks of all lengths up to 100.
func TestEncodeShort(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	e := newEncoding(t, 100)
	for n := range 101 {
		e.check(t, make([]byte, n))
		e.check(t, random(r, n))
		for period := 1; period < 12; period++ {
			voxels := random(r, n)
			repeat(voxels, period)
			block := e.check(t, voxels)
			if n >= 64 && len(block) > period+24 {
				t.Errorf("%d bytes with a period of %d take %d", n, period, len(block))
			}
		}
	}
}

// TestEncodeLengths has literals and matches of all lengths near those at which their length takes one byte more, in
// the middle of a block and at its end.
func TestEncodeLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	e := newEncoding(t, 1<<13)
	var lengths []int
	for _, n := range []int{15, 19, 15 + 255, 19 + 255, 15 + 2*255, 19 + 2*255, 15 + 10*255} {
		lengths = append(lengths, n-2, n-1, n, n+1, n+2)
	}
	for _, literals := range lengths {
		for _, match := range lengths {
			voxels := random(r, literals)
			voxels = append(voxels, bytes.Repeat(random(r, 1), match)...)
			e.check(t, voxels)
			for _, rest := range []int{1, 4, 5, 6, 11, 12, 13, 15, 16, 17} {
				e.check(t, append(voxels, random(r, rest)...))
			}
		}
	}
}

// TestEncodeOffsets repeats bytes at distances near 65535, the largest offset, and its multiples. Where a block is
// random otherwise, it is shorter if the offset is allowed, and is not if it is too large.
func TestEncodeOffsets(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	e := newEncoding(t, 1<<18)
	for _, c := range []struct {
		offset int
		found  bool
	}{
		{1, true}, {2, true}, {7, true}, {8, true}, {255, true}, {256, true}, {32768, true}, {65534, true},
		{65535, true},
		{65536, false}, {65537, false}, {65538, false}, {131071, false}, {131072, false},
	} {
		voxels := random(r, c.offset+3000)
		repeat(voxels, c.offset)
		block := e.check(t, voxels)
		if found := len(block) < len(voxels)-2000; found != c.found {
			t.Errorf("offset %d: %d bytes take %d; expected a match: %v", c.offset, len(voxels), len(block), c.found)
		}
	}
}

// TestEncodeLarge encodes blocks around 64 KiB, where positions in the table start again, and larger ones.
func TestEncodeLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	e := newEncoding(t, 1<<20)
	for _, n := range []int{65534, 65535, 65536, 65537, 65536 + 15, 65536 + 16, 65536 + 17, 131071, 131072, 131073,
		1 << 20} {
		if block := e.check(t, make([]byte, n)); len(block) > n/255+32 {
			t.Errorf("%d zeros take %d bytes", n, len(block))
		}
		e.check(t, random(r, n))
		e.check(t, tissue(r, n))
		voxels := make([]byte, n)
		copy(voxels[n-80:], random(r, 40))
		copy(voxels[n-40:], voxels[n-80:]) // a match at the very end
		if block := e.check(t, voxels); len(block) > n/255+80 {
			t.Errorf("the match at the end of %d bytes was not found: %d bytes", n, len(block))
		}
	}
}

// TestEncodeAgain encodes a block after others. The result must not depend on them.
func TestEncodeAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	voxels := tissue(r, 100_000)
	want, got := make([]byte, Bound(len(voxels))), make([]byte, Bound(len(voxels)))
	n, err := new(Encoder).Encode(want, voxels)
	if err != nil {
		t.Fatal(err)
	}
	var e Encoder
	for _, before := range [][]byte{voxels, voxels[50_000:], random(r, 70_000), {}} {
		if _, err := e.Encode(got, before); err != nil {
			t.Fatal(err)
		}
		if m, err := e.Encode(got, voxels); err != nil || !bytes.Equal(got[:m], want[:n]) {
			t.Fatalf("another block after one of %d bytes: %v", len(before), err)
		}
	}
	if allocations := testing.AllocsPerRun(10, func() { _, _ = e.Encode(got, voxels) }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestEncodeNoRoom(t *testing.T) {
	var e Encoder
	for _, src := range [][]byte{nil, make([]byte, 20), random(rand.New(rand.NewPCG(33, 34)), 600)} {
		room := Bound(len(src))
		for n := range room {
			want := fmt.Sprintf("destination of a block of %d bytes: expected %d bytes, found %d", len(src), room, n)
			if got, err := e.Encode(make([]byte, n), src); err == nil || err.Error() != want || got != 0 {
				t.Fatalf("got %d, %v; expected the error %s", got, err, want)
			}
		}
	}
}

func FuzzEncode(f *testing.F) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, n := range []int{0, 1, 16, 17, 40, 300, 1000} {
		f.Add(tissue(r, n), uint16(0))
		f.Add(make([]byte, n), uint16(7))
	}
	f.Add(tissue(r, 500), uint16(65_500))
	// The bytes are encoded twice with others in between, so that there are large offsets.
	f.Fuzz(func(t *testing.T, voxels []byte, between uint16) {
		all := append(bytes.Clone(voxels), random(rand.New(rand.NewPCG(45, 46)), int(between))...)
		all = append(all, voxels...)
		newEncoding(t, len(all)).check(t, all)
	})
}
