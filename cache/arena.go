package cache

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// arena owns the memory of voxels. The garbage collector does not see this memory.
//
// The arena lends the buffer that was freed last first: it may still be in the processor's cache, and the kernel need
// not provide and clear new pages. Buffers of one size are cut from spans with huge pages. New memory is slow,
// because the kernel clears each page when it is first written, and a virtual machine may have to request it from its
// host. So while one span is lent, the next one is prepared. The arena keeps free buffers up to its limit. When it
// needs room, it gives free buffers back to the kernel.
type arena struct {
	limit    int64         // bytes of lent and free buffers together, unless more is lent
	span     int           // bytes of a span: see spanBytes
	reserved *atomic.Int64 // bytes that holds may take

	mu      sync.Mutex
	classes map[int]*class // by size of a buffer
	lent    int64          // bytes
	spare   int64          // bytes of free buffers that are backed by memory
	mapped  int64          // bytes of all spans
	spans   [][]byte       // all of them; unmapped when the arena is closed
	closed  bool

	preparing int            // spans that are being prepared
	preparers sync.WaitGroup // goroutines that prepare spans; none starts after close
}

// class holds the free buffers of one size.
type class struct {
	backed   [][]byte // by memory
	unbacked [][]byte // given back to the kernel
	rest     []byte   // the part of a span that was never lent
	nextSpan []byte   // a prepared span

	preparing bool
}

const (
	// spanBytes is the size of a span, or more for a buffer that is larger.
	spanBytes = 4 << 20

	hugePage = 2 << 20
)

var pageSize = os.Getpagesize()

// poison makes free overwrite buffers. Tests set it to detect reads of a buffer after it was freed.
var poison = false

// newArena returns an arena with a limit in bytes, and spans of span bytes.
func newArena(limit int64, span int) *arena {
	return &arena{limit: limit, span: span, reserved: new(atomic.Int64), classes: map[int]*class{}}
}

// bufferSize returns the size of a buffer for n bytes: whole pages, or n bytes of the garbage collector if n is less
// than a page.
func bufferSize(n int) int {
	if n < pageSize {
		return n
	}
	return (n + pageSize - 1) / pageSize * pageSize
}

// alloc lends n bytes of undefined content.
func (a *arena) alloc(n int) []byte {
	size := bufferSize(n)
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.take(size)
	a.lent += int64(size)
	return p[:n]
}

// take returns an unused buffer. It is called with mu held.
func (a *arena) take(size int) []byte {
	if size < pageSize {
		return make([]byte, size)
	}
	c := a.classes[size]
	if c == nil {
		c = new(class)
		a.classes[size] = c
	}
	if p, ok := pop(&c.backed); ok {
		a.spare -= int64(size)
		return p
	}
	a.trim(a.limit - a.lent - int64(size))
	if p, ok := pop(&c.unbacked); ok {
		return p
	}
	if len(c.rest) < size {
		if c.rest, c.nextSpan = c.nextSpan, nil; c.rest == nil {
			c.rest = a.newSpan(size)
		}
		a.prepare(c, size)
	}
	p := c.rest[:size:size]
	c.rest = c.rest[size:]
	return p
}

// free takes back a buffer that alloc lent. The caller must not use it any more.
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
		c.backed = append(c.backed, p)
		a.spare += int64(len(p))
		a.trim(a.limit - a.lent)
	}
	a.unmap()
}

// lendElsewhere counts n bytes that are not of the arena as lent, or n fewer if it is negative.
func (a *arena) lendElsewhere(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lent += n
	a.trim(a.limit - a.lent)
	a.unmap()
}

// trim gives free buffers back to the kernel until at most n bytes of them are backed, or none if n is negative. It
// is called with mu held.
func (a *arena) trim(n int64) {
	if n = max(n, 0); a.spare <= n {
		return
	}
	for size, c := range a.classes {
		for a.spare > n {
			p, ok := pop(&c.backed)
			if !ok {
				break
			}
			discardPages(p)
			c.unbacked = append(c.unbacked, p)
			a.spare -= int64(size)
		}
	}
}

// lentBytes returns the bytes that are lent.
func (a *arena) lentBytes() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lent
}

// lowerLimit lowers the limit to n bytes, and gives all free buffers back to the kernel.
func (a *arena) lowerLimit(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limit = n
	a.trim(0)
}

// prepare prepares the next span of a class in a goroutine, if the buffers are small and there is room. While there are
// holds, it prepares no more than they may take. It is called with mu held.
func (a *arena) prepare(c *class, size int) {
	reserved := a.reserved.Load()
	enough := reserved > 0 && a.mapped+int64(a.span) > reserved
	if c.preparing || a.closed || enough || size > a.span/4 || a.lent+a.spare+2*int64(a.span) > a.limit {
		return
	}
	span := a.newSpan(size)
	c.preparing = true
	a.preparing++
	a.preparers.Go(guard.Func("cache.prepare", func() {
		defer func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			c.nextSpan, c.preparing = span, false
			a.preparing--
		}()
		guard.Pass("cache.prepare")
		populatePages(span)
	}))
}

// newSpan maps a span for buffers of a size. It starts at a huge page. newSpan is called with mu held.
func (a *arena) newSpan(size int) []byte {
	n := max(size, a.span/size*size)
	span, err := mapPages(n + hugePage)
	if err != nil {
		panic(fmt.Errorf("cache: map %d bytes of memory: %w", n, err))
	}
	a.mapped += int64(n)
	a.spans = append(a.spans, span)
	return alignHuge(span)[:n]
}

func (a *arena) setClosed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
}

// close unmaps all memory as soon as none is lent.
func (a *arena) close() {
	a.setClosed()
	a.preparers.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unmap()
}

// unmap unmaps all spans if the arena is closed and no memory is in use. It is called with mu held.
func (a *arena) unmap() {
	if !a.closed || a.lent > 0 || a.preparing > 0 {
		return
	}
	for _, span := range a.spans {
		_ = unix.Munmap(span) // it cannot fail for a span
	}
	a.spans, a.classes, a.spare, a.mapped = nil, map[int]*class{}, 0, 0
}

// pop removes and returns the last buffer of a stack.
func pop(stack *[][]byte) ([]byte, bool) {
	n := len(*stack) - 1
	if n < 0 {
		return nil, false
	}
	p := (*stack)[n]
	*stack = (*stack)[:n]
	return p, true
}

// alignHuge returns the part of p from the first huge page on.
func alignHuge(p []byte) []byte {
	return p[-uintptr(unsafe.Pointer(unsafe.SliceData(p)))%hugePage:]
}
