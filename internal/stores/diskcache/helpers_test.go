package diskcache

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// fakeURL is the URL of all fake buckets.
const fakeURL = "s3://bucket/dataset"

// fakeBucket has objects whose bytes encode their key, version and offset.
type fakeBucket struct {
	mu       sync.Mutex
	objects  map[string]object.Object
	reads    []span // requests for bytes, in the order in which they arrived
	heads    int
	lists    int
	batch    int                                     // keys in a batch of a listing
	onRead   func(ctx context.Context, s span) error // called by each Read, without the lock; may be nil
	inFlight atomic.Int64
}

func newFakeBucket(objects ...object.Object) *fakeBucket {
	b := &fakeBucket{objects: map[string]object.Object{}, batch: 10}
	for _, o := range objects {
		b.objects[o.Key] = o
	}
	return b
}

// contentOf fills p from byte offset off of an object: with a stream of AES, whose key is that of the object. The race
// detector does not slow it down.
func contentOf(o object.Object, p []byte, off int64) {
	key := sha256.Sum256([]byte(o.Key + "\x00" + o.Version))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	var counter, before [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(off/aes.BlockSize))
	stream := cipher.NewCTR(block, counter[:])
	skip := before[:off%aes.BlockSize]
	stream.XORKeyStream(skip, skip)
	clear(p)
	stream.XORKeyStream(p, p)
}

func (b *fakeBucket) URL() string      { return fakeURL }
func (b *fakeBucket) Identity() string { return fakeURL }

func (b *fakeBucket) Head(_ context.Context, key string) (object.Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heads++
	o, ok := b.objects[key]
	if !ok {
		return o, fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return o, nil
}

func (b *fakeBucket) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	b.inFlight.Add(1)
	defer b.inFlight.Add(-1)
	s := span{off, off + int64(len(p))}
	b.mu.Lock()
	b.reads = append(b.reads, s)
	now, ok := b.objects[o.Key]
	onRead := b.onRead
	b.mu.Unlock()
	if onRead != nil {
		if err := onRead(ctx, s); err != nil {
			return err
		}
	}
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", o.Key, fs.ErrNotExist)
	case now.Version != o.Version || now.Size != o.Size:
		return fmt.Errorf("%s: %w", o.Key, vfs.ErrChanged)
	case off < 0 || s.to > o.Size:
		return io.ErrUnexpectedEOF
	}
	contentOf(now, p, off)
	return nil
}

func (b *fakeBucket) ReadParts(ctx context.Context, o object.Object, parts []vfs.Range) error {
	for _, part := range parts {
		if err := b.Read(ctx, o, part.P, part.Off); err != nil {
			return err
		}
	}
	return nil
}

func (b *fakeBucket) List(_ context.Context, prefix, after, delimiter string) iter.Seq2[[]object.Object, error] {
	return func(yield func([]object.Object, error) bool) {
		b.mu.Lock()
		b.lists++
		var keys []object.Object
		for i := range 1000 {
			if o, ok := b.objects[fmt.Sprintf("%03d", i)]; ok && strings.HasPrefix(o.Key, prefix) && o.Key > after {
				keys = append(keys, o)
			}
		}
		b.mu.Unlock()
		for len(keys) > 0 {
			n := min(b.batch, len(keys))
			if !yield(keys[:n:n], nil) {
				return
			}
			keys = keys[n:]
		}
	}
}

func (b *fakeBucket) put(o object.Object) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[o.Key] = o
}

// taken returns the requests for bytes since the last call.
func (b *fakeBucket) taken() []span {
	b.mu.Lock()
	defer b.mu.Unlock()
	reads := b.reads
	b.reads = nil
	return reads
}

// openCache opens a cache until the end of the test.
func openCache(t testing.TB, dir string, o Options) *Cache {
	t.Helper()
	if o.Size == 0 {
		o.Size = 1 << 30
	}
	c, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// check reads a range and compares it with the content of the object.
func check(t testing.TB, b object.Bucket, o object.Object, off, n int64) {
	t.Helper()
	got, want := make([]byte, n), make([]byte, n)
	if err := b.Read(t.Context(), o, got, off); err != nil {
		t.Fatalf("%s, %d bytes at %d: %v", o.Key, n, off, err)
	}
	contentOf(o, want, off)
	if !bytes.Equal(got, want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		t.Fatalf("%s, %d bytes at %d: byte %d is wrong", o.Key, n, off, i)
	}
}

// flush waits until everything is written, with a new cache in place of the old one.
func flush(t testing.TB, c *Cache, dir string) *Cache {
	t.Helper()
	c.Close()
	return openCache(t, dir, c.options)
}

// waitWritten waits until everything is written.
func waitWritten(c *Cache) {
	all := c.options.Pending
	if c.writer.room.Acquire(context.Background(), all) == nil {
		c.writer.room.Release(all)
	}
}

// allocated returns the bytes that the disk has allocated for a directory and everything in it.
func allocated(t testing.TB, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil && !os.IsNotExist(err) { // removed meanwhile
			return err
		}
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil {
			n += st.Blocks * blockSize
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// pieceFiles returns the paths of all pieces in a cache.
func pieceFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, formatDir, "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// logTo returns a log whose lines are in the buffer. The buffer is read when nothing logs.
func logTo(b *lockedBuffer) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
