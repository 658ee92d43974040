package precomputed

import (
	"bufio"
	"context"
	"io"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/vfs"
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

// buffered returns a buffer for what is left. A large chunk that is decompressed is not in memory as it is stored.
func (r *chunkReader) buffered() *bufio.Reader {
	if r.buffer == nil {
		piece := int64(codec.Piece)
		if r.Speed().Late {
			piece = codec.LatePiece
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
	if err := vfs.ReadFull(r.ctx, r.file.File, p, r.at); err != nil {
		r.failed = r.file.Unreadable("chunk "+r.box().String(), r.at, err)
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
