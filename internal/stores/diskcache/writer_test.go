package diskcache

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// readUnits reads n times 16 units of an object, at the same time.
func readUnits(t *testing.T, c *Cache, n int, o object.Object) *fakeBucket {
	t.Helper()
	fake := newFakeBucket(o)
	b := c.Bucket(fake)
	var readers sync.WaitGroup
	for i := range int64(n) {
		readers.Go(func() { check(t, b, o, i*16*unitSize, 16*unitSize) })
	}
	readers.Wait()
	return fake
}

// TestBurst checks that all bytes are stored which arrive while the disk writes others, though few wait in memory to be
// written.
func TestBurst(t *testing.T) {
	const reads = 48
	o := object.Object{Key: "k", Size: reads * 16 * unitSize, Version: "1"}
	dir := t.TempDir()
	c := openCache(t, dir, Options{Pending: 2 << 20})
	c.writer.roomTimeout = time.Minute // the machine may be busy
	readUnits(t, c, reads, o)
	c = flush(t, c, dir)
	if fake := readUnits(t, c, reads, o); len(fake.taken()) > 0 {
		t.Errorf("%d requests for what was read before", len(fake.taken()))
	}
}

// TestDiskThatDoesNotWrite checks that reads go on while another process keeps this one from writing, and that bytes
// are stored afterwards.
func TestDiskThatDoesNotWrite(t *testing.T) {
	if roomTimeout != time.Second/10 || roomPause != time.Second || defaultPending != 16<<20 {
		t.Errorf("SEMANTICS.md promises a tenth of a second, a second and 16 MiB, found %v, %v and %d bytes",
			roomTimeout, roomPause, defaultPending)
	}
	synctest.Test(t, func(t *testing.T) { // the machine may be busy
		const reads = 96 // more than fit into memory
		o := object.Object{Key: "k", Size: reads * 16 * unitSize, Version: "1"}
		dir := t.TempDir()
		c := openCache(t, dir, Options{Pending: 2 << 20})
		other := usage{dir: c.dir, access: c.writer.access}
		if err := other.lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		readUnits(t, c, reads, o)
		if took := time.Since(start); took > lockTimeout {
			t.Errorf("%d MiB took %s", reads, took)
		}
		if n := c.Stats(); n.DroppedBytes < n.FetchedBytes/2 || n.WrittenBytes > 0 {
			t.Errorf("%d bytes dropped and %d written of %d", n.DroppedBytes, n.WrittenBytes, n.FetchedBytes)
		}
		other.unlock()
		other.close()
		waitWritten(c)
		after := object.Object{Key: "after", Size: 16 * unitSize, Version: "1"}
		readUnits(t, c, 1, after)
		c.Close()
		if !c.memory.bytes.TryAcquire(c.options.Pending + requestMemory) {
			t.Error("not all memory was given back")
		}
		if fake := readUnits(t, openCache(t, dir, Options{}), 1, after); len(fake.taken()) > 0 {
			t.Error("nothing is stored after the disk writes again")
		}
	})
}
