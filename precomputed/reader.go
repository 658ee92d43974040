package precomputed

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

const (
	// pieceBytes is how much of a chunk is read at a time if it is decompressed. So a large one is not in memory as it
	// is stored.
	pieceBytes = 256 << 10
	// latePieceBytes is the same for sources that answer late.
	latePieceBytes = 4 << 20
)

// chunkReader reads the stored bytes of a chunk.
type chunkReader struct {
	*chunk
	ctx    context.Context
	at     int64 // in the file
	buffer *bufio.Reader
	failed error // of a read
}

func (c *chunk) reader(ctx context.Context) *chunkReader {
	return &chunkReader{chunk: c, ctx: ctx, at: c.offset}
}

// buffered returns a buffer for what is left.
func (r *chunkReader) buffered() *bufio.Reader {
	if r.buffer == nil {
		piece := int64(pieceBytes)
		if r.Speed().Late {
			piece = latePieceBytes
		}
		r.buffer = bufio.NewReaderSize(r, int(min(piece, r.size)))
	}
	return r.buffer
}

// startsAsGzip reports whether the stored bytes do.
func (r *chunkReader) startsAsGzip() (bool, error) {
	head, err := r.buffered().Peek(3)
	if r.failed != nil {
		return false, r.failed
	}
	return err == nil && isGzip(head), nil
}

// Read implements [io.Reader].
func (r *chunkReader) Read(p []byte) (int, error) {
	left := r.offset + r.size - r.at
	if left <= 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), left)]
	if err := vfs.ReadFull(r.ctx, r.file, p, r.at); err != nil {
		r.failed = fmt.Errorf("%s: chunk %v at byte %d: %w", r.name, r.box(), r.at, err)
		return 0, r.failed
	}
	r.at += int64(len(p))
	return len(p), nil
}

// readFull reads all stored bytes, as many as p has, into p.
func (r *chunkReader) readFull(p []byte) error {
	from := io.Reader(r)
	if r.buffer != nil {
		from = r.buffer
	}
	if _, err := io.ReadFull(from, p); err != nil && r.failed == nil {
		return err
	}
	return r.failed
}
