// Package scratch lends memory for a short time: for stored bytes, and for steps between them and voxels. The garbage
// collector does not see larger buffers. So their memory is free as soon as they are given back, and not at the next
// collection.
//
// # Decisions
//
// Memory for decoding is not on the heap. There, a decoded chunk of 128 MiB would be garbage until the next collection,
// which starts when the heap has grown by half. So three of them would be in memory at a time.
package scratch

import (
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// maxPooled is the largest buffer that the garbage collector owns. Pieces of 256 KiB that are pushed are not.
	maxPooled = 256<<10 - 1
	// step is what the lengths of larger buffers are a multiple of, so that one fits the next request.
	step = 256 << 10
	// maxFree bounds the memory of larger buffers that wait for their next use.
	maxFree = 16 << 20
)

var (
	pooled sync.Pool
	usual  = mapped{most: maxFree}
)

// Get lends n bytes of undefined content. Nobody may use them after Put.
func Get(n int) *[]byte {
	if n > maxPooled {
		b := usual.get(n)
		return &b
	}
	if b, ok := pooled.Get().(*[]byte); ok && cap(*b) >= n {
		*b = (*b)[:n]
		return b
	}
	b := make([]byte, n)
	return &b
}

// Put takes back what Get lent.
func Put(b *[]byte) {
	if cap(*b) > maxPooled {
		usual.put(*b)
		return
	}
	pooled.Put(b)
}

// mapped lends buffers that are mapped.
type mapped struct {
	most int // bytes of free buffers

	mu    sync.Mutex
	free  [][]byte // the one that was given back first at index 0
	bytes int      // of free buffers
}

// get returns n bytes: of the smallest free buffer that is long enough and not twice as long, or else of a new one.
func (m *mapped) get(n int) []byte {
	size := (n + step - 1) / step * step
	if b := m.reuse(size); b != nil {
		return b[:n]
	}
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(fmt.Errorf("scratch: map %d bytes of memory: %w", size, err))
	}
	adviseHuge(b)
	return b[:n]
}

func (m *mapped) reuse(size int) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	best := -1
	for i, b := range m.free {
		if cap(b) >= size && cap(b) <= 2*size && (best < 0 || cap(b) < cap(m.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b := m.free[best]
	m.free = slices.Delete(m.free, best, best+1)
	m.bytes -= cap(b)
	return b
}

// put takes a buffer back, and unmaps those that were given back first if there are too many.
func (m *mapped) put(b []byte) {
	for _, old := range m.keep(b[:cap(b)]) {
		_ = unix.Munmap(old) // it cannot fail for what was mapped
	}
}

// keep adds a free buffer, and returns those that are too many.
func (m *mapped) keep(b []byte) (rest [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = append(m.free, b)
	m.bytes += len(b)
	n := 0
	for ; m.bytes > m.most; n++ {
		m.bytes -= len(m.free[n])
	}
	rest = slices.Clone(m.free[:n])
	m.free = slices.Delete(m.free, 0, n)
	return rest
}
