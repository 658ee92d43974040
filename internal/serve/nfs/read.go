package nfs

import (
	"errors"
	"io"
	"math/bits"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// readSize returns how many bytes a READ returns that asks for n.
func readSize(n uint32) int { return int(min(n, maxRead)) }

// read reads bytes of a file (3.3.6). The reply has all of them, up to the end of the file, or is an error.
func (r *request) read() error {
	h, err := r.handle()
	off, n := r.args.Uint64(), readSize(r.args.Uint32())
	if err = errors.Join(r.parsed(), err); err != nil {
		return err
	}
	if err := r.server.directories.search(r.from, h.path); err != nil {
		return err
	}
	if h.dir {
		return statusIsDir
	}
	f, err := r.server.files.acquire(h, int64(min(off, 1<<63-1)), n)
	if err != nil {
		return err
	}
	defer r.server.files.release(f)
	if !r.from.may(f.info, mayRead) {
		return statusAccess
	}
	size := uint64(f.info.Size())
	n = int(min(uint64(n), size-min(off, size)))
	if n > 0 {
		r.buffer = buffers.get(n)
		start := time.Now()
		if n, err = vfs.ReadAt(r.ctx, f.file, r.buffer[:n], int64(off)); err != nil && !errors.Is(err, io.EOF) {
			r.server.observer.Read(h.path, int64(off), 0, time.Since(start))
			return err
		}
		r.server.observer.Read(h.path, int64(off), n, time.Since(start))
	}
	r.data = append(r.buffer[:n], xdr.Padding(n)...)
	r.out.Uint32(uint32(statusOK))
	r.putPostAttr(h.path, f.info)
	r.out.Uint32(uint32(n))
	r.out.Bool(off+uint64(n) >= size)
	r.out.Uint32(uint32(n)) // the length of the data that follow
	return nil
}

// bufferPools has memory for the bytes of READ, in sizes of 4 KiB to 1 MiB.
type bufferPools [9]sync.Pool

var buffers bufferPools

const minBuffer = 4 << 10

// class returns the index of the pool for n bytes.
func (*bufferPools) class(n int) int { return bits.Len(uint(max(n, 1)-1) / minBuffer) }

// size returns the memory of a buffer for n bytes, without its room for padding.
func (b *bufferPools) size(n int) int { return minBuffer << b.class(n) }

// get returns a buffer of n bytes with room for padding.
func (b *bufferPools) get(n int) []byte {
	if p, ok := b[b.class(n)].Get().(*[]byte); ok {
		return (*p)[:n]
	}
	return make([]byte, n, b.size(n)+3)
}

// put gives a buffer of get back. It may be nil.
func (b *bufferPools) put(p []byte) {
	if p != nil {
		b[b.class(cap(p)-3)].Put(&p)
	}
}
