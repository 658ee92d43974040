package lz4block

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"
)

const (
	lastLiterals = 5  // bytes at the end of src that no match may have ("End of block conditions" of the format)
	matchRoom    = 16 // bytes of src after the start of a match. The format needs 12, copy16 needs 16
)

// Encoder encodes blocks. Its zero value is ready for use. It is for one goroutine at a time. It has a table of 32 KiB,
// which it uses again for the next block. The result depends on nothing but the block.
type Encoder struct{ seen seen }

// Bound returns how many bytes a block of n bytes takes at most.
func Bound(n int) int { return n + n/255 + 16 }

// Encode encodes src as a block in dst, and returns the length of the block. It fails if dst has less than
// Bound(len(src)) bytes. The bytes of dst after the block are undefined. The slices must not overlap.
func (e *Encoder) Encode(dst, src []byte) (int, error) {
	if room := Bound(len(src)); len(dst) < room {
		return 0, fmt.Errorf("destination of a block of %d bytes: expected %d bytes, found %d", len(src), room,
			len(dst))
	}
	clear(e.seen[:])
	di, si := e.seen.encode(dst, src)
	return putLast(dst, di, src[si:]), nil
}

// encode encodes the sequences that have a match. They are in dst[:di], and stand for src[:si]. dst must have
// Bound(len(src)) bytes.
//
// The unchecked loads and copies make it a quarter to a half faster. They are safe for these reasons. A match starts at
// least matchRoom bytes before the end of src, and positions in the table are those of earlier bytes. Sequences for
// src[:si] take at most si+si/255 bytes, because those with a match take less than they stand for, apart from the
// lengths of long literals. So copy16 writes at most 17 bytes after that, where si is at most len(src)-matchRoom.
func (s *seen) encode(dst, src []byte) (di, si int) {
	p := unsafe.Pointer(unsafe.SliceData(src))
	last := len(src) - matchRoom
	for {
		i, from, found := s.search(p, si+1, last)
		if !found {
			return di, si
		}
		for from > 0 && i > si && src[i-1] == src[from-1] {
			i, from = i-1, from-1
		}
		for found {
			n := matchLength(src, i, from)
			di = putSequence(dst, di, src[si:i], i-from, n)
			si = i + n
			if si > last {
				return di, si
			}
			// Two positions in the match. In a run, the one that is farther back starts a longer match, so it comes
			// last.
			s.visit(load64(p, si-2), si-2)
			s.visit(load64(p, i+2), i+2)
			i = si
			from, found = s.visit(load64(p, i), i)
			found = found && load32(p, i) == load32(p, from)
		}
	}
}

// search returns the first position from i on that it finds to have a match, and the position of the match. Its steps
// grow with the number of positions without a match: images of microscopes often cannot be compressed.
func (s *seen) search(src unsafe.Pointer, i, last int) (at, from int, found bool) {
	const growth = 6 // the step grows after each 2^growth positions
	for step := 1 << growth; i <= last; step++ {
		v := load64(src, i)
		if from, ok := s.visit(v, i); uint32(v) == load32(src, from) && ok {
			return i, from, true
		}
		i += step >> growth
	}
	return 0, 0, false
}

// seen has the last position of each hash, modulo 65536. A match is at most 65535 bytes back, so this is enough, and
// the table is small enough for the first cache of the processor.
type seen [1 << hashBits]uint16

// Seven bytes are hashed, although matches may have four: short matches save almost nothing and take time. An odd
// number is best for values of two and four bytes, whose high bytes are often equal.
const (
	hashBits  = 14
	hashBytes = 7
)

// visit enters position i, whose bytes are v, and returns the position that the table had in its place. That position
// is less than 65536 bytes back. If the table had none, visit returns the last multiple of 65536. ok is false if that
// is i itself.
func (s *seen) visit(v uint64, i int) (from int, ok bool) {
	const prime = 0x9E3779B185EBCA87
	p := &s[v<<(64-8*hashBytes)*prime>>(64-hashBits)]
	from = i - int(uint16(i)-*p)
	*p = uint16(i)
	return from, from != i
}

// matchLength returns how many bytes from i on are equal to the bytes from an earlier position on. The first minMatch
// are equal. Close to the end of src, it returns less, but at least minMatch.
func matchLength(src []byte, i, from int) int {
	p := unsafe.Pointer(unsafe.SliceData(src))
	end := i + minMatch
	for from += minMatch; end <= len(src)-8; end, from = end+8, from+8 {
		if x := load64(p, end) ^ load64(p, from); x != 0 {
			end += bits.TrailingZeros64(x) / 8
			break
		}
	}
	return min(end, len(src)-lastLiterals) - i
}

// putSequence writes a sequence into dst[di:], and returns its end. n is the length of the match.
func putSequence(dst []byte, di int, literals []byte, offset, n int) int {
	n -= minMatch
	dst[di] = byte(min(len(literals), longest)<<4 | min(n, longest))
	di++
	if len(literals) < longest {
		copy16(unsafe.Pointer(unsafe.SliceData(dst)), di, unsafe.Pointer(unsafe.SliceData(literals)), 0)
	} else {
		di = putLength(dst, di, len(literals)-longest)
		copy(dst[di:], literals)
	}
	di += len(literals)
	binary.LittleEndian.PutUint16(dst[di:], uint16(offset))
	di += 2
	if n >= longest {
		di = putLength(dst, di, n-longest)
	}
	return di
}

// putLast writes the last sequence, which has only literals, into dst[di:], and returns its end.
func putLast(dst []byte, di int, literals []byte) int {
	n := len(literals)
	dst[di] = byte(min(n, longest) << 4)
	di++
	if n >= longest {
		di = putLength(dst, di, n-longest)
	}
	return di + copy(dst[di:], literals)
}

// putLength writes the bytes of a length after the token into dst[di:], and returns their end.
func putLength(dst []byte, di, n int) int {
	for ; n >= 255; n -= 255 {
		dst[di] = 255
		di++
	}
	dst[di] = byte(n)
	return di + 1
}
