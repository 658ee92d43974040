package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestWillNeed: advice brings a part of a file into the page cache, and nothing else.
func TestWillNeed(t *testing.T) {
	const size, off, n = 16 << 20, 4 << 20, 1 << 20
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if cached(t, f, 0, size) != 0 {
		t.Skip("this file system keeps its files in memory")
	}
	d, err := Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	opened, err := d.Open("file")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	advised := opened.(vfs.Advisor)
	advised.WillNeed(off, n)
	// until the disk has answered
	for end := time.Now().Add(time.Minute); cached(t, f, off, n) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d bytes are in the page cache a minute after the advice", cached(t, f, off, n), n)
		}
	}
	if got := cached(t, f, 0, size); got > 2*n {
		t.Errorf("%d bytes are in the page cache, expected %d", got, n)
	}
	opened.Close()
	advised.WillNeed(off, n) // of a closed file: no effect
}

// cached returns how many bytes of n bytes at offset off are in the page cache.
func cached(t *testing.T, f *os.File, off, n int64) int64 {
	t.Helper()
	p, err := unix.Mmap(int(f.Fd()), off, int(n), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(p)
	pages := make([]byte, int(n)/os.Getpagesize())
	if _, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&p[0])), uintptr(n),
		uintptr(unsafe.Pointer(&pages[0]))); err != 0 {
		t.Fatal(err)
	}
	bytes := int64(0)
	for _, page := range pages {
		bytes += int64(page&1) * int64(os.Getpagesize())
	}
	return bytes
}
