package codec

import (
	"fmt"
	"io"

	"github.com/wkwfs/wkwfs/volume"
)

// invalid returns the error for a part of src at a byte offset.
func invalid(c Codec, part string, offset int, expected, found string) error {
	return &volume.FormatError{Part: c.String() + " " + part, Offset: int64(offset), Expected: expected, Found: found}
}

// unsupported returns the error for a part of src that other programs may read, at a byte offset.
func unsupported(c Codec, part string, offset int, expected, found string) error {
	return &volume.UnsupportedError{Part: c.String() + " " + part, Offset: int64(offset), Expected: expected,
		Found: found}
}

// failed returns the error for an error of a library.
func failed(c Codec, err error) error {
	return &volume.FormatError{Part: c.String() + " data", Offset: -1, Err: err}
}

// endsEarly returns the error for a src that is incomplete.
func endsEarly(c Codec, src []byte) error { return endsAt(c, len(src)) }

// endsAt is endsEarly for a src of size bytes.
func endsAt(c Codec, size int) error {
	return &volume.FormatError{Part: c.String() + " data", Offset: int64(size), Err: io.ErrUnexpectedEOF}
}

// leftOver returns the error for bytes after the end of the format, of size bytes.
func leftOver(c Codec, size, offset int) error {
	return invalid(c, "data", offset, "their end", fmt.Sprintf("%d more bytes", size-offset))
}

func tooLong(c Codec, limit int) error {
	return invalid(c, "data", -1, fmt.Sprintf("at most %d decoded bytes", limit), "more")
}

func wrongLength(c Codec, expected, found int) error {
	return invalid(c, "data", -1, fmt.Sprintf("%d decoded bytes", expected), fmt.Sprint(found))
}

// invalidBlock returns the error for a block of src at a byte offset. err is that of its decoder.
func invalidBlock(c Codec, offset int, err error) error {
	return &volume.FormatError{Part: c.String() + " block", Offset: int64(offset), Err: err}
}
