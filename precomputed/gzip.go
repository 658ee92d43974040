package precomputed

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// isGzip reports whether data begins like a gzip member (RFC 1952, 2.3.1): two magic
// bytes and the only method that there is.
func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b, 8}) }

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// gunzip returns what was compressed, checksum and length checked. More than limit
// bytes are an error, and never all in memory.
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
		return nil, truncated(err)
	}
	// Deflate makes at most 1032 bytes of one: what is claimed beyond is a lie.
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

// truncated says of an end where nothing was read that it comes too early.
func truncated(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// claimedSize is the length that the last four bytes give, modulo 2^32; only a hint.
func claimedSize(data []byte) int {
	if len(data) < 4 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(data[len(data)-4:]))
}
