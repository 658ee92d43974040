package codec

import (
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Zstd is frames of RFC 8878, one or more. They may lack the length of their content, and their checksum. A checksum
// that is there is verified. Dictionaries are unsupported.
//
// If the frames decode to more than limit bytes, Decode may allocate up to 1¼ × limit bytes before it fails.
type Zstd struct{}

// Decode implements [Codec].
func (c Zstd) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) == 0 {
		return nil, endsEarly(c, src)
	}
	d := zstds.Get().(*zstd.Decoder)
	b, err := d.DecodeAll(src, room(dst, limit)[:0])
	zstds.Put(d) // not after a panic: nobody knows its state then
	switch {
	case err == nil:
		return b, nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, endsEarly(c, src)
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, tooLong(c, limit)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return nil, unsupported(c, "data", -1, "no dictionary", "frames with one")
	}
	return nil, failed(c, err)
}

// Scratch implements [Scratcher]: it is what frames with too many bytes take.
func (Zstd) Scratch(n int) int { return n + n/4 }

// Bound implements [Codec]. It is ZSTD_COMPRESSBOUND, and room for frames that users may add.
func (Zstd) Bound(n int) int { return n + n>>8 + 1<<16 }

func (Zstd) String() string { return "zstd" }

// zstds has decoders of one goroutine each: that of the caller. They decode into its memory, so a large window costs
// nothing, and every window is allowed.
var zstds = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(1<<62), zstd.WithDecoderMaxWindow(1<<41+7<<38))
	if err != nil {
		panic(err)
	}
	return d
}}
