package diskcache

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// Options are the options of a cache.
type Options struct {
	// Size is the maximum of bytes that the disk allocates for the cache, directories included.
	Size int64
	// MinFree is how many bytes of the disk the cache leaves free.
	MinFree int64
	// MinFreePercent is how much of the disk the cache leaves free. The larger of both counts.
	MinFreePercent int
	// Pending is the maximum of bytes that wait to be written. Zero means 16 MiB. Requests in flight have 24 MiB more.
	Pending int64
	// Log gets warnings. Nil means none.
	Log *slog.Logger
}

const defaultPending = 16 << 20

// Cache is an open disk cache.
type Cache struct {
	dir     string // of the pieces
	options Options
	pieces  *pieces
	flights flights
	memory  *memory // of flights
	writer  *writer
	counts  counts
	warned  sync.Map // kinds of warnings that were logged
}

// Open opens the cache in a directory. It makes the directory, for this user alone, if it does not exist. It returns an
// error if users may write to the directory who are neither this user nor root. A directory that root or this user has
// shared with a group, with mode 2770, is for all members of the group. A disk to which nothing can be written is no
// error: what is in the cache is read. Close ends the cache.
func Open(dir string, o Options) (*Cache, error) {
	o.Pending = cmp.Or(o.Pending, defaultPending)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	sub, a, err := prepare(dir)
	if err != nil && !unwritable(err) {
		return nil, err
	}
	c := &Cache{dir: sub, options: o, pieces: newPieces(sub), memory: newMemory(o.Pending)}
	if err != nil {
		c.warnUnwritable(err)
	}
	c.flights.of, c.flights.memory = map[unit]*flight{}, c.memory
	c.writer = newWriter(c, a)
	return c, nil
}

// Dir returns the directory of the cache.
func (c *Cache) Dir() string { return filepath.Dir(c.dir) }

// closeTimeout is how long Close waits for the source and for the disk.
const closeTimeout = 3 * time.Second

// Close cancels requests that readers wait for, and writes what is pending. After three seconds it gives up. Later
// reads do without the cache.
func (c *Cache) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	select {
	case <-c.flights.stop():
	case <-ctx.Done():
	}
	c.writer.close(ctx)
	c.pieces.close()
}

// Bucket returns a bucket with the same objects as b, which reads through the cache. Objects without a version are read
// from b.
func (c *Cache) Bucket(b object.Bucket) object.Bucket {
	return newBucket(b, c)
}

// warn logs a warning, unless one of that kind was logged before.
func (c *Cache) warn(kind, message string, args ...any) {
	if _, was := c.warned.LoadOrStore(kind, true); !was {
		c.options.Log.Warn(message, args...)
	}
}

func (c *Cache) warnUnwritable(err error) {
	c.warn("unwritable", "disk cache: cannot write; reads go on without storing", "dir", c.Dir(), "err", err)
}

// report is called for a piece with damaged pages. err is nil if these are checksums that are wrong.
type report func(h header, pages int, err error)

// fill fills p from byte offset off of an object, as far as the disk has it. It returns the pages that are missing.
// damaged is called for pieces that have damaged pages.
func (c *Cache) fill(id identity, size int64, p []byte, off int64, damaged report) (missing []span) {
	for len(p) > 0 {
		h := header{pieceID{id, off / pieceSize}, size}
		n := min(int64(len(p)), (h.id.n+1)*pieceSize-off)
		for _, s := range c.fillFromPiece(h, p[:n], off, damaged) {
			missing = add(missing, s)
		}
		p, off = p[n:], off+n
	}
	return missing
}

// fillFromPiece is fill for bytes in one piece.
func (c *Cache) fillFromPiece(h header, p []byte, off int64, damaged report) (missing []span) {
	all := []span{pagesOf(off, off+int64(len(p)), h.size)}
	for range 2 { // twice if the piece was removed since it was opened
		piece, err := c.pieces.get(h)
		if errors.Is(err, fs.ErrNotExist) {
			return all
		}
		if err != nil {
			c.unreadable(h, err, damaged)
			return all
		}
		missing, pages, err := piece.read(p, off)
		if errors.Is(err, errStale) {
			c.pieces.drop(piece)
			continue
		}
		if err != nil {
			c.unreadable(h, err, damaged)
			return all
		}
		if pages > 0 {
			damaged(h, pages, nil)
		}
		c.writer.touch(piece)
		return missing
	}
	return all
}

// unreadable handles an error of the disk. The pages are read from the source.
func (c *Cache) unreadable(h header, err error, damaged report) {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		c.pieces.close() // others need the descriptors more
	case errors.Is(err, errDamaged), errors.Is(err, syscall.EIO):
		damaged(h, 1, err)
	default:
		c.warn("unreadable", "disk cache: cannot read; reads go on from the source", "file",
			filepath.Join(c.dir, h.id.path()), "err", err)
	}
}

// damaged counts pages that could not be used.
func (c *Cache) damaged(h header, pages int, err error) {
	c.counts.damaged.Add(uint64(pages))
	args := []any{"file", filepath.Join(c.dir, h.id.path()), "pages", pages}
	if err != nil {
		args = append(args, "err", err)
	}
	c.warn("damaged",
		"disk cache: a file is damaged, and is read again from the source; wkwfs status counts such pages", args...)
}

// run makes the request of a flight, and has the bytes written. A panic is the error of its readers.
func (c *Cache) run(ctx context.Context, b *bucket, o object.Object, f *flight) {
	fetched, err := guard.Call("diskcache.flight", func() (bool, error) { return c.fetch(ctx, b, o, f) })
	if f.err = err; err != nil {
		f.data = nil
	}
	c.flights.end(f, fetched)
	if !fetched {
		return
	}
	written := false
	defer func() {
		if !written {
			c.flights.forget(f)
		}
	}()
	written = c.writer.put(item{f, o.Size})
}

// fetch sets the data of a flight. It requests what the disk still lacks: since the reader has looked, another flight
// may have been written. It returns whether it has requested something.
func (c *Cache) fetch(ctx context.Context, b *bucket, o object.Object, f *flight) (fetched bool, err error) {
	if f.buffer, err = alloc(f.to - f.from); err != nil {
		return false, err
	}
	guard.Pass("diskcache.flight")
	counted := func(header, int, error) {}
	missing := c.fill(f.object, o.Size, f.buffer, f.from, counted)
	if len(missing) > 0 {
		s := widen(span{missing[0].from, missing[len(missing)-1].to}, unitSize, o.Size)
		if err := b.Bucket.Read(ctx, o, f.buffer[s.from-f.from:s.to-f.from], s.from); err != nil {
			return false, err
		}
		c.counts.fetched.Add(uint64(s.to - s.from))
	}
	f.data = f.buffer
	return len(missing) > 0, nil
}
