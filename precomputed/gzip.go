package precomputed

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
)

// maxRatio is how many times longer deflate makes a byte at most.
const maxRatio = 1032

// maxWhole is the most stored bytes of a chunk that are decompressed in one piece.
const maxWhole = 1 << 20

// isGzip reports whether data starts with the header of a gzip member: the magic number and the method deflate (RFC
// 1952, 2.3.1).
func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b, 8}) }

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// gunzip decompresses all of in into dst, and checks checksums and lengths. It returns how many bytes that is. More
// than dst has are an error.
func gunzip(in io.Reader, dst []byte) (int, error) {
	n, err := decompress(in, dst)
	if err != nil {
		return 0, fmt.Errorf("decompressing: %w", err)
	}
	return n, nil
}

// gunzipBytes is gunzip for bytes in memory.
func gunzipBytes(stored, dst []byte) (int, error) {
	if n, ok := codec.Gunzip(dst, stored); ok {
		return n, nil
	}
	return gunzip(bytes.NewReader(stored), dst)
}

func decompress(in io.Reader, dst []byte) (n int, err error) {
	r := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(r)
	if err := r.Reset(in); err != nil {
		return 0, unexpectedEOF(err)
	}
	return readAll(r, dst)
}

// unexpectedEOF replaces io.EOF, which gzip returns for empty data.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
