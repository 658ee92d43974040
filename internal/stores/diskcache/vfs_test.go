package diskcache

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// texts is a bucket of objects whose contents are given.
type texts struct {
	mu  sync.Mutex
	all map[string]string
}

func (b *texts) URL() string      { return fakeURL }
func (b *texts) Identity() string { return fakeURL }

func (b *texts) object(key string) object.Object {
	return object.Object{Key: key, Size: int64(len(b.all[key])), Version: fmt.Sprint("v", len(b.all[key])),
		Modified: time.Unix(1e9, 0)}
}

func (b *texts) Head(_ context.Context, key string) (object.Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.all[key]; !ok {
		return object.Object{}, fs.ErrNotExist
	}
	return b.object(key), nil
}

func (b *texts) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	return b.ReadParts(ctx, o, []vfs.Range{{Off: off, P: p}})
}

func (b *texts) ReadParts(ctx context.Context, o object.Object, parts []vfs.Range) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.object(o.Key); now.Size != o.Size || now.Version != o.Version {
		return vfs.ErrChanged
	}
	for _, r := range parts {
		if r.Off+int64(len(r.P)) > o.Size {
			return io.ErrUnexpectedEOF
		}
		copy(r.P, b.all[o.Key][r.Off:])
	}
	return ctx.Err()
}

func (b *texts) List(_ context.Context, prefix, after, delimiter string) iter.Seq2[[]object.Object, error] {
	return func(yield func([]object.Object, error) bool) {
		b.mu.Lock()
		var found []object.Object
		for _, key := range slices.Sorted(maps.Keys(b.all)) {
			rest, ok := strings.CutPrefix(key, prefix)
			o := b.object(key)
			if first, _, isDir := strings.Cut(rest, "/"); isDir && delimiter != "" {
				o = object.Object{Key: prefix + first + "/"}
			}
			if ok && o.Key > after && (len(found) == 0 || found[len(found)-1].Key != o.Key) {
				found = append(found, o)
			}
		}
		b.mu.Unlock()
		if len(found) > 0 {
			yield(found, nil)
		}
	}
}

// TestFileSystem: the objects of a bucket that is read through a cache are a file system, in the first process and in
// the next one.
func TestFileSystem(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		b := &texts{all: map[string]string{}}
		for name, content := range vfstest.Shapes() {
			b.all[name] = string(content)
		}
		c := openCache(t, dir, Options{})
		vfstest.Test(t, object.NewFS(c.Bucket(b), object.Options{}), vfstest.Expect{
			Files: vfstest.Shapes(),
			Has: "tree.Speed tree.ChecksKind tree.Stat tree.ReadDir tree.List tree.Describe" +
				" file.ReadAtContext file.ReadParts file.ReadCached info.Version info.Stored",
		})
		c.Close()
	}
}
