package lz4block

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/pierrec/lz4/v4"
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// model decodes src byte by byte, as the format is described, and reports whether it is a block of n bytes.
func model(src []byte, n int) ([]byte, bool) {
	var dst []byte
	next := func() (byte, bool) {
		if len(src) == 0 {
			return 0, false
		}
		b := src[0]
		src = src[1:]
		return b, true
	}
	length := func(n int) (int, bool) {
		for more := n == 15; more; {
			b, ok := next()
			if !ok {
				return 0, false
			}
			n, more = n+int(b), b == 255
		}
		return n, true
	}
	for {
		token, ok := next()
		if !ok {
			return nil, false
		}
		literals, ok := length(int(token >> 4))
		if !ok || literals > len(src) || len(dst)+literals > n {
			return nil, false
		}
		dst, src = append(dst, src[:literals]...), src[literals:]
		if len(src) == 0 {
			return dst, len(dst) == n && token&15 == 0
		}
		low, _ := next()
		high, ok := next()
		offset := int(low) + 256*int(high)
		match, whole := length(int(token & 15))
		if !ok || !whole || offset == 0 || offset > len(dst) || len(dst)+match+4 > n {
			return nil, false
		}
		for range match + 4 {
			dst = append(dst, dst[len(dst)-offset])
		}
	}
}

// arena is memory between two pages that nobody may touch.
type arena struct{ memory []byte }

func newArena(t testing.TB, atLeast int) arena {
	t.Helper()
	page := unix.Getpagesize()
	n := (atLeast + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, n+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(all); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{all[:page], all[page+n:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return arena{all[page : page+n]}
}

// first returns the n bytes behind the first of the two pages, last those before the other one.
func (a arena) first(n int) []byte { return a.memory[:n:n] }
func (a arena) last(n int) []byte  { return a.memory[len(a.memory)-n:] }

// bench is where blocks are decoded so that everything written or read beyond them is found out.
type bench struct{ dst0, src0, dst1, src1, other arena }

func newBench(t testing.TB, atLeast int) *bench {
	b := new(bench)
	for _, a := range []*arena{&b.dst0, &b.src0, &b.dst1, &b.src1, &b.other} {
		*a = newArena(t, atLeast)
	}
	return b
}

// bothWays does the same with the assembly, where there is one, and in Go.
func bothWays(do func(way string)) {
	has := cpu.X86.HasSSSE3
	defer func() { cpu.X86.HasSSSE3 = has }()
	if has {
		do("assembly")
	}
	cpu.X86.HasSSSE3 = false
	do("Go")
}

// ways decodes a block of n bytes in every way there is. What comes out is that of the model, or the error of finish
// where the model has none.
func (b *bench) ways(t *testing.T, src []byte, n int) {
	t.Helper()
	slow := block{dst: make([]byte, n), src: src}
	wrong := slow.finish()
	want, good := model(src, n)
	if (wrong == nil) != good || good && !bytes.Equal(slow.dst, want) {
		t.Fatalf("finish of % x as %d bytes: expected success: %v, found %v", clip(src), n, good, wrong)
	}
	if e := (*Error)(nil); !good && (!errors.As(wrong, &e) || e.Decoded > n || e.At > len(src)) {
		t.Fatalf("finish of % x as %d bytes: an error out of place: %#v", clip(src), n, wrong)
	}
	bothWays(func(way string) { b.way(t, way, src, n, want, wrong) })
}

// way decodes a block in one way: by itself, and as one of a pair.
func (b *bench) way(t *testing.T, way string, src []byte, n int, want []byte, wrong error) {
	t.Helper()
	check := func(what string, got []byte, err error) {
		t.Helper()
		switch {
		case !reflect.DeepEqual(err, wrong):
			t.Fatalf("%s in %s of % x as %d bytes: expected the error %v, found %v", what, way, clip(src), n, wrong, err)
		case err == nil && !bytes.Equal(got, want):
			t.Fatalf("%s in %s of % x as %d bytes: byte %d is wrong", what, way, clip(src), n, firstDifference(got, want))
		}
	}
	at := func(dst, source []byte) ([]byte, []byte) {
		for i := range dst {
			dst[i] = 0xa5
		}
		copy(source, src)
		return dst, source
	}
	for _, place := range []func(arena, int) []byte{arena.first, arena.last} {
		dst0, src0 := at(place(b.dst0, n), place(b.src0, len(src)))
		check("Decode", dst0, Decode(dst0, src0))

		dst0, src0 = at(place(b.dst0, n), place(b.src0, len(src)))
		dst1, src1 := at(place(b.dst1, n), place(b.src1, len(src)))
		err0, err1 := DecodePair(dst0, src0, dst1, src1)
		check("the first of a pair", dst0, err0)
		check("the second of a pair", dst1, err1)

		// Beside a block that is always the same one, whose length is another.
		got := place(b.other, len(beside))
		for _, swapped := range []bool{false, true} {
			at(dst0, src0)
			clear(got)
			if swapped {
				err1, err0 = DecodePair(got, besideBlock, dst0, src0)
			} else {
				err0, err1 = DecodePair(dst0, src0, got, besideBlock)
			}
			check(fmt.Sprintf("one of an unequal pair, swapped: %v", swapped), dst0, err0)
			if err1 != nil || !bytes.Equal(got, beside) {
				t.Fatalf("% x spoils the block beside it in %s: %v", clip(src), way, err1)
			}
		}
	}
}

// beside is bytes of which besideBlock is a block.
var beside, besideBlock = func() ([]byte, []byte) {
	b := tissue(rand.New(rand.NewPCG(1, 2)), 700)
	return b, compressed(b, false)
}()

func clip(b []byte) []byte { return b[:min(len(b), 64)] }

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// tissue is n bytes that look as images do to LZ4: literals, and copies from near and far, short and long.
func tissue(r *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		for range r.IntN(1 + r.IntN(40)) {
			b = append(b, byte(r.Uint32()))
		}
		if len(b) == 0 {
			continue
		}
		offset := 1 + r.IntN(min(len(b), 1<<r.IntN(17)))
		for range 4 + r.IntN(1<<r.IntN(10)) {
			b = append(b, b[len(b)-offset])
		}
	}
	return b[:n]
}

// compressed is the block that pierrec/lz4 makes of b, or one of literals alone where it makes none.
func compressed(b []byte, hard bool) []byte {
	dst := make([]byte, lz4.CompressBlockBound(len(b)))
	var n int
	var err error
	if hard {
		n, err = lz4.CompressBlockHC(b, dst, lz4.Level9, nil, nil)
	} else {
		n, err = lz4.CompressBlock(b, dst, nil)
	}
	if err != nil {
		panic(err)
	}
	if n == 0 {
		return appendSequence(nil, b, 0, 0)
	}
	return dst[:n]
}

// appendSequence appends a sequence; a match of no bytes is none, as at the end of a block.
func appendSequence(src, literals []byte, offset, match int) []byte {
	rest := func(n int) {
		for n -= 15; n >= 255; n -= 255 {
			src = append(src, 255)
		}
		if n >= 0 {
			src = append(src, byte(n))
		}
	}
	src = append(src, byte(min(len(literals), 15)<<4|max(min(match-4, 15), 0)))
	rest(len(literals))
	src = append(src, literals...)
	if match > 0 {
		src = append(src, byte(offset), byte(offset>>8))
		rest(match - 4)
	}
	return src
}

func TestCompressed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	b := newBench(t, 1<<17)
	for i := range 400 {
		n := r.IntN(1 << r.IntN(17))
		voxels := tissue(r, n)
		switch i % 8 {
		case 6:
			clear(voxels)
		case 7:
			for i := range voxels {
				voxels[i] = byte(r.Uint32())
			}
		}
		src := compressed(voxels, i%2 == 0)
		b.ways(t, src, n)
		b.ways(t, src, n+1)
		b.ways(t, src, max(n-1, 0))
	}
}

// TestLengths has every length and offset near those at which a decoder does something else, in the middle of a
// block, and close to its end.
func TestLengths(t *testing.T) {
	b := newBench(t, 1<<17)
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []byte {
		p := make([]byte, n)
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		return p
	}
	begin := random(600)
	for _, literals := range []int{0, 1, 13, 14, 15, 16, 17, 31, 32, 33, 47, 269, 270, 271, 525} {
		for _, offset := range []int{0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 255, 600, 1200, 65535} {
			for _, match := range []int{4, 5, 15, 16, 17, 18, 19, 20, 31, 32, 33, 48, 49, 64, 273, 274, 275, 529} {
				src := appendSequence(nil, begin, 3, 4)
				src = appendSequence(src, random(literals), offset, match)
				n := len(begin) + 4 + literals + match
				b.ways(t, src, n) // ends with a match
				end := r.IntN(80)
				b.ways(t, appendSequence(src, random(end), 0, 0), n+end)
				src = appendSequence(src, nil, 2, 7)
				b.ways(t, appendSequence(src, random(200), 0, 0), n+207)
				b.ways(t, appendSequence(src, random(200), 0, 0), n-r.IntN(literals+match+1)) // has no room for the sequence
				b.ways(t, src, n+7)                                                           // ends with another match
			}
		}
	}
}

// TestCut cuts off blocks, or the memory for what is in them, at every byte.
func TestCut(t *testing.T) {
	b := newBench(t, 1<<12)
	r := rand.New(rand.NewPCG(15, 16))
	for range 40 {
		src := appendSequence(nil, make([]byte, 20), 20, 4)
		n := 24
		for n < 400 {
			literals, match := r.IntN(15), 4+r.IntN(15)
			switch r.IntN(8) {
			case 0:
				literals += r.IntN(60)
			case 1:
				match += r.IntN(60)
			}
			n += literals
			src = appendSequence(src, make([]byte, literals), 1+r.IntN(n), match)
			n += match
		}
		for i := range src {
			b.ways(t, src[:i], n+100)
		}
		for i := range n {
			b.ways(t, append(src, make([]byte, 100)...), i)
		}
	}
}

// TestDamaged cuts blocks off at every byte, and changes every byte.
func TestDamaged(t *testing.T) {
	b := newBench(t, 1<<12)
	r := rand.New(rand.NewPCG(7, 8))
	for range 4 {
		n := 400 + r.IntN(200)
		src := compressed(tissue(r, n), false)
		for i := range src {
			b.ways(t, src[:i], n)
			damaged := bytes.Clone(src)
			for range 6 {
				damaged[i] ^= byte(1 + r.IntN(255))
				b.ways(t, damaged, n)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	ten := []byte("0123456789")
	long := bytes.Repeat(ten, 100)
	for _, c := range []struct {
		src  []byte
		n    int
		want string
	}{
		{nil, 10, "0, then no literals to end with at compressed byte 0"},
		{nil, 0, "0, then no literals to end with at compressed byte 0"},
		{append([]byte{0x96}, ten[:9]...), 9, "9, then a match without its offset at compressed byte 10"},
		{appendSequence(nil, ten, 1, 20), 30, "30, then no literals to end with at compressed byte 14"},
		{appendSequence(nil, ten[:7], 0, 0), 10, "7"},
		{appendSequence(nil, long, 0, 0), 1001, "1000"},
		{[]byte{0xa0, '0', '1'}, 10, "0, then 10 literals, of which there are 2 at compressed byte 0"},
		{appendSequence(nil, ten, 0, 0), 9, "0, then 10 literals where 9 have room at compressed byte 0"},
		{appendSequence(appendSequence(nil, ten, 11, 4), nil, 0, 0), 14, "10, then a match 11 bytes back at compressed byte 11"},
		{appendSequence(appendSequence(nil, ten, 0, 4), nil, 0, 0), 14, "10, then a match 0 bytes back at compressed byte 11"},
		{appendSequence(appendSequence(nil, ten, 1, 20), nil, 0, 0), 29, "10, then a match of 20 bytes where 19 have room at compressed byte 11"},
		{append(appendSequence(nil, ten, 0, 0), 1), 14, "10, then half of an offset at compressed byte 11"},
		{[]byte{0xf0, 255, 255}, 10, "0, then literals without an end of their number at compressed byte 0"},
		{[]byte{0x1f, 'x', 1, 0, 255}, 10, "1, then a match without an end of its length at compressed byte 2"},
		{appendSequence(appendSequence(nil, long, 1001, 18), long, 0, 0), 2018, "1000, then a match 1001 bytes back at compressed byte 1005"},
	} {
		bothWays(func(way string) {
			if err := Decode(make([]byte, c.n), c.src); err == nil || err.Error() != c.want {
				t.Errorf("% x as %d bytes in %s: expected %q, found %v", clip(c.src), c.n, way, c.want, err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 5, 100, 300, 1000} {
		f.Add(compressed(tissue(r, n), true), uint16(n))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		newBench(t, max(len(src), int(n), len(beside), 1)).ways(t, src, int(n))
	})
}

// BenchmarkDecode decodes blocks that are as hard as images of tissue, of small matches from near, or those of the
// cube file that CUBE names.
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
	bothWays(func(way string) {
		run(way+", one by one", func(i int) error {
			return errors.Join(Decode(dst[i], srcs[i]), Decode(dst[i+1], srcs[i+1]))
		})
		run(way+", pairs", func(i int) error {
			return errors.Join(DecodePair(dst[i], srcs[i], dst[i+1], srcs[i+1]))
		})
	})
}

// blocksOf returns the first blocks of a cube file of version 1 whose blocks are LZ4, and their length decoded.
func blocksOf(b *testing.B, name string) (size int, blocks [][]byte) {
	file, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	log2, begin := file[4], binary.LittleEndian.Uint64(file[8:])
	for i := range min(1<<(3*(log2>>4)), 4096) {
		end := binary.LittleEndian.Uint64(file[16+8*i:])
		blocks, begin = append(blocks, file[begin:end]), end
	}
	return int(file[7]) << (3 * (log2 & 15)), blocks
}

// texture is n bytes in words of 5 to 9 that come again and again, and short runs.
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
