package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// content is an open file as the io.ReadSeeker that http.ServeContent needs. It keeps the error of a read, because
// ServeContent does not return it.
type content struct {
	size   int64 // bytes
	cancel context.CancelFunc

	mu   sync.Mutex // held while reading: ServeContent may return while a read is in flight
	ctx  context.Context
	file fs.File
	off  int64
	err  error // of the read that failed
}

func newContent(ctx context.Context, f fs.File, size int64) *content {
	ctx, cancel := context.WithCancel(ctx)
	return &content{size: size, cancel: cancel, ctx: ctx, file: f}
}

// Read implements [io.Reader]. A panic is an error: ServeContent reads several ranges in a goroutine of its own.
func (c *content) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	p = p[:min(int64(len(p)), max(c.size-c.off, 0))]
	if len(p) == 0 {
		return 0, io.EOF
	}
	n, err := guard.Call("web.read", func() (int, error) {
		guard.Pass("web.read")
		return vfs.ReadAt(c.ctx, c.file, p, c.off)
	})
	c.off += int64(n)
	switch {
	case n == len(p) || err == nil && n > 0:
		return n, nil
	case err == nil || errors.Is(err, io.EOF):
		err = fmt.Errorf("byte %d: expected %d bytes in the file: %w", c.off, c.size, io.ErrUnexpectedEOF)
	}
	c.err = err
	return 0, err
}

func (c *content) Seek(off int64, whence int) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		off += c.off
	case io.SeekEnd:
		off += c.size
	}
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	c.off = off
	return off, nil
}

// stop cancels a read in flight, waits until it has returned, and returns the error of the read that failed. Later
// reads fail.
func (c *content) stop() error {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.err
	c.err = fs.ErrClosed
	return err
}
