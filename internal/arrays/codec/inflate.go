package codec

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// The decoder for DEFLATE (RFC 1951) of streams that are in memory as a whole. One that reads an io.Reader takes more
// than twice as long: it reads byte by byte, and has a window of its own. This one only says that a stream has a fault.
// Then that of the library decodes it again, and says which.

const (
	litBits  = 11 // of codes in the first table; longer ones have a second one
	distBits = 9

	maxCode  = 15 // bits
	litSize  = 1<<litBits + 144<<(maxCode-litBits)
	distSize = 1<<distBits + 16<<(maxCode-distBits)
)

// An entry of a table: the number of bits of the code and of the extra bits after it (bits 0–5), that of the code alone
// (8–11), and a value (16–30): a byte, the least length or distance, or where the second table starts.
const (
	isLiteral = 1 << 31
	isOther   = 1 << 15 // neither a literal, a length nor a distance
	isEnd     = 1 << 14 // of the block
	isSecond  = 1 << 13 // the code goes on in another table
)

// inflateState has the tables of a block, and where its decoder is.
type inflateState struct {
	src []byte
	at  int    // of the next byte that bits does not have
	b   uint64 // the next bits, the lowest first
	n   int    // how many are valid; those above are right, or zero

	lit  [litSize]uint32
	dist [distSize]uint32
	lens [320]uint8
}

var inflateStates = sync.Pool{New: func() any { return new(inflateState) }}

// Inflate decodes a stream of DEFLATE (RFC 1951). It returns false if the stream has a fault, does not fill dst, or
// does not end with src.
func Inflate(dst, src []byte) bool {
	n, used, ok := inflate(dst, src)
	return ok && n == len(dst) && used == len(src)
}

// inflateZlib decodes a stream of RFC 1950 into dst. It returns the decoded bytes, or false if anything is wrong: the
// stream has a fault, more bytes than dst, or bytes after its end.
func inflateZlib(dst, src []byte) (int, bool) {
	const head, tail = 2, 4
	if len(src) < head+tail || src[0]&15 != 8 || src[0]>>4 > 7 || binary.BigEndian.Uint16(src)%31 != 0 ||
		src[1]&0x20 != 0 {
		return 0, false
	}
	n, used, ok := inflate(dst, src[head:])
	rest := src[head:][used:]
	if !ok || len(rest) != tail || binary.BigEndian.Uint32(rest) != adler(dst[:n]) {
		return 0, false
	}
	return n, true
}

// inflate decodes a stream of DEFLATE into dst. It returns the bytes that it wrote, and those of src that it read.
func inflate(dst, src []byte) (n, used int, ok bool) {
	s := inflateStates.Get().(*inflateState)
	defer inflateStates.Put(s)
	s.src, s.at, s.b, s.n = src, 0, 0, 0
	defer func() { s.src = nil }()
	for last := false; !last; {
		header, ok := s.take(3)
		if !ok {
			return 0, 0, false
		}
		last = header&1 != 0
		switch header >> 1 {
		case 0:
			n, ok = s.stored(dst, n)
		case 1:
			s.fixed()
			n, ok = s.block(dst, n)
		case 2:
			if ok = s.dynamic(); ok {
				n, ok = s.block(dst, n)
			}
		default:
			return 0, 0, false
		}
		if !ok {
			return 0, 0, false
		}
	}
	return n, s.at - s.n/8, true
}

// refill gets as many bytes as there are room and input for.
func (s *inflateState) refill() {
	for s.n < 56 && s.at < len(s.src) {
		s.b |= uint64(s.src[s.at]) << s.n
		s.at++
		s.n += 8
	}
}

// take returns the next n bits, at most 16.
func (s *inflateState) take(n int) (v uint32, ok bool) {
	if s.n < n {
		if s.refill(); s.n < n {
			return 0, false
		}
	}
	v = uint32(s.b & (1<<n - 1))
	s.b >>= n
	s.n -= n
	return v, true
}

// stored copies a block that is not compressed.
func (s *inflateState) stored(dst []byte, o int) (int, bool) {
	s.at -= s.n / 8
	s.b, s.n = 0, 0
	if len(s.src)-s.at < 4 {
		return 0, false
	}
	n := int(binary.LittleEndian.Uint16(s.src[s.at:]))
	if ^uint16(n) != binary.LittleEndian.Uint16(s.src[s.at+2:]) {
		return 0, false
	}
	s.at += 4
	if n > len(s.src)-s.at || n > len(dst)-o {
		return 0, false
	}
	copy(dst[o:], s.src[s.at:s.at+n])
	s.at += n
	return o + n, true
}

// block decodes the codes of a block behind the first o bytes of dst. It returns how many there are then.
func (s *inflateState) block(dst []byte, o int) (int, bool) {
	o, end, ok := s.fast(dst, o)
	for ok && !end {
		o, end, ok = s.careful(dst, o)
	}
	return o, ok
}

// careful decodes one literal or match, wherever input and output end.
func (s *inflateState) careful(dst []byte, o int) (_ int, end, ok bool) {
	s.refill()
	e := s.lit[s.b&(1<<litBits-1)]
	if e&isSecond != 0 {
		e = second(s.lit[:], e, s.b, litBits)
	}
	extra, ok := s.use(e)
	switch {
	case !ok:
		return 0, false, false
	case e&isLiteral != 0:
		if o >= len(dst) {
			return 0, false, false
		}
		dst[o] = byte(e >> 16)
		return o + 1, false, true
	case e&isOther != 0:
		return o, e&isEnd != 0, e&isEnd != 0
	}
	length := int(e>>16) + extra
	s.refill()
	e = s.dist[s.b&(1<<distBits-1)]
	if e&isSecond != 0 {
		e = second(s.dist[:], e, s.b, distBits)
	}
	extra, ok = s.use(e)
	back := int(e>>16) + extra
	if !ok || e&isOther != 0 || back > o || length > len(dst)-o {
		return 0, false, false
	}
	for i := o; i < o+length; i++ {
		dst[i] = dst[i-back]
	}
	return o + length, false, true
}

// use takes the bits of an entry, and returns the extra ones.
func (s *inflateState) use(e uint32) (extra int, ok bool) {
	n := int(e & 63)
	if n > s.n || n == 0 {
		return 0, false
	}
	extra = int(s.b & (1<<n - 1) >> (e >> 8 & 15))
	s.b >>= n
	s.n -= n
	return extra, true
}

// second returns the entry of a code that is longer than those in the first table.
func second(table []uint32, e uint32, b uint64, first int) uint32 {
	return table[int(e>>16)+int(b>>first&(1<<(maxCode-first)-1))]
}

// Lengths 3 to 258 and distances, with their extra bits (RFC 1951, 3.2.5).
var (
	lengthBase = [...]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
		131, 163, 195, 227, 258}
	lengthExtra = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	codeOrder   = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)

// litEntry returns the entry of a literal or length, but for the bits of its code.
func litEntry(symbol int) uint32 {
	switch {
	case symbol < 256:
		return isLiteral | uint32(symbol)<<16
	case symbol == 256:
		return isOther | isEnd
	case symbol-257 < len(lengthBase):
		return uint32(lengthBase[symbol-257])<<16 | uint32(lengthExtra[symbol-257])
	}
	return isOther
}

// distEntry returns the entry of a distance, but for the bits of its code.
func distEntry(symbol int) uint32 {
	switch {
	case symbol < 4:
		return uint32(symbol+1) << 16
	case symbol < 30:
		extra := symbol/2 - 1
		return uint32(1+(2+symbol&1)<<extra)<<16 | uint32(extra)
	}
	return isOther
}

// fixed makes the tables of blocks without tables.
func (s *inflateState) fixed() {
	for i := range 288 {
		switch {
		case i < 144, i >= 280:
			s.lens[i] = 8
		case i < 256:
			s.lens[i] = 9
		default:
			s.lens[i] = 7
		}
	}
	buildTable(s.lit[:], litBits, s.lens[:288], &litEntries)
	for i := range 32 {
		s.lens[i] = 5
	}
	buildTable(s.dist[:], distBits, s.lens[:32], &distEntries)
}

// dynamic reads the tables of a block (RFC 1951, 3.2.7).
func (s *inflateState) dynamic() bool {
	counts, ok := s.take(14)
	lits, dists, codes := int(counts&31)+257, int(counts>>5&31)+1, int(counts>>10)+4
	if !ok || lits > 286 || dists > 30 {
		return false
	}
	clear(s.lens[:19])
	for _, i := range codeOrder[:codes] {
		n, ok := s.take(3)
		if !ok {
			return false
		}
		s.lens[i] = uint8(n)
	}
	code := s.dist[:1<<distBits] // for the lengths of codes
	if !buildTable(code, distBits, s.lens[:19], &lengthEntries) {
		return false
	}
	if !s.codeLengths(code, s.lens[:lits+dists]) || s.lens[256] == 0 {
		return false
	}
	return buildTable(s.lit[:], litBits, s.lens[:lits], &litEntries) &&
		buildTable(s.dist[:], distBits, s.lens[lits:lits+dists], &distEntries)
}

// codeLengths reads the lengths of codes into all.
func (s *inflateState) codeLengths(code []uint32, all []uint8) bool {
	for i := 0; i < len(all); {
		s.refill()
		e := code[s.b&(1<<distBits-1)]
		if _, ok := s.use(e); !ok || e&isOther != 0 {
			return false
		}
		v, least, extra := uint8(e>>16), 1, 0
		switch v {
		case 16:
			if i == 0 {
				return false
			}
			v, least, extra = all[i-1], 3, 2
		case 17:
			v, least, extra = 0, 3, 3
		case 18:
			v, least, extra = 0, 11, 7
		}
		more, ok := s.take(extra)
		n := least + int(more)
		if !ok || n > len(all)-i {
			return false
		}
		for range n {
			all[i] = v
			i++
		}
	}
	return true
}

// maxSymbols is the most that a code has.
const maxSymbols = 288

// The entries of symbols, but for the bits of their codes: of literals and lengths, of distances, and of the lengths of
// codes.
var (
	litEntries    = entriesOf(litEntry)
	distEntries   = entriesOf(distEntry)
	lengthEntries = entriesOf(func(symbol int) uint32 { return uint32(symbol) << 16 })
)

func entriesOf(entry func(symbol int) uint32) (all [maxSymbols]uint32) {
	for symbol := range all {
		all[symbol] = entry(symbol)
	}
	return all
}

// buildTable makes the table of canonical codes of some lengths. Sets of codes that are not complete are false, but for
// none, and for one of one bit.
func buildTable(table []uint32, first int, lens []uint8, entries *[maxSymbols]uint32) bool {
	var count, next [maxCode + 1]int
	for _, n := range lens {
		count[n]++
	}
	used := len(lens) - count[0]
	count[0] = 0
	code, left := 0, 1
	for n := 1; n <= maxCode; n++ {
		code = (code + count[n-1]) << 1
		next[n] = code
		if left = left<<1 - count[n]; left < 0 {
			return false
		}
	}
	if left > 0 {
		if used > 1 || used == 1 && count[1] == 0 {
			return false
		}
		for i := range table[:1<<first] {
			table[i] = isOther
		}
	}
	var sorted [maxSymbols]uint16 // symbols by their codes
	var at [maxCode + 2]int
	for n := 1; n <= maxCode; n++ {
		at[n+1] = at[n] + count[n]
	}
	for symbol, n := range lens {
		if n > 0 {
			sorted[at[n]] = uint16(symbol)
			at[n]++
		}
	}
	free := 1 << first // where the next second table starts
	prefix := -1
	for _, symbol := range sorted[:used] {
		n := int(lens[symbol])
		reversed := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		e := entries[symbol]
		e = e&^63 | (e&63 + uint32(n)) | uint32(n)<<8
		if n <= first {
			for i := reversed; i < 1<<first; i += 1 << n {
				table[i] = e
			}
			continue
		}
		if low := reversed & (1<<first - 1); low != prefix { // codes with a prefix follow each other
			prefix = low
			table[low] = isOther | isSecond | uint32(free)<<16
			free += 1 << (maxCode - first)
		}
		start := int(table[prefix] >> 16)
		for i := reversed >> first; i < 1<<(maxCode-first); i += 1 << (n - first) {
			table[start+i] = e
		}
	}
	return true
}
