package diskcache

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestRangesAtBoundaries reads ranges around the boundaries of pages, units, pieces and objects: first from the source,
// then from the disk after a restart, without a request.
func TestRangesAtBoundaries(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	for _, size := range []int64{1, pageSize - 1, pageSize, pageSize + 1, unitSize, unitSize + 1, pieceSize - 1,
		pieceSize, pieceSize + 1, 2*pieceSize + unitSize + 7} {
		o := object.Object{Key: "k", Size: size, Version: "1"}
		edges := []int64{0, 1, pageSize - 1, pageSize, pageSize + 1, unitSize - 1, unitSize, pieceSize - 1, pieceSize,
			pieceSize + 1, size - 1, size}
		dir, fake := t.TempDir(), newFakeBucket(o)
		c := openCache(t, dir, Options{})
		for pass := range 2 {
			b := c.Bucket(fake)
			for _, from := range edges {
				for _, to := range edges {
					if from >= 0 && from < to && to <= size {
						check(t, b, o, from, to-from)
					}
				}
			}
			reads := fake.taken()
			if pass == 1 && len(reads) > 0 {
				t.Errorf("size %d: the source got requests after a restart: %v", size, reads)
			}
			var sum int64
			for _, r := range reads {
				if r.from%unitSize != 0 || r.to%unitSize != 0 && r.to != size {
					t.Errorf("size %d: the request %v is no whole units", size, r)
				}
				sum += r.to - r.from
			}
			if sum > size {
				t.Errorf("size %d: %d bytes were requested: %v", size, sum, reads)
			}
			c = flush(t, c, dir)
		}
	}
}

// TestSmallRead checks that a small read makes one small request.
func TestSmallRead(t *testing.T) {
	if unitSize != 64<<10 {
		t.Errorf("SEMANTICS.md promises 64 KiB, but this is %d bytes", unitSize)
	}
	o := object.Object{Key: "k", Size: 1 << 30, Version: "1"}
	fake := newFakeBucket(o)
	b := openCache(t, t.TempDir(), Options{}).Bucket(fake)
	check(t, b, o, 100<<20+5000, 4<<10)
	if got, want := fake.taken(), []span{{100 << 20, 100<<20 + unitSize}}; !reflect.DeepEqual(got, want) {
		t.Errorf("requests: %v, want %v", got, want)
	}
}

// TestGaps checks that present units between missing ones do not make many requests.
func TestGaps(t *testing.T) {
	o := object.Object{Key: "k", Size: 8 << 20, Version: "1"}
	dir, fake := t.TempDir(), newFakeBucket(o)
	c := openCache(t, dir, Options{})
	for i := int64(0); i < o.Size; i += 4 * unitSize {
		check(t, c.Bucket(fake), o, i, 1)
	}
	c = flush(t, c, dir)
	fake.taken()
	check(t, c.Bucket(fake), o, 0, o.Size)
	if got, want := fake.taken(), []span{{unitSize, o.Size}}; !reflect.DeepEqual(got, want) {
		t.Errorf("requests: %v, want %v", got, want)
	}
}

// TestSingleFlight checks that many readers of overlapping ranges make one request for each unit.
func TestSingleFlight(t *testing.T) {
	o := object.Object{Key: "k", Size: 4 << 20, Version: "1"}
	fake := newFakeBucket(o)
	release := make(chan struct{})
	fake.onRead = func(context.Context, span) error { <-release; return nil }
	b := openCache(t, t.TempDir(), Options{}).Bucket(fake)
	var all sync.WaitGroup
	for i := range int64(64) {
		all.Go(func() { check(t, b, o, i*20_000, 300_000) })
	}
	close(release)
	all.Wait()
	requested := map[int64]int{}
	for _, r := range fake.taken() {
		for at := r.from; at < r.to; at += unitSize {
			if requested[at]++; requested[at] > 1 {
				t.Errorf("the unit at %d was requested again", at)
			}
		}
	}
}

// TestCanceledReader checks that a reader that is killed returns at once, that the request goes on for other readers,
// and that it is canceled when the last one has gone.
func TestCanceledReader(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := object.Object{Key: "k", Size: 1 << 20, Version: "1"}
		fake := newFakeBucket(o)
		release := make(chan struct{})
		fake.onRead = func(ctx context.Context, _ span) error {
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		c := openCache(t, dir, Options{})
		defer c.Close()
		b := c.Bucket(fake)
		read := func(ctx context.Context) chan error {
			result := make(chan error, 1)
			go func() { result <- b.Read(ctx, o, make([]byte, 10), 0) }()
			synctest.Wait()
			return result
		}
		first, cancelFirst := context.WithCancel(t.Context())
		second, cancelSecond := context.WithCancel(t.Context())
		one, two := read(first), read(second)
		cancelFirst()
		if err := <-one; !errors.Is(err, context.Canceled) {
			t.Errorf("the first reader got %v", err)
		}
		synctest.Wait()
		if n := fake.inFlight.Load(); n != 1 {
			t.Errorf("%d requests for the second reader", n)
		}
		cancelSecond()
		if err := <-two; !errors.Is(err, context.Canceled) {
			t.Errorf("the second reader got %v", err)
		}
		synctest.Wait()
		if n := fake.inFlight.Load(); n != 0 {
			t.Errorf("%d requests without a reader", n)
		}
		third := read(t.Context()) // joins no flight that was canceled
		close(release)
		if err := <-third; err != nil {
			t.Errorf("the third reader got %v", err)
		}
		if n := len(fake.taken()); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
	})
}

// TestErrors checks that errors of the source reach all readers, and that the next read tries again.
func TestErrors(t *testing.T) {
	o := object.Object{Key: "k", Size: 1 << 20, Version: "1"}
	fake := newFakeBucket(o)
	b := openCache(t, t.TempDir(), Options{}).Bucket(fake)
	broken := errors.New("broken")
	fake.onRead = func(context.Context, span) error { return broken }
	if err := b.Read(t.Context(), o, make([]byte, 10), 0); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	fake.onRead = nil
	check(t, b, o, 0, 10)
	for _, s := range []span{{-1, 5}, {o.Size - 1, o.Size + 1}, {o.Size, o.Size + 1}, {o.Size + 5, o.Size + 6}} {
		if err := b.Read(t.Context(), o, make([]byte, s.to-s.from), s.from); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v: got %v", s, err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Read(gone, o, make([]byte, 10), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestVersions checks that each version has its own bytes, and that a changed object is an error.
func TestVersions(t *testing.T) {
	old := object.Object{Key: "k", Size: 1 << 20, Version: "1"}
	fake := newFakeBucket(old)
	dir := t.TempDir()
	c := openCache(t, dir, Options{})
	check(t, c.Bucket(fake), old, 0, 100)
	c = flush(t, c, dir)
	b := c.Bucket(fake)
	for _, changed := range []object.Object{{Key: "k", Size: 1 << 20, Version: "2"},
		{Key: "k", Size: 1<<20 + 1, Version: "2"}} {
		fake.put(changed)
		check(t, b, changed, 0, 100)
		check(t, b, old, 0, 100) // as it was
		if err := b.Read(t.Context(), old, make([]byte, 10), 900_000); !errors.Is(err, vfs.ErrChanged) {
			t.Errorf("got %v", err)
		}
	}
}

// rootedBucket has the objects of a fake bucket below a prefix, and says on which server they are.
type rootedBucket struct {
	*fakeBucket
	server, prefix string
}

func (b *rootedBucket) URL() string      { return "s3://bucket" + strings.TrimSuffix("/"+b.prefix, "/") }
func (b *rootedBucket) Identity() string { return b.server + strings.TrimSuffix("/"+b.prefix, "/") }

func (b *rootedBucket) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	o.Key = b.prefix + o.Key
	return b.fakeBucket.Read(ctx, o, p, off)
}

// TestSameObject checks that an object is stored once for all buckets that have it, and that servers share nothing.
func TestSameObject(t *testing.T) {
	o := object.Object{Key: "dataset/layer/k", Size: 100, Version: "1"}
	fake := newFakeBucket(o)
	c := openCache(t, t.TempDir(), Options{})
	for _, test := range []struct {
		server, prefix string
		want           int // requests
	}{{"https://a/bucket", "dataset/", 1}, {"https://a/bucket", "dataset/layer/", 0}, {"https://a/bucket", "", 0},
		{"https://b/bucket", "dataset/", 1}} {
		below := o
		below.Key = strings.TrimPrefix(o.Key, test.prefix)
		if err := c.Bucket(&rootedBucket{fake, test.server, test.prefix}).Read(t.Context(), below, make([]byte, 10),
			0); err != nil {
			t.Fatal(err)
		}
		if n := len(fake.taken()); n != test.want {
			t.Errorf("%+v: %d requests", test, n)
		}
	}
}

// TestReadCached checks that ReadCached returns what is on the disk, and makes no request.
func TestReadCached(t *testing.T) {
	o := object.Object{Key: "k", Size: 10 * unitSize, Version: "1"}
	dir, fake := t.TempDir(), newFakeBucket(o)
	c := openCache(t, dir, Options{})
	check(t, c.Bucket(fake), o, 2*unitSize, unitSize)
	c = flush(t, c, dir)
	fake.taken()
	b := c.Bucket(fake).(object.Cached)
	for _, test := range []struct {
		version string
		s       span
		want    bool
	}{
		{"1", span{2 * unitSize, 3 * unitSize}, true}, {"1", span{2*unitSize + 5, 2*unitSize + 6}, true},
		{"1", span{2*unitSize - 1, 3 * unitSize}, false}, {"1", span{2 * unitSize, 3*unitSize + 1}, false},
		{"1", span{0, 1}, false},
		{"1", span{-1, 1}, false}, {"1", span{o.Size - 1, o.Size + 1}, false},
		{"1", span{o.Size + 1, o.Size + 2}, false},
		{"2", span{2 * unitSize, 3 * unitSize}, false}, {"", span{2 * unitSize, 3 * unitSize}, false},
	} {
		object := o
		object.Version = test.version
		got, want := make([]byte, test.s.to-test.s.from), make([]byte, test.s.to-test.s.from)
		contentOf(o, want, max(0, test.s.from))
		if ok := b.ReadCached(object, got, test.s.from); ok != test.want || ok && !bytes.Equal(got, want) {
			t.Errorf("%+v: %v", test, ok)
		}
	}
	if reads := fake.taken(); len(reads) > 0 {
		t.Errorf("requests: %v", reads)
	}
}

// TestNoVersion checks that objects without a version are not stored, and that the log says so once.
func TestNoVersion(t *testing.T) {
	o := object.Object{Key: "k", Size: 1 << 20}
	fake := newFakeBucket(o)
	var log lockedBuffer
	dir := t.TempDir()
	c := openCache(t, dir, Options{Log: logTo(&log)})
	for range 3 {
		check(t, c.Bucket(fake), o, 10, 100)
	}
	c.Close()
	if n := len(fake.taken()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	if files := pieceFiles(t, dir); len(files) > 0 {
		t.Errorf("stored: %v", files)
	}
	if n := strings.Count(log.String(), "no versions"); n != 1 {
		t.Errorf("%d lines of the log, want 1:\n%s", n, log.String())
	}
}

// TestClosed checks that reads go on after Close, without the cache.
func TestClosed(t *testing.T) {
	o := object.Object{Key: "k", Size: 1 << 20, Version: "1"}
	c, fake := openCache(t, t.TempDir(), Options{}), newFakeBucket(o)
	b := c.Bucket(fake)
	c.Close()
	c.Close()
	check(t, b, o, 10, 100)
	if reads := fake.taken(); !slices.Equal(reads, []span{{10, 110}}) { // a flight would have a whole unit
		t.Errorf("requests %v, want one for the bytes of the read", reads)
	}
}

// TestMemoryOfFlights checks that flights give back all their memory: read, shared, abandoned, failed or written.
func TestMemoryOfFlights(t *testing.T) {
	o := object.Object{Key: "k", Size: 200 * unitSize, Version: "1"}
	fake := newFakeBucket(o)
	c := openCache(t, t.TempDir(), Options{})
	b := c.Bucket(fake)
	check(t, b, o, 0, 100*unitSize)
	fake.onRead = func(ctx context.Context, s span) error {
		if s.from >= 150*unitSize {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	if err := b.Read(t.Context(), o, make([]byte, 20*unitSize), 160*unitSize); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	fake.onRead = func(ctx context.Context, _ span) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if err := b.Read(gone, o, make([]byte, 20*unitSize), 110*unitSize); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	c.Close()
	if !c.memory.bytes.TryAcquire(defaultPending + requestMemory) {
		t.Error("not all memory was given back")
	}
}

// TestManyLargeReads checks that reads which need more memory than there is wait for each other, and end.
func TestManyLargeReads(t *testing.T) {
	o := object.Object{Key: "k", Size: 2000 * unitSize, Version: "1"}
	c := openCache(t, t.TempDir(), Options{})
	b := c.Bucket(newFakeBucket(o))
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() { check(t, b, o, int64(i*37*unitSize), 300*unitSize) })
	}
	readers.Wait()
}

// TestReadParts checks that parts which are close to each other take one request, and that no other bytes are written.
func TestReadParts(t *testing.T) {
	o := object.Object{Key: "k", Size: 20 * unitSize, Version: "1"}
	fake := newFakeBucket(o)
	b := openCache(t, t.TempDir(), Options{}).Bucket(fake)
	for range 2 { // from the source, and from memory or the disk
		parts := []vfs.Range{{Off: 100, P: make([]byte, 50)}, {Off: 200, P: make([]byte, 5000)},
			{Off: 3*unitSize + 7, P: make([]byte, unitSize)}}
		if err := b.ReadParts(t.Context(), o, parts); err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			want := make([]byte, len(part.P))
			contentOf(o, want, part.Off)
			if !bytes.Equal(part.P, want) {
				t.Errorf("wrong bytes at %d", part.Off)
			}
		}
	}
	if n := len(fake.taken()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
