package diskcache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// keys lists everything with a prefix, as keys.
func keys(t *testing.T, b object.Bucket, prefix string) (all []string) {
	t.Helper()
	for batch, err := range b.List(t.Context(), prefix, "", "") {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			all = append(all, batch[i].Key)
			batch[i].Key = "changed by the caller"
		}
	}
	return all
}

// TestBelieve checks how long descriptions, absence and listings are believed.
func TestBelieve(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		fake := newFakeBucket()
		var want []string
		for i := range 35 {
			fake.put(object.Object{Key: fmt.Sprintf("%03d", i), Size: 10, Version: "1"})
			want = append(want, fmt.Sprintf("%03d", i))
		}
		c := openCache(t, dir, Options{})
		defer c.Close()
		b := c.Bucket(fake)
		check := func(wantHeads, wantLists int) {
			t.Helper()
			if o, err := b.Head(t.Context(), "003"); err != nil || o.Size != 10 {
				t.Errorf("got %v, %v", o, err)
			}
			if _, err := b.Head(t.Context(), "100"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got %v", err)
			}
			if got := keys(t, b, "0"); !reflect.DeepEqual(got, want) {
				t.Errorf("listed %v", got)
			}
			if fake.heads != wantHeads || fake.lists != wantLists {
				t.Errorf("%d requests for descriptions, %d for listings, want %d, %d", fake.heads, fake.lists, wantHeads, wantLists)
			}
		}
		check(2, 1)
		time.Sleep(time.Minute - time.Second)
		check(2, 1)
		time.Sleep(time.Second)
		check(4, 2)
	})
}

// TestBeliefEnds checks that a read that finds another version ends what was believed of it, and that a new listing
// ends an absence.
func TestBeliefEnds(t *testing.T) {
	fake := newFakeBucket(object.Object{Key: "001", Size: 10, Version: "1"})
	b := openCache(t, t.TempDir(), Options{}).Bucket(fake)
	head := func(key, want string) object.Object {
		t.Helper()
		o, err := b.Head(t.Context(), key)
		if o.Version != want || want == "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, %v, want version %q", key, o, err, want)
		}
		return o
	}
	old := head("001", "1")
	head("002", "")
	keys(t, b, "")
	fake.put(object.Object{Key: "001", Size: 10, Version: "2"})
	fake.put(object.Object{Key: "002", Size: 10, Version: "1"})
	head("001", "1")
	head("002", "")
	if err := b.Read(t.Context(), old, make([]byte, 1), 0); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("got %v", err)
	}
	head("001", "2")
	head("002", "")
	if got := keys(t, b, ""); len(got) != 2 {
		t.Errorf("listed %v", got)
	}
	head("002", "1")
}

// listingBucket has listings that fail or that the reader leaves.
type listingBucket struct {
	*fakeBucket
	err error
}

func (b *listingBucket) Head(context.Context, string) (object.Object, error) {
	b.heads++
	return object.Object{}, b.err
}

func (b *listingBucket) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]object.Object, error] {
	return func(yield func([]object.Object, error) bool) {
		for batch, err := range b.fakeBucket.List(ctx, prefix, after, delimiter) {
			if !yield(batch, err) {
				return
			}
		}
		if b.err != nil {
			yield(nil, b.err)
		}
	}
}

// TestNotBelieved checks that errors, and listings that did not end, are not believed.
func TestNotBelieved(t *testing.T) {
	fake := &listingBucket{newFakeBucket(object.Object{Key: "001", Size: 10, Version: "1"}), errors.New("broken")}
	b := openCache(t, t.TempDir(), Options{}).Bucket(fake)
	for n := range 2 {
		var got error
		for _, err := range b.List(t.Context(), "", "", "") {
			got = err
		}
		if _, err := b.Head(t.Context(), "001"); !errors.Is(got, fake.err) || !errors.Is(err, fake.err) || fake.lists != n+1 || fake.heads != n+1 {
			t.Errorf("%v, %v, %d listings, %d descriptions", got, err, fake.lists, fake.heads)
		}
	}
	fake.err = nil
	for range b.List(t.Context(), "", "", "") {
		break
	}
	if keys(t, b, ""); fake.lists != 4 {
		t.Errorf("%d listings", fake.lists)
	}
}

// TestLargeListing checks that a listing of many keys takes no memory of the cache, and is complete.
func TestLargeListing(t *testing.T) {
	fake := newFakeBucket()
	long := make([]byte, 400_000)
	for i := range 100 {
		fake.put(object.Object{Key: fmt.Sprintf("%03d", i), Version: string(long)})
	}
	b := openCache(t, t.TempDir(), Options{}).Bucket(fake)
	for n := range 2 {
		if got := keys(t, b, ""); len(got) != 100 || fake.lists != n+1 {
			t.Errorf("%d keys, %d listings", len(got), fake.lists)
		}
	}
}

// TestAnswerFromBefore checks that the answer to a request is not believed if the source said something else while it was in flight.
func TestAnswerFromBefore(t *testing.T) {
	const key = "k"
	old, q := object.Object{Key: key, Version: "1"}, query{delimiter: "/"}
	for _, changed := range []bool{false, true} {
		b := newBeliefs(time.Minute)
		since := b.now()
		if changed {
			b.forget(key)
		}
		b.addHead(key, old, nil, since)
		b.addList(listBelief{query: q, batches: [][]object.Object{{old}}, until: since.time.Add(b.time)}, 1, since)
		if _, _, ok := b.head(key); ok == changed {
			t.Errorf("changed: %v: the description is believed: %v", changed, ok)
		}
		if _, ok := b.list(q); ok == changed {
			t.Errorf("changed: %v: the listing is believed: %v", changed, ok)
		}
	}
}
