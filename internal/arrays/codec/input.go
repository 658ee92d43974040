package codec

import (
	"bytes"
	"errors"
	"io"
)

// input is the input of a decoder that reads an io.Reader. Its memory is pooled with the decoder.
type input struct {
	src    bytes.Reader
	stream *Stream // instead of src; may be nil
	past   [1]byte // what follows the first limit bytes
}

// reader returns what the decoder reads.
func (s *input) reader() io.Reader {
	if s.stream != nil {
		return s.stream.buffer
	}
	return &s.src
}

// left returns how many stored bytes were not read, and size how many there are.
func (s *input) left() int {
	if s.stream != nil {
		return s.stream.left()
	}
	return s.src.Len()
}

func (s *input) size() int {
	if s.stream != nil {
		return s.stream.size
	}
	return int(s.src.Size())
}

// readAll reads r, which decodes the input, to its end, into dst or new memory.
func (s *input) readAll(c Codec, r io.Reader, dst []byte, limit int) ([]byte, error) {
	dst = room(dst, limit)
	n, err := 0, error(nil)
	for n < limit && err == nil {
		var m int
		m, err = r.Read(dst[n:])
		n += m
	}
	for err == nil {
		var m int
		if m, err = r.Read(s.past[:]); m > 0 {
			return nil, tooLong(c, limit)
		}
	}
	switch {
	case err != io.EOF:
		return nil, s.error(c, err)
	case s.left() > 0:
		return nil, leftOver(c, s.size(), s.size()-s.left())
	}
	return dst[:n], nil
}

// readPrefix reads as many bytes of r, which decodes the input, as dst has.
func (s *input) readPrefix(c Codec, r io.Reader, dst []byte) error {
	n, err := io.ReadFull(r, dst)
	switch {
	case n == len(dst):
		return nil
	case s.left() > 0 && (err == io.EOF || err == io.ErrUnexpectedEOF): // the stream has an end
		return wrongLength(c, len(dst), n)
	}
	return s.error(c, err)
}

// error returns the error for an error of a library. If all of the input was read, io.EOF and io.ErrUnexpectedEOF mean
// that it is incomplete.
func (s *input) error(c Codec, err error) error {
	switch {
	case s.stream != nil && s.stream.failed != nil:
		return s.stream.failed
	case s.left() == 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return endsAt(c, s.size())
	}
	return failed(c, err)
}
