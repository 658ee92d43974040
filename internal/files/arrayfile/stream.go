package arrayfile

import (
	"bufio"
	"compress/bzip2"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
)

// encoding is the compression of a stream of voxels.
type encoding int

const (
	rawEncoding encoding = iota
	gzipEncoding
	zlibEncoding
	bzip2Encoding
)

// maxRatio has the greatest number of bytes that a compressed byte can stand for. DEFLATE copies up to 258 bytes with
// two bits. A block of bzip2 has up to 900,000 runs of 259 bytes and at least 30 bytes.
var maxRatio = map[encoding]int64{gzipEncoding: 1032, zlibEncoding: 1032, bzip2Encoding: 900_000 * 259 / 5 / 30}

// framing returns what is around the stream of DEFLATE. ok is false for another compression.
func (e encoding) framing() (f codec.Framing, ok bool) {
	switch e {
	case gzipEncoding:
		return codec.GzipFraming, true
	case zlibEncoding:
		return codec.ZlibFraming, true
	}
	return 0, false
}

// String names the compression for people.
func (e encoding) String() string {
	return [...]string{"raw", "gzip", "zlib", "bzip2"}[e]
}

// readAhead is the size of a read of compressed bytes.
const readAhead = 1 << 18

// stream is an io.ReaderAt of the plain bytes of a compressed stream. It must be read in ascending order.
type stream struct {
	*file
	offset   int64 // of the compressed bytes, in the file
	encoding encoding
	end      int64 // plain bytes of the whole stream

	mu       sync.Mutex
	plain    io.Reader       // nil before the first read
	inflater *codec.Inflater // plain, if it is one
	source   *errorKeeper    // what plain reads
	at       int64           // plain bytes that were read
}

// openStream opens the stream that takes the rest of a file from the offset on. Memory is taken at the first read.
func openStream(f *file, offset int64, e encoding) (*stream, error) {
	s := &stream{file: f, offset: offset, encoding: e, end: math.MaxInt64}
	framing, ok := e.framing()
	if !ok {
		return s, nil
	}
	d := codec.NewInflater(f, offset, f.size, framing)
	defer d.Close()
	if err := d.Start(); err != nil {
		return nil, unreadable(f.Name(), "compressed voxels", offset, noEOF(err))
	}
	return s, nil
}

// start opens the reader of the plain bytes.
func (s *stream) start() {
	s.source = &errorKeeper{ReaderAt: s.file}
	if framing, ok := s.encoding.framing(); ok {
		s.inflater = codec.NewInflater(s.source, s.offset, s.file.size, framing)
		s.plain = s.inflater
		return
	}
	s.plain = bzip2.NewReader(bufio.NewReaderSize(io.NewSectionReader(s.source, s.offset, s.file.size-s.offset),
		readAhead))
}

// place returns where the stream can be decoded from behind the bytes that were read. It returns false if that is not
// known.
func (s *stream) place() (codec.Restart, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inflater == nil {
		return codec.Restart{}, false
	}
	return s.inflater.Restart()
}

// close gives back what reads have taken. The next read starts again. close returns the error of the source that a read
// has had, if any.
func (s *stream) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain == nil {
		return nil
	}
	if s.inflater != nil {
		s.inflater.Close()
	}
	err := s.source.err
	s.inflater, s.plain, s.source, s.at = nil, nil, nil, 0
	return err
}

// errorKeeper keeps the error of an io.ReaderAt.
type errorKeeper struct {
	io.ReaderAt
	err error
}

// ReadAt implements io.ReaderAt.
func (n *errorKeeper) ReadAt(p []byte, off int64) (int, error) {
	read, err := n.ReaderAt.ReadAt(p, off)
	if err != nil && err != io.EOF {
		n.err = err
	}
	return read, err
}

// ReadAt implements io.ReaderAt. Bytes between the last read and off are skipped. A read of the last byte also reads
// the checksum, and fails if the stream is longer.
func (s *stream) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if off < s.at {
		return 0, fmt.Errorf("%s: a compressed stream has only one direction: byte %d after byte %d", s.Name(), off,
			s.at)
	}
	if s.plain == nil {
		s.start()
	}
	if err := s.skip(off); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s.plain, p)
	s.at += int64(n)
	if err != nil {
		return n, s.explain(err)
	}
	return n, s.checkEnd()
}

// next reads some bytes from an offset on, at least one. It is for a stream that [stream.ReadAt] does not read.
func (s *stream) next(p []byte, off int64) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain == nil {
		s.start()
	}
	if err := s.skip(off); err != nil {
		return 0, err
	}
	p = p[:min(int64(len(p)), s.end-s.at)]
	for n == 0 && err == nil && len(p) > 0 {
		n, err = s.plain.Read(p)
	}
	s.at += int64(n)
	if err != nil && n == 0 {
		return 0, s.explain(err)
	}
	return n, s.checkEnd()
}

// skip reads up to an offset.
func (s *stream) skip(off int64) error {
	skipped, err := io.CopyN(io.Discard, s.plain, off-s.at)
	s.at += skipped
	if err != nil {
		return s.explain(err)
	}
	return nil
}

// checkEnd reads the checksum if all bytes were read, and fails if there are more.
func (s *stream) checkEnd() error {
	if s.at < s.end {
		return nil
	}
	switch more, err := io.ReadFull(s.plain, make([]byte, 1)); {
	case more > 0:
		return s.bad("more")
	case err != io.EOF:
		return s.explain(err)
	}
	return nil
}

// explain names the stream in an error. An error at the end of the stream says that the stream is too short.
func (s *stream) explain(err error) error {
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && s.end < math.MaxInt64 {
		return s.bad(fmt.Sprintf("%d, where the stream ends", s.at))
	}
	return unreadable(s.Name(), "compressed voxels", s.offset, fmt.Errorf("after %d plain bytes: %w", s.at, noEOF(err)))
}

func (s *stream) bad(found string) error {
	return invalid(s.Name(), "compressed voxels", s.offset, fmt.Sprintf("%d plain bytes", s.end), found)
}
