package codec

import (
	"bytes"
	"errors"
	"io"
)

// input is the input of a decoder that reads an io.Reader. Its memory is pooled with the decoder.
type input struct {
	src  bytes.Reader
	past [1]byte // what follows the first limit bytes
}

// readAll reads r to its end, into dst or new memory. r decodes src, and reads it from s.
func (s *input) readAll(c Codec, r io.Reader, dst, src []byte, limit int) ([]byte, error) {
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
		return nil, s.error(c, src, err)
	case s.src.Len() > 0:
		return nil, leftOver(c, src, len(src)-s.src.Len())
	}
	return dst[:n], nil
}

// error returns the error for an error of a library. If all of src was read, io.EOF and io.ErrUnexpectedEOF mean that src is
// incomplete.
func (s *input) error(c Codec, src []byte, err error) error {
	if s.src.Len() == 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return endsEarly(c, src)
	}
	return failed(c, err)
}
