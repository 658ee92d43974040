package codec

// Raw is bytes that are stored as they are.
type Raw struct{}

var _ PartDecoder = Raw{}

// Decode implements [Codec].
func (Raw) Decode(dst, src []byte, limit int) ([]byte, error) { return Chain{}.Decode(dst, src, limit) }

// DecodePart implements [PartDecoder]. It reads into dst.
func (c Raw) DecodePart(dst []byte, from, total, size int, read func(p []byte, at int) error) error {
	switch {
	case size > total:
		return tooLong(c, total)
	case size < total:
		return wrongLength(c, total, size)
	}
	return read(dst, from)
}

// DecodePrefix implements [PrefixDecoder].
func (c Raw) DecodePrefix(dst, src []byte) error {
	if len(src) < len(dst) {
		return wrongLength(c, len(dst), len(src))
	}
	copy(dst, src)
	return nil
}

// Bound implements [Codec].
func (Raw) Bound(n int) int { return n }

func (Raw) String() string { return "raw" }
