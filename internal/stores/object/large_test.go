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
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// numbered returns a bucket whose directory d has n entries with numbers. A request takes 50 ms.
func numbered(format string, n int) *memory {
	m := newMemory()
	for i := range n {
		m.objects["d/"+fmt.Sprintf(format, i)] = "x"
	}
	m.takes = 50 * time.Millisecond
	return m
}

// TestLargeListing: a directory of more entries than an answer has takes few round trips, and few more requests than it
// has answers.
func TestLargeListing(t *testing.T) {
	for _, c := range []struct {
		format          string
		n               int
		trips, requests int
	}{
		{"x%d.wkw", 2*maxKept + 1, 3, 3},
		{"x%d.wkw", 5 * maxKept / 2, 3, 3},
		{"x%d.wkw", 3 * maxKept, 3, 11},
		{"x%d.wkw", 5 * maxKept, 5, 15},
		{"0.0.%d", 5 * maxKept, 5, 15},
		{"%d/x", 5 * maxKept, 6, 18},
		{"%d-suffix9", 5 * maxKept, 6, 7}, // 9 is no number to divide by
		{"x%d.wkw", 20 * maxKept, 14, 40},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := numbered(c.format, c.n)
			f := NewFS(m, Options{})
			start := time.Now()
			entries, err := f.ReadDir("d")
			took := time.Since(start)
			if len(entries) != c.n || err != nil {
				t.Fatalf("%s: %d entries of %d, %v", c.format, len(entries), c.n, err)
			}
			if trips, requests := int(took/m.takes), m.pages; trips > c.trips || requests > c.requests {
				t.Errorf("%d × %s: %d round trips and %d requests, expected %d and %d", c.n, c.format, trips, requests,
					c.trips, c.requests)
			}
			if len(f.spans) != 0 || m.inFlight != 0 {
				t.Errorf("%d spans are read, %d requests in flight", len(f.spans), m.inFlight)
			}
		})
	}
}

// TestLargeListingAgrees: a directory that is divided has the same entries in the same order as in one listing,
// whatever else is in it.
func TestLargeListingAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	random := rand.New(rand.NewPCG(5, 6))
	others := []string{"", "x", "x9~", "x9~0", "x9\U0010FFFFz", "x:", "x1", "x1/y", "x5000.wkw/below", "a", "y", "xä",
		"x-1.wkw", "x9.wkw/", "x9", "X3.wkw", "9", "x007.wkw", "z0/x0.wkw"}
	for range 20 {
		m := newMemory()
		for i := range 6000 {
			if random.IntN(5) > 0 {
				m.objects[fmt.Sprintf("d/x%d.wkw", i)] = "x"
			}
		}
		for _, o := range others {
			if random.IntN(4) == 0 {
				m.objects["d/"+o] = "x"
			}
		}
		divided, whole := NewFS(m, Options{}), NewFS(m, Options{})
		whole.facts.flat = true
		var got, want []string
		for range 2 { // the first time, the first entries are known from the listing of all keys
			got, want = keysOf(t, divided, "d"), keysOf(t, whole, "d")
			if !slices.Equal(got, want) {
				t.Fatalf("got %d keys, expected %d; the first that differ: %v", len(got), len(want),
					firstDifference(got, want))
			}
		}
	}
}

// keysOf returns the paths of the entries that a file system lists, in its order.
func keysOf(t *testing.T, f *FS, dir string) (all []string) {
	t.Helper()
	for batch, err := range f.batches(dir, vfs.BatchSize) {
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range batch {
			all = append(all, found.Key)
		}
	}
	return all
}

func firstDifference(a, b []string) []string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return []string{a[i], b[i]}
		}
	}
	return nil
}

// TestManyLargeListings: listings of large directories at the same time end, and have few requests in flight.
func TestManyLargeListings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := numbered("x%d.wkw", 5*maxKept)
		f := NewFS(m, Options{})
		results := make(chan int)
		for range 20 {
			go func() {
				entries, _ := f.ReadDir("d")
				results <- len(entries)
			}()
		}
		for range 20 {
			if n := <-results; n != 5*maxKept {
				t.Errorf("%d entries", n)
			}
		}
		if m.most > maxSpans+20 || len(f.spans) != 0 {
			t.Errorf("%d requests in flight, %d spans", m.most, len(f.spans))
		}
	})
}

// TestLargeListingStops: a listing that is left, fails or panics leaves nothing behind.
func TestLargeListingStops(t *testing.T) {
	for _, c := range []string{"left", "fails", "panics"} {
		synctest.Test(t, func(t *testing.T) {
			m := numbered("x%d.wkw", 9*maxKept)
			b := &brokenBucket{memory: m}
			f := NewFS(b, Options{})
			n := 0
			defer func() {
				if len(f.spans) != 0 || m.inFlight != 0 {
					t.Errorf("%s: %d spans, %d requests", c, len(f.spans), m.inFlight)
				}
			}()
			if b.does = c; c != "left" {
				b.at = "d/x5"
			}
			for batch, err := range f.batches("d", vfs.BatchSize) {
				if n += len(batch); c == "left" {
					break
				}
				if err != nil && !errors.Is(err, fs.ErrPermission) && !(c == "panics" && guard.Is(err)) {
					t.Errorf("got %v", err)
				}
				if err != nil {
					return
				}
			}
			if c != "left" {
				t.Errorf("%s: the listing ended after %d entries without an error", c, n)
			}
		})
	}
}

// brokenBucket does something when a prefix is listed.
type brokenBucket struct {
	*memory
	at, does string
}

func (b *brokenBucket) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]Object, error] {
	if b.at == "" || prefix != b.at {
		return b.memory.List(ctx, prefix, after, delimiter)
	}
	return func(yield func([]Object, error) bool) {
		if b.does == "panics" {
			panic("broken")
		}
		yield(nil, fs.ErrPermission)
	}
}

// TestDivide: which directories are divided, and how.
func TestDivide(t *testing.T) {
	answer := func(format string, from, to int) (all []Object) {
		for i := from; i < to; i++ {
			all = append(all, Object{Key: "d/" + fmt.Sprintf(format, i)})
		}
		slices.SortFunc(all, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
		return all
	}
	for _, c := range []struct {
		name   string
		answer []Object
		spans  int
	}{
		{"numbers", answer("x%d.wkw", 6000, 7000), 5},
		{"with the object of the directory", append([]Object{{Key: "d/"}}, answer("x%d.wkw", 6000, 7000)...), 5},
		{"directories", answer("%d/", 6000, 7000), 5},
		{"small numbers", answer("x%d.wkw", 0, 1000), 0},
		{"few, that are all in the answer", answer("x%d.wkw", 0, 1500)[:1000], 0},
		{"as many as may be", answer("x%d.wkw", 0, 9999)[:1000], 10},
		{"very large numbers", answer("x99999999999999999999%d", 0, 1000), 2},
		{"the last digit", answer("x%d", 9000, 9999), 2},
		{"no numbers", answer("x%[2]s", 6000, 7000), 0},
		{"other names", append([]Object{{Key: "d/header.wkw"}}, answer("x%d.wkw", 6000, 7000)...), 0},
		{"one", answer("x%d.wkw", 6000, 6001), 0},
		{"none", nil, 0},
	} {
		if got := divide("d/", c.answer); len(got) != c.spans {
			t.Errorf("%s: %d spans, expected %d: %v", c.name, len(got), c.spans, got)
		}
	}
}

// TestLargeListingIsValid: the attributes of what was listed need no request for a while. Then they are asked for
// again.
func TestLargeListingIsValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := numbered("x%d.wkw", 5*maxKept)
		m.objects["d/sub/x"] = "x"
		m.takes = time.Millisecond
		f := NewFS(m, Options{})
		if _, err := f.ReadDir("d"); err != nil {
			t.Fatal(err)
		}
		m.asked()
		for _, name := range []string{"d/x0.wkw", "d/x4999.wkw", "d/sub"} {
			info, err := f.Stat(name)
			if got := m.asked(); err != nil || got != "" || info.IsDir() != (name == "d/sub") {
				t.Errorf("%s: asked %q, %v, %v", name, got, info, err)
			}
		}
		m.objects["d/x0.wkw"] = "changed"
		time.Sleep(ttl.Least)
		info, err := f.Stat("d/x0.wkw")
		if got := m.asked(); err != nil || got != "head d/x0.wkw" || info.Size() != int64(len("changed")) {
			t.Errorf("later: asked %q, %v, %v", got, info, err)
		}
		for range f.Describe("d", func(string) bool { return true }) {
		}
		if _, err := f.ReadDir("d"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl.Least)
		m.asked()
		if _, err := f.Open("d/x1.wkw"); err != nil || m.asked() != "" {
			t.Errorf("open what was described and then listed: asked, or %v", err)
		}
	})
}
