package diskcache

import (
	"context"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// bucket reads through the cache.
type bucket struct {
	object.Bucket
	id     string        // of the bucket
	reader func() string // who reads. It is a part of keys: what a user may not read must not come from the disk
	cache  *Cache
}

var (
	_ object.Bucket = (*bucket)(nil)
	_ object.Cached = (*bucket)(nil)
)

// authorised is a bucket that is read with credentials.
type authorised interface {
	// Reader returns a name of the credentials, which is no secret, or "" if there are none. It is called after an
	// answer of the bucket.
	Reader() string
}

func newBucket(b object.Bucket, c *Cache) *bucket {
	reader := func() string { return "" }
	if a, ok := b.(authorised); ok {
		reader = sync.OnceValue(a.Reader)
	}
	return &bucket{b, b.Identity(), reader, c}
}

// identify returns the identity of an object of the bucket.
func (b *bucket) identify(o object.Object) identity { return identify(b.id, b.reader(), o) }

// Read implements [object.Bucket].
func (b *bucket) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	return b.ReadParts(ctx, o, []vfs.Range{{Off: off, P: p}})
}

// ReadParts implements [object.Bucket].
func (b *bucket) ReadParts(ctx context.Context, o object.Object, parts []vfs.Range) error {
	if o.Version == "" {
		b.cache.warn("version "+b.URL(), "disk cache: the server gives no versions; objects without one are not stored",
			"url", b.URL(), "key", o.Key)
		return b.Bucket.ReadParts(ctx, o, parts)
	}
	for _, part := range parts {
		if !within(o, part.P, part.Off) {
			return b.Bucket.ReadParts(ctx, o, parts) // which says what is wrong
		}
	}
	return b.read(ctx, o, parts)
}

// within reports whether a range has bytes, and lies in the object.
func within(o object.Object, p []byte, off int64) bool {
	return len(p) > 0 && off >= 0 && off <= o.Size && int64(len(p)) <= o.Size-off
}

// ReadCached implements [object.Cached].
func (b *bucket) ReadCached(o object.Object, p []byte, off int64) bool {
	if o.Version == "" || !within(o, p, off) {
		return false
	}
	counted := func(header, int, error) {} // by the Read that follows
	if len(b.cache.fill(b.identify(o), o.Size, p, off, counted)) > 0 {
		return false
	}
	b.cache.counts.hit(len(p))
	return true
}

// read reads parts of an object that has a version.
func (b *bucket) read(ctx context.Context, o object.Object, parts []vfs.Range) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, id := b.cache, b.identify(o)
	var missing []span
	n := 0
	for _, part := range parts {
		missing = append(missing, c.fill(id, o.Size, part.P, part.Off, c.damaged)...)
		n += len(part.P)
	}
	if len(missing) == 0 {
		c.counts.hit(n)
		return nil
	}
	needed := widen(span{missing[0].from, missing[len(missing)-1].to}, unitSize, o.Size)
	memory, err := c.memory.reserve(ctx, needed.to-needed.from)
	if err != nil {
		return err
	}
	j, ok := func() (joined, bool) {
		defer func() { c.memory.release(memory) }() // the flights of others have their own
		return c.flights.join(id, o.Size, missing, func(f *flight) {
			f.reserved = min(f.to-f.from, memory)
			memory -= f.reserved
			// The flight goes on for other readers when ctx is done.
			detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
			f.cancel = cancel
			c.flights.runs.Go(guard.Func("diskcache.flight", func() { c.run(detached, b, o, f) }))
		})
	}()
	if !ok {
		return b.Bucket.ReadParts(ctx, o, parts)
	}
	c.counts.join(j, n)
	defer c.flights.leave(j.all)
	for _, f := range j.all {
		select {
		case <-f.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if f.err != nil {
			return f.err
		}
		f.copyTo(parts)
	}
	return nil
}

// copyTo copies to the parts what the flight has of them. It must be done.
func (f *flight) copyTo(parts []vfs.Range) {
	for _, part := range parts {
		from, to := max(part.Off, f.from), min(part.Off+int64(len(part.P)), f.to)
		if from < to {
			copy(part.P[from-part.Off:to-part.Off], f.data[from-f.from:])
		}
	}
}
