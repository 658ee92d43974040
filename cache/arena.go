package cache

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// arena owns the memory of voxels. Memory that was freed is lent again, the last freed first, so that
// it is still in the processor's cache, and the kernel need not hand over and clear new pages. The
// garbage collector knows nothing of it.
//
// Buffers of one size come out of spans, which ask for huge pages. New memory is slow: the kernel clears each page when it is
// first written, and a virtual machine may have to ask its host for it. So while one span is being lent, the next one is
// made ready. The arena keeps freed buffers up to its limit and gives those of other sizes back to the kernel first.
type arena struct {
	limit   int64 // bytes of lent and of freed buffers together, as long as those that are lent leave room
	working int64 // bytes of freed buffers that are kept even if they leave none

	mu      sync.Mutex
	classes map[int]*class // by size of a buffer
	lent    int64          // bytes
	spare   int64          // bytes of freed buffers that the kernel still backs
	spans   [][]byte       // to be unmapped when the arena is closed
	closed  bool

	pending   int            // spans that are being made ready
	preparing sync.WaitGroup // goroutines that do that; none begins after close
}

// class is the buffers of one size that nobody uses.
type class struct {
	warm  [][]byte // backed by memory
	cold  [][]byte // given back to the kernel
	fresh []byte   // the rest of a span that was never lent
	ready []byte   // a span that the kernel backs already

	preparing bool
}

// workingBytes is how many freed bytes stay backed even if kept blocks take the whole budget. Readers decode blocks into this memory
// and free it again. If the kernel had to hand over and clear it each time, that would cost more than decoding.
const workingBytes = 24 << 20

// spanBytes is how much address space is asked for at once, or one buffer if that is larger.
const spanBytes = 4 << 20

const hugePage = 2 << 20

var pageSize = os.Getpagesize()

// poison makes free overwrite what it is given. Tests set it: a buffer that is read after it was freed shows.
var poison = false

func newArena(limit int64) *arena {
	return &arena{limit: limit, working: min(workingBytes, limit/4), classes: map[int]*class{}}
}

// bufferSize returns how many bytes are taken for n. Less than a page is the garbage collector's.
func bufferSize(n int) int {
	if n < pageSize {
		return n
	}
	return (n + pageSize - 1) / pageSize * pageSize
}

// alloc lends n bytes of undefined content until free.
func (a *arena) alloc(n int) []byte {
	size := bufferSize(n)
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.take(size)
	a.lent += int64(size)
	return p[:n]
}

// take returns a buffer that nobody uses. It is called with mu held.
func (a *arena) take(size int) []byte {
	if size < pageSize {
		return make([]byte, size)
	}
	c := a.classes[size]
	if c == nil {
		c = new(class)
		a.classes[size] = c
	}
	if p, ok := pop(&c.warm); ok {
		a.spare -= int64(size)
		return p
	}
	a.trim(a.limit - a.lent - int64(size))
	if p, ok := pop(&c.cold); ok {
		return p
	}
	if len(c.fresh) < size {
		if c.fresh, c.ready = c.ready, nil; c.fresh == nil {
			c.fresh = a.newSpan(size)
		}
		a.prepare(c, size)
	}
	p := c.fresh[:size:size]
	c.fresh = c.fresh[size:]
	return p
}

// free takes back what alloc lent. Nobody may read or write it any more.
func (a *arena) free(p []byte) {
	p = p[:cap(p)]
	if poison {
		p[0] = 0xDB
		for n := 1; n < len(p); n *= 2 {
			copy(p[n:], p[:n])
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lent -= int64(len(p))
	if len(p) >= pageSize {
		c := a.classes[len(p)]
		c.warm = append(c.warm, p)
		a.spare += int64(len(p))
		a.trim(a.limit - a.lent)
	}
	a.unmap()
}

// trim gives freed buffers back to the kernel until no more than most bytes of them are backed, or what is needed to
// work. It is called with mu held.
func (a *arena) trim(most int64) {
	most = max(most, a.working)
	if a.spare <= most {
		return
	}
	for size, c := range a.classes {
		for a.spare > most {
			p, ok := pop(&c.warm)
			if !ok {
				break
			}
			_ = unix.Madvise(p, unix.MADV_DONTNEED) // it fails for locked memory only, which this is not
			c.cold = append(c.cold, p)
			a.spare -= int64(size)
		}
	}
}

// prepare makes the next span of a class ready, if there is room for one that holds some buffers. It is called with mu held.
func (a *arena) prepare(c *class, size int) {
	if c.preparing || a.closed || size > spanBytes/4 || a.lent+a.spare+2*spanBytes > a.limit {
		return
	}
	c.preparing = true
	a.pending++
	span := a.newSpan(size)
	a.preparing.Go(func() {
		_ = unix.Madvise(span, unix.MADV_POPULATE_WRITE) // a kernel may not know it
		a.mu.Lock()
		defer a.mu.Unlock()
		c.ready, c.preparing = span, false
		a.pending--
	})
}

// newSpan maps memory for buffers of a size. It is called with mu held.
func (a *arena) newSpan(size int) []byte {
	n := max(size, spanBytes/size*size)
	span, err := unix.Mmap(-1, 0, n+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(fmt.Errorf("cache: %d bytes of memory: %w", n, err))
	}
	_ = unix.Madvise(span, unix.MADV_HUGEPAGE) // a kernel may not have them
	a.spans = append(a.spans, span)
	return alignHuge(span)[:n]
}

// close lets go of all memory as soon as none is lent.
func (a *arena) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.preparing.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unmap()
}

// unmap gives the memory of all spans back if the arena is closed and none of it is in use. It is called with mu held.
func (a *arena) unmap() {
	if !a.closed || a.lent > 0 || a.pending > 0 {
		return
	}
	for _, span := range a.spans {
		_ = unix.Munmap(span) // it was mapped by Mmap
	}
	a.spans, a.classes, a.spare = nil, map[int]*class{}, 0
}

func pop(stack *[][]byte) ([]byte, bool) {
	n := len(*stack) - 1
	if n < 0 {
		return nil, false
	}
	p := (*stack)[n]
	*stack = (*stack)[:n]
	return p, true
}
