package arrayfile

import (
	"bufio"
	"compress/bzip2"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// encoding is the compression of a stream of voxels.
type encoding int

const (
	rawEncoding encoding = iota
	gzipEncoding
	zlibEncoding
	bzip2Encoding
)

// maxRatio has the greatest number of bytes that a compressed byte can stand for. DEFLATE copies up to 258 bytes with two
// bits. A block of bzip2 has up to 900,000 runs of 259 bytes and at least 30 bytes.
var maxRatio = map[encoding]int64{gzipEncoding: 1032, zlibEncoding: 1032, bzip2Encoding: 900_000 * 259 / 5 / 30}

// open returns a reader of the plain bytes.
func (e encoding) open(r io.Reader) (io.Reader, error) {
	switch e {
	case gzipEncoding:
		return gzip.NewReader(r)
	case zlibEncoding:
		return zlib.NewReader(r)
	}
	return bzip2.NewReader(r), nil
}

// readAhead is the size of a read of compressed bytes.
const readAhead = 1 << 18

// stream is an io.ReaderAt of the plain bytes of a compressed stream. It must be read in ascending order.
type stream struct {
	file   string
	offset int64 // of the compressed bytes, in the file

	mu    sync.Mutex
	plain io.Reader
	at    int64 // plain bytes that were read
	end   int64 // plain bytes of the whole stream
}

// openStream opens the stream that takes the rest of a file from the offset on.
func openStream(f *file, offset int64, e encoding) (*stream, error) {
	stored := bufio.NewReaderSize(io.NewSectionReader(f, offset, f.size-offset), readAhead)
	plain, err := e.open(stored)
	if err != nil {
		return nil, unreadable(f.Name(), "compressed voxels", offset, noEOF(err))
	}
	return &stream{file: f.Name(), offset: offset, plain: plain, end: math.MaxInt64}, nil
}

// ReadAt implements io.ReaderAt. Bytes between the last read and off are skipped. A read of the last byte also reads the
// checksum, and fails if the stream is longer.
func (s *stream) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if off < s.at {
		return 0, fmt.Errorf("%s: a compressed stream has only one direction: byte %d after byte %d", s.file, off, s.at)
	}
	skipped, err := io.CopyN(io.Discard, s.plain, off-s.at)
	s.at += skipped
	if err != nil {
		return 0, s.explain(err)
	}
	n, err := io.ReadFull(s.plain, p)
	s.at += int64(n)
	if err != nil {
		return n, s.explain(err)
	}
	if s.at < s.end {
		return n, nil
	}
	switch more, err := io.ReadFull(s.plain, make([]byte, 1)); {
	case more > 0:
		return n, s.bad("more")
	case err != io.EOF:
		return n, s.explain(err)
	}
	return n, nil
}

// explain names the stream in an error. An error at the end of the stream says that the stream is too short.
func (s *stream) explain(err error) error {
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && s.end < math.MaxInt64 {
		return s.bad(fmt.Sprintf("%d, where the stream ends", s.at))
	}
	return unreadable(s.file, "compressed voxels", s.offset, fmt.Errorf("after %d plain bytes: %w", s.at, noEOF(err)))
}

func (s *stream) bad(found string) error {
	return invalid(s.file, "compressed voxels", s.offset, fmt.Sprintf("%d plain bytes", s.end), found)
}
