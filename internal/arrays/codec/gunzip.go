package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// The flags of a member of gzip (RFC 1952, 2.3.1).
const (
	gzipText      = 1 << 0
	gzipHeaderSum = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4
)

// Gunzip decodes members of RFC 1952, one or more, into dst, in about half of the time of the library. It returns the
// number of decoded bytes, or false if anything is odd: a fault, more bytes than dst has, bytes after the end, or a
// header with a checksum. Then dst has undefined content, and a slower decoder has to find out what it is.
func Gunzip(dst, src []byte) (n int, ok bool) {
	const tail = 8
	for more := true; more; more = len(src) > 0 {
		head, ok := gzipHeader(src)
		if !ok {
			return 0, false
		}
		decoded, used, ok := inflate(dst[n:], src[head:])
		if src = src[head+used:]; !ok || len(src) < tail {
			return 0, false
		}
		b := dst[n : n+decoded]
		if binary.LittleEndian.Uint32(src) != crc32.ChecksumIEEE(b) ||
			binary.LittleEndian.Uint32(src[4:]) != uint32(decoded) {
			return 0, false
		}
		n, src = n+decoded, src[tail:]
	}
	return n, true
}

// gzipHeader returns the length of the header of a member.
func gzipHeader(src []byte) (n int, ok bool) {
	n = 10
	if len(src) < n || src[0] != 0x1f || src[1] != 0x8b || src[2] != 8 ||
		src[3]&^(gzipText|gzipExtra|gzipName|gzipComment) != 0 {
		return 0, false
	}
	flags := src[3]
	if flags&gzipExtra != 0 {
		if len(src) < n+2 {
			return 0, false
		}
		n += 2 + int(binary.LittleEndian.Uint16(src[n:]))
	}
	for _, text := range []byte{gzipName, gzipComment} {
		if flags&text == 0 {
			continue
		}
		if n > len(src) {
			return 0, false
		}
		end := bytes.IndexByte(src[n:], 0)
		if end < 0 || end >= 512 { // the library refuses longer ones
			return 0, false
		}
		n += end + 1
	}
	return n, n <= len(src)
}
