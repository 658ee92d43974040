package codec

import "compress/bzip2"

// Bzip2 is streams of bzip2, one or more. Their checksums are verified. Decode allocates up to 4 MiB each time.
type Bzip2 struct{}

// Decode implements [Codec].
func (c Bzip2) Decode(dst, src []byte, limit int) ([]byte, error) {
	s := new(input)
	s.src.Reset(src)
	return s.readAll(c, bzip2.NewReader(&s.src), dst, limit)
}

// DecodePrefix implements [PrefixDecoder].
func (c Bzip2) DecodePrefix(dst, src []byte) error {
	s := new(input)
	s.src.Reset(src)
	return s.readPrefix(c, bzip2.NewReader(&s.src), dst)
}

// Scratch implements [Scratcher].
func (Bzip2) Scratch(int) int { return 4 << 20 }

// Bound implements [Codec]. bzip2 adds at most a percent and 600 bytes.
func (Bzip2) Bound(n int) int { return n + n/64 + 1<<16 }

func (Bzip2) String() string { return "bzip2" }
