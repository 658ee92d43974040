package precomputed

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// isGzip reports whether data starts with the header of a gzip member: the magic number and the method deflate (RFC
// 1952, 2.3.1).
func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b, 8}) }

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// gunzip decompresses data and checks its checksum and length. It returns an error, and does not hold all of the
// output in memory, if there are more than limit bytes.
func gunzip(data []byte, limit int) ([]byte, error) {
	b, err := decompress(data, limit)
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	return b, nil
}

func decompress(data []byte, limit int) ([]byte, error) {
	r := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(r)
	if err := r.Reset(bytes.NewReader(data)); err != nil {
		return nil, unexpectedEOF(err)
	}
	// Deflate expands a byte to at most 1032 bytes. Do not allocate more than that for a wrong size.
	const ratio = 1032
	var out bytes.Buffer
	out.Grow(min(claimedSize(data), limit, ratio*len(data)) + bytes.MinRead)
	n, err := out.ReadFrom(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case n > int64(limit):
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return out.Bytes(), nil
}

// unexpectedEOF replaces io.EOF, which gzip returns for empty data.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// claimedSize returns the decompressed length modulo 2^32 from the last four bytes (RFC 1952, ISIZE). It is a hint:
// it may be wrong.
func claimedSize(data []byte) int {
	if len(data) < 4 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(data[len(data)-4:]))
}
