// Package codec has decoders for the codecs of Zarr and N5 that turn bytes into bytes: compressions and checksums. The
// values of its types are the codecs, such as Gzip{}. They have no state, can be compared, and may be used by many
// goroutines at once.
//
// A decoder writes into memory of the caller. It is given the most bytes that may result, and takes memory in
// proportion to these, whatever the stored bytes claim. Its working memory is pooled. Bytes that
// are left over after the end of a format are an error.
//
// The codecs that know how values are arranged, such as transpose and sharding_indexed, are not in this package.
package codec

// Codec decodes bytes.
type Codec interface {
	// Decode decodes src and returns the decoded bytes. If cap(dst) is limit or more, they are at the start of dst,
	// whatever its length, and Decode allocates nothing. Otherwise they may be in new memory of at most limit bytes.
	// Decode writes nothing past the first limit bytes of dst. Those after the result are undefined. dst and src must
	// not overlap, and the result shares no memory with src.
	//
	// More than limit bytes are an error. Errors are a [*volume.FormatError] or a [*volume.UnsupportedError] without a
	// file. Their offset is one in src, or negative.
	Decode(dst, src []byte, limit int) ([]byte, error)

	// Bound returns how many bytes n bytes may take in stored form, at most. What has more was not written by a usual
	// encoder.
	Bound(n int) int

	// String returns the name of the codec for messages.
	String() string
}

// DecodeInto decodes src into dst. The decoded bytes must be as many as dst has. Errors are those of [Codec].
func DecodeInto(c Codec, dst, src []byte) error {
	b, err := c.Decode(dst, src, len(dst))
	if err == nil && len(b) != len(dst) {
		err = wrongLength(c, len(dst), len(b))
	}
	return err
}

// room returns the memory that Decode may write to: limit bytes of dst, or new ones.
func room(dst []byte, limit int) []byte {
	if cap(dst) < limit {
		return make([]byte, limit)
	}
	return dst[:limit:limit]
}

// A Scratcher is a codec that takes more than some hundred kilobytes of memory besides what it decodes.
type Scratcher interface {
	// Scratch returns how many bytes Decode takes at most besides dst and src. n is the limit of Decode.
	Scratch(n int) int
}

// Scratch returns how many bytes Decode of a codec takes at most besides dst and src, if it is more than some hundred
// kilobytes. n is the limit of Decode.
func Scratch(c Codec, n int) int {
	if s, ok := c.(Scratcher); ok {
		return s.Scratch(n)
	}
	return 0
}

// A PrefixDecoder is a codec that can decode the start of what is stored without the rest.
type PrefixDecoder interface {
	Codec

	// DecodePrefix decodes the first len(dst) bytes. src may end after the bytes that have them. It does not find
	// damage after them, and verifies no checksum.
	DecodePrefix(dst, src []byte) error
}
