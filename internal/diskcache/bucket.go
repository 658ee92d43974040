package diskcache

import (
	"context"
	"errors"
	"io/fs"
	"iter"

	"github.com/wkwfs/wkwfs/internal/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// bucket reads through the cache.
type bucket struct {
	object.Bucket
	url     string // of the objects, in keys
	cache   *Cache
	beliefs *beliefs
}

var (
	_ object.Bucket = (*bucket)(nil)
	_ object.Cached = (*bucket)(nil)
)

// located is a bucket whose URL does not name the server.
type located interface {
	// CacheURL returns a URL that names server and bucket, as object.Bucket.URL does otherwise.
	CacheURL() string
}

func newBucket(b object.Bucket, c *Cache) *bucket {
	url := b.URL()
	if l, ok := b.(located); ok {
		url = l.CacheURL()
	}
	return &bucket{b, url, c, newBeliefs(c.options.Believe)}
}

// Head implements [object.Bucket]. It believes what the source said a while ago.
func (b *bucket) Head(ctx context.Context, key string) (object.Object, error) {
	if o, err, ok := b.beliefs.head(key); ok {
		return o, err
	}
	since := b.beliefs.now()
	o, err := b.Bucket.Head(ctx, key)
	b.beliefs.addHead(key, o, err, since)
	return o, err
}

// List implements [object.Bucket]. It believes what the source said a while ago.
func (b *bucket) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]object.Object, error] {
	q := query{prefix, after, delimiter}
	if batches, ok := b.beliefs.list(q); ok {
		return replay(ctx, batches)
	}
	return b.beliefs.record(q, b.Bucket.List(ctx, prefix, after, delimiter))
}

// Read implements [object.Bucket].
func (b *bucket) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	if o.Version == "" {
		b.cache.warn("version "+b.URL(), "disk cache: the server gives no versions; objects without one are not stored", "url", b.URL(), "key", o.Key)
		return b.Bucket.Read(ctx, o, p, off)
	}
	if !within(o, p, off) {
		return b.Bucket.Read(ctx, o, p, off) // which says what is wrong
	}
	err := b.read(ctx, o, p, off)
	if errors.Is(err, vfs.ErrChanged) || errors.Is(err, fs.ErrNotExist) {
		b.beliefs.forget(o.Key)
	}
	return err
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
	if len(b.cache.fill(identify(b.url, o), o.Size, p, off, counted)) > 0 {
		return false
	}
	b.cache.counts.hit(len(p))
	return true
}

// read reads a range of an object that has a version.
func (b *bucket) read(ctx context.Context, o object.Object, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, id := b.cache, identify(b.url, o)
	missing := c.fill(id, o.Size, p, off, c.damaged)
	if len(missing) == 0 {
		c.counts.hit(len(p))
		return nil
	}
	j, ok := c.flights.join(id, o.Size, missing, func(f *flight) {
		// The flight goes on for other readers when ctx is done.
		detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f.cancel = cancel
		c.flights.runs.Go(func() { c.run(detached, b, o, f) })
	})
	if !ok {
		return b.Bucket.Read(ctx, o, p, off)
	}
	c.counts.join(j, len(p))
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
		from, to := max(off, f.from), min(off+int64(len(p)), f.to)
		copy(p[from-off:to-off], f.data[from-f.from:])
	}
	return nil
}
