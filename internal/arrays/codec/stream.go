package codec

import (
	"bufio"
	"io"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
)

// StreamDecoder is a codec that decodes stored bytes one after the other, so that they need not be in memory together.
type StreamDecoder interface {
	PrefixDecoder

	// DecodeStream decodes all of a stream. The decoded bytes must be as many as dst has. With prefix, it is
	// DecodePrefix.
	DecodeStream(dst []byte, s *Stream, prefix bool) error
}

var _, _ StreamDecoder = Gzip{}, Zlib{}

const (
	// Piece is how many stored bytes of a large chunk are read at a time.
	Piece = 256 << 10
	// LatePiece is the same for sources that answer late.
	LatePiece = 4 << 20
)

// Stream reads stored bytes in pieces.
type Stream struct {
	size   int                          // of the stored bytes
	read   func(p []byte, at int) error // fills p with stored bytes from byte at on
	at     int                          // bytes that were read
	piece  *[]byte                      // memory of a piece
	rest   []byte                       // of the piece
	buffer *bufio.Reader                // decoders are faster with it than with other readers
	failed error                        // of read
}

// NewStream returns a stream of size bytes, which are read up to piece at a time. It is closed after its use.
func NewStream(size, piece int, read func(p []byte, at int) error) *Stream {
	s := &Stream{size: size, read: read, piece: scratch.Get(min(piece, max(size, 1)))}
	s.buffer = bufio.NewReaderSize(s, 64<<10)
	return s
}

// Close gives back the memory.
func (s *Stream) Close() { scratch.Put(s.piece) }

// Read implements [io.Reader].
func (s *Stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		n := min(len(*s.piece), s.size-s.at)
		if n <= 0 {
			return 0, io.EOF
		}
		if s.failed = s.read((*s.piece)[:n], s.at); s.failed != nil {
			return 0, s.failed
		}
		s.rest = (*s.piece)[:n]
		s.at += n
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// left returns how many stored bytes no decoder has read.
func (s *Stream) left() int { return s.size - s.at + len(s.rest) + s.buffer.Buffered() }
