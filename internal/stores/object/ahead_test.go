package object

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// rowsOf returns a bucket with rows of entries, z0/y0/x0 and so on. A request takes 50 ms.
func rowsOf(rows, entries int) *memory {
	m := newMemory()
	for y := range rows {
		for x := range entries {
			m.objects[fmt.Sprintf("z0/y%d/x%d", y, x)] = "x"
		}
	}
	m.takes = 50 * time.Millisecond
	return m
}

// byNumber and byName return the paths of rows in the orders of a mount and of a shell.
func byNumber(rows int) (all []string) {
	for y := range rows {
		all = append(all, fmt.Sprintf("z0/y%d", y))
	}
	return all
}

func byName(t *testing.T, f *FS) (all []string) {
	entries, err := f.ReadDir("z0")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, "z0/"+e.Name())
	}
	return all
}

// TestListAhead: a program that lists directory after directory waits for few answers, and each directory is listed
// once.
func TestListAhead(t *testing.T) {
	for _, order := range []string{"by name", "by number"} {
		synctest.Test(t, func(t *testing.T) {
			m := rowsOf(100, maxKept)
			f := NewFS(m, Options{})
			rows := byName(t, f)
			if order == "by number" {
				rows = byNumber(100)
			}
			if got := m.asked(); got != "tree z0/, list z0/" {
				t.Errorf("asked %q for the rows", got)
			}
			start := time.Now()
			for _, row := range rows {
				entries, err := f.ReadDir(row)
				if len(entries) != maxKept || err != nil {
					t.Fatalf("%s: %d entries, %v", row, len(entries), err)
				}
				time.Sleep(5 * time.Millisecond) // of the program, for a row
			}
			work := 100 * 5 * time.Millisecond
			if took := time.Since(start) - work; took > 8*m.takes {
				t.Errorf("%s: waited for %.1f requests, expected up to 8", order, float64(took)/float64(m.takes))
			}
			time.Sleep(time.Second)
			asked := strings.Split(m.asked(), ", ")
			if counts := countOf(asked); len(asked) != 100 || len(counts) != 100 {
				t.Errorf("%s: %d requests for %d directories, expected 100", order, len(asked), len(counts))
			}
			if m.most > parallel.Lookups {
				t.Errorf("%s: %d requests in flight", order, m.most)
			}
		})
	}
}

func countOf(asked []string) map[string]int {
	counts := map[string]int{}
	for _, a := range asked {
		counts[a]++
	}
	return counts
}

// TestNoListAhead: programs that do not list directory after directory, that take long for each, or that list
// directories with too many entries to keep, cause no other requests.
func TestNoListAhead(t *testing.T) {
	for _, c := range []struct {
		what    string
		entries int
		pause   time.Duration
		rows    []string
		want    int
	}{
		{"one row", 3, 0, []string{"z0/y7"}, 1},
		{"a row again", 3, 2 * time.Second, []string{"z0/y7", "z0/y7", "z0/y7"}, 3},
		{"every other row", 3, 0, []string{"z0/y1", "z0/y3", "z0/y5", "z0/y7"}, 4},
		{"a slow program", 3, time.Second, byNumber(10), 10},
		{"large rows", maxKept + 1, 0, byNumber(10), 2 * 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := rowsOf(maxKept/c.entries+12, c.entries)
			f := NewFS(m, Options{})
			byName(t, f)
			m.asked()
			for _, row := range c.rows {
				if entries, err := f.ReadDir(row); len(entries) != c.entries || err != nil {
					t.Fatalf("%s: %d entries, %v", row, len(entries), err)
				}
				time.Sleep(c.pause)
			}
			time.Sleep(time.Second)
			if got := len(strings.Split(m.asked(), ", ")); got != c.want {
				t.Errorf("%s: %d requests, expected %d", c.what, got, c.want)
			}
		})
	}
}

// TestListAheadPanics: after a panic in a listing ahead, the program that waits for it lists itself. Nothing is listed
// ahead of it any more, and no directory stays claimed.
func TestListAheadPanics(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	synctest.Test(t, func(t *testing.T) {
		m := rowsOf(100, maxKept)
		f := NewFS(m, Options{})
		byName(t, f)
		m.asked()
		ahead := 0
		var mu sync.Mutex
		defer guard.Inject(func(place string) {
			mu.Lock()
			defer mu.Unlock()
			if place == "object.ahead" {
				ahead++
				panic("injected")
			}
		})()
		before := guard.Count()
		for _, row := range byNumber(100) {
			if entries, err := f.ReadDir(row); len(entries) != maxKept || err != nil {
				t.Fatalf("%s: %d entries, %v", row, len(entries), err)
			}
		}
		synctest.Wait()
		if asked := strings.Split(m.asked(), ", "); len(asked) != 100 || ahead == 0 || ahead > 2 ||
			guard.Count()-before != uint64(ahead) || len(f.facts.listing) != 0 {
			t.Errorf("%d requests, %d listings ahead, %d panics, %d claimed", len(asked), ahead, guard.Count()-before,
				len(f.facts.listing))
		}
	})
}

// TestListAheadIsValid: what was listed ahead is valid as long as any other listing, also if the program becomes
// slower. It costs at most a window of requests more.
func TestListAheadIsValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := rowsOf(400, 3)
		f := NewFS(m, Options{})
		byName(t, f)
		m.asked()
		rows := byNumber(400)
		for _, row := range rows[:100] {
			if _, err := f.ReadDir(row); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		for _, row := range rows {
			m.change(row + "/new")
		}
		for _, row := range rows[100:110] {
			entries, err := f.ReadDir(row)
			if len(entries) != 4 || err != nil {
				t.Errorf("%s: %d entries, %v", row, len(entries), err)
			}
			time.Sleep(time.Second)
		}
		if got := len(strings.Split(m.asked(), ", ")); got > 100+10+maxAhead {
			t.Errorf("%d requests", got)
		}
	})
}

// TestListAheadAgrees: programs that list at random times, many at once, while objects come and go, find what the store
// had at most two seconds ago, and every request ends.
func TestListAheadAgrees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(3, 4))
		m := rowsOf(50, 2)
		f := NewFS(m, Options{})
		for range 300 {
			first := random.IntN(45)
			byName(t, f)
			for y := first; y < first+random.IntN(50-first)+1; y++ {
				row := fmt.Sprintf("z0/y%d", y)
				if random.IntN(5) == 0 {
					time.Sleep(2 * time.Second) // nothing is valid any more
					m.change(row + fmt.Sprintf("/x%d", 2+random.IntN(3)))
				}
				entries, err := f.ReadDir(row)
				if want := m.count(row + "/"); len(entries) != want || err != nil {
					t.Fatalf("%s: %d entries, %v, expected %d", row, len(entries), err, want)
				}
				time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			}
		}
	})
}

// change adds an object, or removes it if it exists.
func (m *memory) change(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[key]; ok {
		delete(m.objects, key)
		return
	}
	m.objects[key] = "x"
}

// count returns how many objects have a prefix.
func (m *memory) count(prefix string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.objects {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}
