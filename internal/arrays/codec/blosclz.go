package codec

import "fmt"

// Literals and matches of BloscLZ. A match has at least blosclzMatch bytes. Matches that are farther than blosclzNear
// bytes back have an offset of 16 bits after that.
const (
	blosclzMatch = 3
	blosclzNear  = 8191
)

// blosclz decodes a stream of BloscLZ into dst. Its decoded length must be that of dst. The first byte of an
// instruction says which it is:
//
//	000lllll                             l + 1 literals; they follow
//	lllooooo (length) offset (far far)   a match of l + 2 bytes, offset o·256 + offset + 1 bytes back. l = 7 adds the
//	                                     bytes of length, up to the first that is not 255. o·256 + offset = 8191 adds
//	                                     far, big-endian
//
// The upper bits of the first byte of the stream have no meaning. The last instruction has literals.
func blosclz(dst, src []byte) error {
	di, si := 0, 0
	for first := true; si < len(src); first = false {
		token := int(src[si])
		if first {
			token &= 31
		}
		if token < 32 {
			n := token + 1
			if n > len(src)-si-1 || n > len(dst)-di {
				return blosclzFault(si, "%d literals, of which %d are stored, with room for %d", n, len(src)-si-1,
					len(dst)-di)
			}
			copyLiterals(dst[di:], src[si+1:], n)
			di, si = di+n, si+1+n
			continue
		}
		n, back, next, ok := blosclzMatchAt(src, si)
		switch {
		case !ok:
			return blosclzFault(si, "an incomplete match")
		case back > di || n > len(dst)-di:
			return blosclzFault(si, "a match of %d bytes, %d back, after %d, with room for %d", n, back, di,
				len(dst)-di)
		}
		copyMatch(dst, di, back, n)
		di, si = di+n, next
	}
	if di != len(dst) {
		return blosclzFault(si, "their end after %d of %d decoded bytes", di, len(dst))
	}
	return nil
}

// copyLiterals copies n bytes, at most 32. It may write 32 bytes of dst, because that is faster than a call of copy.
func copyLiterals(dst, src []byte, n int) {
	if len(dst) >= 32 && len(src) >= 32 {
		*(*[32]byte)(dst) = *(*[32]byte)(src)
	} else {
		copy(dst[:n], src)
	}
}

// copyMatch copies n bytes to dst[di:] from as many as back bytes before. It may write up to 15 bytes more of dst.
func copyMatch(dst []byte, di, back, n int) {
	from, end := di-back, di+n
	switch {
	case n <= 64 && back >= 16 && end+15 <= len(dst):
		for ; di < end; from, di = from+16, di+16 {
			*(*[16]byte)(dst[di:]) = *(*[16]byte)(dst[from:])
		}
	case n <= 64 && back >= 8 && end+7 <= len(dst):
		for ; di < end; from, di = from+8, di+8 {
			*(*[8]byte)(dst[di:]) = *(*[8]byte)(dst[from:])
		}
	case n <= 8:
		for ; di < end; from, di = from+1, di+1 {
			dst[di] = dst[from]
		}
	default:
		repeat(dst[from:end], back)
	}
}

// blosclzMatchAt returns the length of the match at src[si], how far it is back, and the offset of the next
// instruction.
func blosclzMatchAt(src []byte, si int) (n, back, next int, ok bool) {
	token := int(src[si])
	si++
	n = token>>5 - 1 + blosclzMatch
	if token>>5 == 7 {
		for more := 255; more == 255; n, si = n+more, si+1 {
			if si >= len(src) {
				return 0, 0, 0, false
			}
			more = int(src[si])
		}
	}
	if si >= len(src) {
		return 0, 0, 0, false
	}
	back = token&31<<8 + int(src[si])
	si++
	if back == blosclzNear {
		if len(src)-si < 2 {
			return 0, 0, 0, false
		}
		back += int(src[si])<<8 + int(src[si+1])
		si += 2
	}
	return n, back + 1, si, si < len(src)
}

// repeat fills p with repetitions of its first n bytes.
func repeat(p []byte, n int) {
	for n < len(p) {
		n += copy(p[n:], p[:n])
	}
}

func blosclzFault(si int, format string, args ...any) error {
	return fmt.Errorf("blosclz data at byte %d: %s", si, fmt.Sprintf(format, args...))
}
