package object

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// tree returns what a walk of a file system finds.
func tree(f fs.FS) string {
	var found []string
	err := fs.WalkDir(f, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			found = append(found, name+" "+e.Type().String())
		}
		return err
	})
	return fmt.Sprint(found, err)
}

// TestSubtree: a listing of a whole subtree shows the same as one listing for each directory.
func TestSubtree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	elements := []string{"a", "b", "a-", "a.", "", ".", "..", "c"}
	for range 500 {
		m := newMemory()
		for range random.IntN(8) {
			key := make([]string, 1+random.IntN(4))
			for i := range key {
				key[i] = elements[random.IntN(len(elements))]
			}
			m.objects[strings.Join(key, "/")] = "x"
		}
		whole, single := NewFS(m, Options{}), NewFS(m, Options{})
		single.facts.flat = true
		if got, want := tree(whole), tree(single); got != want {
			t.Fatalf("%q: got %s, expected %s", m.objects, got, want)
		}
	}
}

// TestFullListing: a directory that fills one answer is listed with one request, if nothing lies below it.
func TestFullListing(t *testing.T) {
	for _, c := range []struct {
		files int
		below string
		want  string
	}{{maxKept, "", "tree d/"}, {maxKept - 1, "d/0/x", "tree d/, list d/"}, {maxKept - 2, "d/0/x", "tree d/"},
		{maxKept + 1, "", "tree d/"}} {
		m := newMemory()
		for i := range c.files {
			m.objects[fmt.Sprintf("d/x%d", i)] = "x"
		}
		if c.below != "" {
			m.objects[c.below] = "x"
		}
		_, err := NewFS(m, Options{}).Stat("d/x7")
		if got := m.asked(); err != nil || !strings.HasPrefix(got, c.want) || c.files <= maxKept && got != c.want {
			t.Errorf("%d files and %q: asked %q, %v, expected %q", c.files, c.below, got, err, c.want)
		}
	}
}

// TestDeepListing: a directory with more keys below it than one answer has is not asked for all of them again for a
// minute.
func TestDeepListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := rowsOf(2, maxKept/2+1)
		f := NewFS(m, Options{})
		for i, c := range []struct {
			after time.Duration
			want  string
		}{{0, "tree z0/, list z0/"}, {2 * time.Second, "list z0/"}, {50 * time.Second, "list z0/"},
			{50 * time.Second, "tree z0/, list z0/"}} {
			time.Sleep(c.after)
			if entries, err := f.ReadDir("z0"); len(entries) != 2 || err != nil {
				t.Errorf("%d: got %d entries, %v", i, len(entries), err)
			}
			if got := m.asked(); got != c.want {
				t.Errorf("%d: asked %q, expected %q", i, got, c.want)
			}
		}
	})
}

// TestOneListing: many questions about a directory at a time are one request.
func TestOneListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory("d/a", "d/b")
		m.takes = 50 * time.Millisecond
		f := NewFS(m, Options{})
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				_, err := f.Stat(fmt.Sprintf("d/%c", 'a'+i%3))
				if (err == nil) != (i%3 < 2) {
					t.Errorf("%d: got %v", i, err)
				}
			})
		}
		all.Wait()
		if got := m.asked(); got != "tree d/" {
			t.Errorf("asked %q", got)
		}
	})
}

// TestListingStaysValid: what a request tells about a name does not end the belief in a listing of names, unless it
// contradicts.
func TestListingStaysValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory("a", "b")
		m.names = true
		f := NewFS(m, Options{})
		for _, c := range []struct{ name, want string }{{"a", "tree , list , head a"}, {"b", "head b"}, {"a", ""},
			{"c", ""}} {
			_, err := f.Stat(c.name)
			if got := m.asked(); got != c.want || (err == nil) != (c.name != "c") {
				t.Errorf("%s: asked %q, %v, expected %q", c.name, got, err, c.want)
			}
		}
	})
}

// repeating is a bucket whose listing has the same names for ever, or names that are no paths.
type repeating struct {
	*memory
	names []string
	given int
}

func (r *repeating) List(_ context.Context, prefix, _, _ string) iter.Seq2[[]Object, error] {
	return func(yield func([]Object, error) bool) {
		for prefix == "" {
			var page []Object
			for _, name := range r.names {
				page = append(page, Object{Key: prefix + name})
			}
			if r.given += len(page); !yield(page, nil) {
				return
			}
		}
	}
}

// TestRepeatedNames: a store that repeats names, or lists names that are no paths, does not make a question about one
// name collect them for ever.
func TestRepeatedNames(t *testing.T) {
	for _, name := range []string{"x", "/x"} {
		b := &repeating{memory: newMemory(), names: slices.Repeat([]string{name}, 100)}
		f := NewFS(b, Options{})
		f.facts.flat = true
		if _, err := f.Stat("y"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", name, err)
		}
		if b.given > 2*maxAsked {
			t.Errorf("%s: %d names were asked for", name, b.given)
		}
	}
}
