package lz4block

import (
	"encoding/binary"
	"unsafe"
)

// Sequences that start less than outputRoom or inputRoom bytes before the end of dst or src are left to finish. The
// fast code may read and write beyond the end of a sequence, but not beyond this room.
const (
	outputRoom = 64
	inputRoom  = 48
)

// roomy reports whether both slices have the room that the fast code needs.
func (b *block) roomy() bool { return len(b.dst) >= outputRoom && len(b.src) >= inputRoom }

// sequencesInGo decodes the sequences from src[si] on into dst[di:]. It stops at the first sequence that is wrong or
// close to an end, and returns its position. The block must be roomy.
//
// It uses no bounds checks, because they cost up to a fifth of the speed. It is safe for these reasons. Each sequence
// starts with outputRoom and inputRoom bytes before the ends. Up to 14 literals and an offset take 17 bytes of src.
// With a match of up to 18 bytes they take up to 32 bytes of dst. A longer copy must end with the same room before the
// end of dst, and writes less than 16 bytes after its own end.
func sequencesInGo(dst, src []byte, di, si int) (diEnd, siEnd int) {
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	outLast, inLast := len(dst)-outputRoom, len(src)-inputRoom
	for di <= outLast && si <= inLast {
		token := *(*byte)(unsafe.Add(s, si))
		out, in := di, si+1
		if n := int(token >> 4); n < longest {
			copy16(d, out, s, in)
			out, in = out+n, in+n
		} else {
			n, at, ok := length(src, n, in)
			if !ok || n > outLast-out || n > inLast-at {
				break
			}
			copy(dst[out:], src[at:at+n])
			out, in = out+n, at+n
		}
		offset := int(load16(s, in))
		in += 2
		from := out - offset
		if from < 0 {
			break
		}
		n := int(token & longest)
		if n < longest && offset >= 8 { // the common case
			store64(d, out, load64(d, from))
			store64(d, out+8, load64(d, from+8))
			store16(d, out+16, load16(d, from+16))
			di, si = out+n+minMatch, in
			continue
		}
		n, in, ok := length(src, n, in)
		n += minMatch
		if !ok || offset == 0 || n > outLast-out {
			break
		}
		di, si = out+n, in
		switch {
		case n > 64:
			repeat(dst[from:di], offset)
		case offset >= 16:
			for ; out < di; out, from = out+16, from+16 {
				copy16(d, out, d, from)
			}
		case offset >= 8:
			for ; out < di; out, from = out+8, from+8 {
				store64(d, out, load64(d, from))
			}
		default:
			p := &patterns[offset]
			bytes := load64(d, from) & (1<<(8*offset) - 1) * p.times
			store64(d, out, bytes)
			store64(d, out+p.stride, bytes)
			for out += 2 * p.stride; out < di; out += p.stride {
				store64(d, out, bytes)
			}
		}
	}
	return di, si
}

// patterns repeats the first n of 8 bytes: as a number, they are multiplied by times. stride is the largest multiple of
// n up to 8.
var patterns = [8]struct {
	times  uint64
	stride int
}{
	1: {0x0101010101010101, 8},
	2: {0x0001000100010001, 8},
	3: {0x0001000001000001, 6},
	4: {0x0000000100000001, 8},
	5: {0x0000010000000001, 5},
	6: {0x0001000000000001, 6},
	7: {0x0100000000000001, 7},
}

// The functions below read and write memory from byte i after p on, without bounds checks.

func load16(p unsafe.Pointer, i int) uint16 {
	return binary.LittleEndian.Uint16((*[2]byte)(unsafe.Add(p, i))[:])
}

func load32(p unsafe.Pointer, i int) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, i))[:])
}

func load64(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}

func store16(p unsafe.Pointer, i int, v uint16) {
	binary.LittleEndian.PutUint16((*[2]byte)(unsafe.Add(p, i))[:], v)
}

func store64(p unsafe.Pointer, i int, v uint64) {
	binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(p, i))[:], v)
}

// copy16 copies 16 bytes. It reads all of them before it writes.
func copy16(to unsafe.Pointer, i int, from unsafe.Pointer, j int) {
	low, high := load64(from, j), load64(from, j+8)
	store64(to, i, low)
	store64(to, i+8, high)
}
