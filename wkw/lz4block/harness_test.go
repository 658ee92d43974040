package lz4block

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// arena is memory between two pages that cannot be read or written.
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

// first returns the n bytes after the first of the two pages, last the n bytes before the second page.
func (a arena) first(n int) []byte { return a.memory[:n:n] }
func (a arena) last(n int) []byte  { return a.memory[len(a.memory)-n:] }

// harness holds memory in which a read or write beyond the end of a slice faults.
type harness struct{ dst0, src0, dst1, src1, other arena }

func newHarness(t testing.TB, atLeast int) *harness {
	b := new(harness)
	for _, a := range []*arena{&b.dst0, &b.src0, &b.dst1, &b.src1, &b.other} {
		*a = newArena(t, atLeast)
	}
	return b
}

// withEachDecoder calls run with the assembly, if the processor has it, and with the Go code.
func withEachDecoder(run func(decoder string)) {
	has := cpu.X86.HasSSSE3
	defer func() { cpu.X86.HasSSSE3 = has }()
	if has {
		run("assembly")
	}
	cpu.X86.HasSSSE3 = false
	run("Go")
}

// check decodes a block of n bytes with all decoders. The results must be those of the model. If the model fails, the
// errors must be those of finish.
func (b *harness) check(t *testing.T, src []byte, n int) {
	t.Helper()
	slow := block{dst: make([]byte, n), src: src}
	wantErr := slow.finish()
	want, valid := model(src, n)
	if (wantErr == nil) != valid || valid && !bytes.Equal(slow.dst, want) {
		t.Fatalf("finish of % x as %d bytes: expected success: %v, found %v", clip(src), n, valid, wantErr)
	}
	if e := (*Error)(nil); !valid && (!errors.As(wantErr, &e) || e.Decoded > n || e.Offset > len(src)) {
		t.Fatalf("finish of % x as %d bytes: an error with wrong offsets: %#v", clip(src), n, wantErr)
	}
	withEachDecoder(func(decoder string) { b.checkDecoder(t, decoder, src, n, want, wantErr) })
}

// checkDecoder decodes a block with one decoder: alone, and as one of a pair.
func (b *harness) checkDecoder(t *testing.T, decoder string, src []byte, n int, want []byte, wantErr error) {
	t.Helper()
	check := func(call string, got []byte, err error) {
		t.Helper()
		switch {
		case !reflect.DeepEqual(err, wantErr):
			t.Fatalf("%s in %s of % x as %d bytes: expected the error %v, found %v", call, decoder, clip(src), n,
				wantErr, err)
		case err == nil && !bytes.Equal(got, want):
			t.Fatalf("%s in %s of % x as %d bytes: byte %d is wrong", call, decoder, clip(src), n,
				firstDifference(got, want))
		}
	}
	prepare := func(dst, source []byte) ([]byte, []byte) {
		for i := range dst {
			dst[i] = 0xa5
		}
		copy(source, src)
		return dst, source
	}
	for _, part := range []func(arena, int) []byte{arena.first, arena.last} {
		dst0, src0 := prepare(part(b.dst0, n), part(b.src0, len(src)))
		check("Decode", dst0, Decode(dst0, src0))

		dst0, src0 = prepare(part(b.dst0, n), part(b.src0, len(src)))
		dst1, src1 := prepare(part(b.dst1, n), part(b.src1, len(src)))
		err0, err1 := DecodePair(dst0, src0, dst1, src1)
		check("the first of a pair", dst0, err0)
		check("the second of a pair", dst1, err1)

		// In a pair with a block of another length.
		got := part(b.other, len(other))
		for _, swapped := range []bool{false, true} {
			prepare(dst0, src0)
			clear(got)
			if swapped {
				err1, err0 = DecodePair(got, otherBlock, dst0, src0)
			} else {
				err0, err1 = DecodePair(dst0, src0, got, otherBlock)
			}
			check(fmt.Sprintf("one of an unequal pair, swapped: %v", swapped), dst0, err0)
			if err1 != nil || !bytes.Equal(got, other) {
				t.Fatalf("% x spoils the other block of its pair in %s: %v", clip(src), decoder, err1)
			}
		}
	}
}

// otherBlock is the compressed form of other.
var other, otherBlock = func() ([]byte, []byte) {
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
