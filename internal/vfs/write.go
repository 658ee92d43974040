package vfs

import "context"

// Writer is an open file whose bytes can be written. Its size never changes. Other files may show the same data: what
// is written is also read through them, after Sync at the latest.
type Writer interface {
	// WriteAtContext writes all of p at byte offset off. When it returns, each later read of the file has the bytes. If
	// the file cannot have them, the error wraps [fs.ErrInvalid], or [ErrSize] where the file ends before them.
	WriteAtContext(ctx context.Context, p []byte, off int64) error
	// Sync returns when all that was written to the file survives a power failure.
	Sync(ctx context.Context) error
}

// ErrSize is the error of a write past the end of a file.
var ErrSize error = sizeError{}

type sizeError struct{}

func (sizeError) Error() string { return "the size of the file cannot change" }

// Generational is a source that knows whether anything in it has changed, without I/O.
type Generational interface {
	// Generation returns a number that is larger after each change.
	Generation() uint64
}

// GenerationOf returns the generation of a [Generational], or 0.
func GenerationOf(of any) uint64 {
	if g, ok := of.(Generational); ok {
		return g.Generation()
	}
	return 0
}
