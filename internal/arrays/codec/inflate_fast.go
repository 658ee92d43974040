package codec

import "encoding/binary"

const (
	fastIn  = 16       // bytes that a step of fast may look at
	fastOut = 258 + 16 // bytes that it may write
)

// fast decodes codes of a block while neither input nor output is near its end. It returns how many bytes dst has then,
// and whether the block has ended.
func (s *inflateState) fast(dst []byte, o int) (_ int, end, ok bool) {
	src, at, b, n := s.src, s.at, s.b, uint(s.n)
	lit, dist := &s.lit, &s.dist
	ok = true
	for ok && at <= len(src)-fastIn && o <= len(dst)-fastOut {
		b |= binary.LittleEndian.Uint64(src[at:]) << (n & 63)
		at += int((63 - n) >> 3)
		n |= 56
		e := lit[b&(1<<litBits-1)]
		if e&isLiteral != 0 {
			// Four literals have at most 44 bits.
			to := dst[o : o+4 : o+4]
			b >>= e & 63
			n -= uint(e & 63)
			to[0] = byte(e >> 16)
			o++
			if e = lit[b&(1<<litBits-1)]; e&isLiteral != 0 {
				b >>= e & 63
				n -= uint(e & 63)
				to[1] = byte(e >> 16)
				o++
				if e = lit[b&(1<<litBits-1)]; e&isLiteral != 0 {
					b >>= e & 63
					n -= uint(e & 63)
					to[2] = byte(e >> 16)
					o++
					if e = lit[b&(1<<litBits-1)]; e&isLiteral != 0 {
						b >>= e & 63
						n -= uint(e & 63)
						to[3] = byte(e >> 16)
						o++
						continue
					}
				}
			}
			b |= binary.LittleEndian.Uint64(src[at:]) << (n & 63)
			at += int((63 - n) >> 3)
			n |= 56
		}
		if e&isOther != 0 {
			if e&isSecond != 0 {
				e = second(lit[:], e, b, litBits)
			}
			if e&isLiteral != 0 {
				b >>= e & 63
				n -= uint(e & 63)
				dst[o] = byte(e >> 16)
				o++
				continue
			}
			if e&isOther != 0 {
				end = e&isEnd != 0
				ok = end
				b >>= e & 63
				n -= uint(e & 63)
				break
			}
		}
		// A length and a distance have at most 48 bits.
		length := int(e>>16) + int(b&(1<<(e&63)-1)>>(e>>8&15))
		b >>= e & 63
		n -= uint(e & 63)
		e = dist[b&(1<<distBits-1)]
		if e&isSecond != 0 {
			e = second(dist[:], e, b, distBits)
		}
		back := int(e>>16&0x7fff) + int(b&(1<<(e&63)-1)>>(e>>8&15))
		b >>= e & 63
		n -= uint(e & 63)
		if ok = e&isOther == 0 && back <= o; ok {
			copyBack(dst, o, back, length)
			o += length
		}
	}
	s.at, s.b, s.n = at, b, int(n)
	return o, end, ok
}

// copyBack copies length bytes, which start back bytes before o, and may write some more.
func copyBack(dst []byte, o, back, length int) {
	switch {
	case back >= 8:
		// Most are short. There is room for 16 bytes.
		from, to := dst[o-back:], dst[o:]
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
		binary.LittleEndian.PutUint64(to[8:], binary.LittleEndian.Uint64(from[8:]))
		for i := 16; i < length; i += 8 {
			binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
		}
	case back == 1:
		v := uint64(dst[o-1]) * 0x0101010101010101
		for i := 0; i < length; i += 8 {
			binary.LittleEndian.PutUint64(dst[o+i:], v)
		}
	default:
		from := dst[o-back : o-back+length]
		for i, to := 0, dst[o:o+length]; i < len(to) && i < len(from); i++ {
			to[i] = from[i]
		}
	}
}
