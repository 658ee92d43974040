package cache

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

func address(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }

// newTestArena returns an arena. The test must free all buffers. The arena is closed at its end.
func newTestArena(t *testing.T, limit int64) *arena {
	a := newArena(limit, spanBytes)
	t.Cleanup(func() {
		a.close()
		checkArena(t, a, 0, 0)
		if len(a.spans) != 0 {
			t.Errorf("%d spans are mapped after close", len(a.spans))
		}
	})
	return a
}

// checkArena checks the bytes that are lent and the bytes that are free and backed by memory.
func checkArena(t *testing.T, a *arena, lent, spare int64) {
	t.Helper()
	if a.lent != lent || a.spare != spare {
		t.Errorf("%d bytes lent, %d spare; expected %d, %d", a.lent, a.spare, lent, spare)
	}
}

// Sizes of a page or more are rounded up to pages. Buffers do not overlap.
func TestArenaSizes(t *testing.T) {
	a := newTestArena(t, 1<<30)
	var lent int64
	var all [][]byte
	for range 3 {
		for _, tt := range []struct{ n, size int }{
			{1, 1}, {511, 511}, {pageSize - 1, pageSize - 1},
			{pageSize, pageSize}, {pageSize + 1, 2 * pageSize},
			{32 << 10, 32 << 10}, {3 << 20, 3 << 20},
			{spanBytes, spanBytes}, {spanBytes + 1, spanBytes + pageSize}, {1 << 30, 1 << 30},
		} {
			p := a.alloc(tt.n)
			all = append(all, p)
			if lent += int64(tt.size); len(p) != tt.n || cap(p) != tt.size ||
				tt.n >= pageSize && address(p)%uintptr(pageSize) != 0 {
				t.Errorf("%d bytes: length %d, capacity %d at %x, expected capacity %d", tt.n, len(p), cap(p),
					address(p), tt.size)
			}
			p[0], p[tt.n-1] = 1, 2
		}
	}
	checkArena(t, a, lent, 0)
	for i, p := range all {
		for _, q := range all[:i] {
			if address(p) < address(q)+uintptr(cap(q)) && address(q) < address(p)+uintptr(cap(p)) {
				t.Errorf("%d bytes at %x and %d at %x overlap", cap(p), address(p), cap(q), address(q))
			}
		}
	}
	poison = false // 3 GiB are lent, and hardly any of it is backed by memory
	defer func() { poison = true }()
	for _, p := range all {
		a.free(p)
	}
}

// Spans start at huge pages.
func TestArenaAligns(t *testing.T) {
	a := newTestArena(t, 1<<20)
	for _, size := range []int{pageSize, 32 << 10, 1 << 20, spanBytes, 5 << 20} {
		p := a.alloc(size)
		if address(p)%hugePage != 0 {
			t.Errorf("the first buffer of %d bytes in a span is at %x", size, address(p))
		}
		a.free(p)
	}
}

// The buffer that was freed last is lent first.
func TestArenaReuse(t *testing.T) {
	a := newTestArena(t, 1<<20)
	p, q, other := a.alloc(5000), a.alloc(5000), a.alloc(50_000)
	a.free(p)
	a.free(other)
	a.free(q)
	for i, want := range [][]byte{q, p} {
		if got := a.alloc(6000); address(got) != address(want) {
			t.Errorf("buffer %d is at %x, expected %x", i, address(got), address(want))
		}
	}
	checkArena(t, a, 4*int64(pageSize), int64(cap(other)))
	a.free(p)
	a.free(q)
}

// Free buffers of another size are given back to the kernel if there is no room for both. Lent buffers may exceed the
// limit.
func TestArenaLimit(t *testing.T) {
	const small, large = 16 << 10, 256 << 10
	a := newTestArena(t, 1<<20)
	var smalls, larges [][]byte
	for range 64 {
		smalls = append(smalls, a.alloc(small))
	}
	checkArena(t, a, 1<<20, 0)
	smalls = append(smalls, a.alloc(small))
	checkArena(t, a, 1<<20+small, 0)
	for _, p := range smalls {
		a.free(p)
	}
	checkArena(t, a, 0, 1<<20)
	for i := range 4 {
		larges = append(larges, a.alloc(large))
		checkArena(t, a, int64(i+1)*large, int64(3-i)*large)
	}
	larges = append(larges, a.alloc(large))
	checkArena(t, a, 5*large, 0)
	spans := len(a.spans)
	for i := range smalls { // in the same address space
		smalls[i] = a.alloc(small)
		if poison && smalls[i][0] != 0 {
			t.Errorf("buffer %d was not given back to the kernel", i)
		}
	}
	if len(a.spans) != spans {
		t.Errorf("%d more spans for the same number of buffers", len(a.spans)-spans)
	}
	for _, p := range slices.Concat(smalls, larges) {
		a.free(p)
	}
	checkArena(t, a, 0, 1<<20)
}

// No more spans are prepared than holds may need.
func TestArenaPreparesForHolds(t *testing.T) {
	const size = 32 << 10
	a := newTestArena(t, 64<<20)
	a.reserved.Add(2*spanBytes + size)
	var all [][]byte
	for range 2 * spanBytes / size {
		all = append(all, a.alloc(size))
		a.preparers.Wait()
	}
	if len(a.spans) != 2 {
		t.Errorf("%d spans, expected the 2 in use", len(a.spans))
	}
	a.reserved.Add(-2*spanBytes - size)
	all = append(all, a.alloc(size)) // other readers may need any number
	a.preparers.Wait()
	if len(a.spans) != 4 {
		t.Errorf("%d spans, expected 3 in use and the next one", len(a.spans))
	}
	for _, p := range all {
		a.free(p)
	}
}

// Memory that is given back to the kernel is not resident.
func TestArenaTrimsMemory(t *testing.T) {
	resident := func() int64 {
		stat, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		pages, _ := strconv.ParseInt(strings.Fields(string(stat))[1], 10, 64)
		return pages * int64(pageSize)
	}
	const size = 1 << 20
	a := newTestArena(t, 8<<20)
	var all [][]byte
	for range 64 {
		p := a.alloc(size)
		for i := 0; i < size; i += pageSize {
			p[i] = 1
		}
		all = append(all, p)
	}
	before := resident()
	for _, p := range all {
		a.free(p)
	}
	checkArena(t, a, 0, 8<<20)
	if got := before - resident(); got < 50<<20 {
		t.Errorf("resident memory shrank by %d bytes, expected 56 MiB", got)
	}
}

// Lent memory stays valid after close. All memory is unmapped when the last buffer is freed.
func TestArenaCloses(t *testing.T) {
	a := newArena(1<<20, spanBytes)
	p, q, small := a.alloc(50_000), a.alloc(5000), a.alloc(50)
	a.free(q)
	p[49_999] = 7
	a.close()
	if len(a.spans) == 0 {
		t.Error("lent memory was unmapped")
	}
	a.free(small)
	if p[49_999] != 7 {
		t.Error("lent memory changed")
	}
	a.free(p)
	a.close()
	checkArena(t, a, 0, 0)
	if len(a.spans) != 0 {
		t.Errorf("%d spans are mapped", len(a.spans))
	}
}

// alloc panics if the kernel does not have the memory.
func TestArenaWithoutMemory(t *testing.T) {
	a := newTestArena(t, 1<<20)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("2^60 bytes were lent")
			}
		}()
		a.alloc(1 << 60)
	}()
	checkArena(t, a, 0, 0)
	a.free(a.alloc(5000))
}
