package diskcache

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sys/unix"
)

// requestMemory is the maximum number of bytes of requests in flight, together with what their readers have not yet
// copied.
const requestMemory = 24 << 20

// memory bounds the bytes of flights.
//
// A reader reserves the bytes of all its flights at once. While it waits for memory, it has none. So those that have
// some always go on. Bytes that are to be written take all of it for a moment at most: Options.Pending bounds those in
// the queue, and the others wait for roomTimeout.
type memory struct{ bytes *semaphore.Weighted }

func newMemory(pending int64) *memory { return &memory{semaphore.NewWeighted(pending + requestMemory)} }

// reserve waits for n bytes, or for requestMemory if that is less. It returns how many it has reserved. The error is
// ctx.Err().
func (m *memory) reserve(ctx context.Context, n int64) (int64, error) {
	n = min(n, requestMemory)
	return n, m.bytes.Acquire(ctx, n)
}

// release gives back reserved bytes.
func (m *memory) release(n int64) { m.bytes.Release(n) }

// alloc maps n bytes, which are zeros. The caller gives them back with free. The garbage collector would keep garbage
// in proportion to them, and would free them late.
func alloc(n int64) ([]byte, error) {
	p, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes of memory: %w", n, err)
	}
	return p, nil
}

// free unmaps memory of alloc, or nothing if p is nil.
func free(p []byte) {
	if p != nil {
		_ = unix.Munmap(p) // it cannot fail for what was mapped
	}
}
