package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// memory is a bucket in memory. It records its requests.
type memory struct {
	mu       sync.Mutex
	objects  map[string]string
	noList   bool          // it cannot list
	names    bool          // it lists names only
	takes    time.Duration // of a request; of each page of a listing
	requests []string

	inFlight, most int
	pages          int // answers of listings
}

func newMemory(keys ...string) *memory {
	m := &memory{objects: map[string]string{}}
	for _, key := range keys {
		m.objects[key] = "bytes of " + key
	}
	return m
}

func (m *memory) ask(format string, args ...any) {
	m.mu.Lock()
	m.inFlight++
	m.most = max(m.most, m.inFlight)
	m.mu.Unlock()
	time.Sleep(m.takes)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight--
	m.requests = append(m.requests, fmt.Sprintf(format, args...))
}

// asked returns the requests since the last call.
func (m *memory) asked() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := strings.Join(m.requests, ", ")
	m.requests = nil
	return all
}

func (m *memory) answered() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages++
}

func (m *memory) object(key string) Object {
	return Object{Key: key, Size: int64(len(m.objects[key])), Version: "v:" + m.objects[key],
		Modified: time.Unix(1e9, 0)}
}

func (m *memory) URL() string      { return "s3://b" }
func (m *memory) Identity() string { return m.URL() }

func (m *memory) Head(_ context.Context, key string) (Object, error) {
	m.ask("head %s", key)
	if _, ok := m.objects[key]; !ok {
		return Object{}, fs.ErrNotExist
	}
	return m.object(key), nil
}

func (m *memory) ReadParts(ctx context.Context, o Object, parts []vfs.Range) error {
	for _, part := range parts {
		if err := m.Read(ctx, o, part.P, part.Off); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Read(_ context.Context, o Object, p []byte, off int64) error {
	m.ask("read %s", o.Key)
	if m.object(o.Key) != o {
		return vfs.ErrChanged
	}
	copy(p, m.objects[o.Key][off:])
	return nil
}

func (m *memory) List(_ context.Context, prefix, after, delimiter string) iter.Seq2[[]Object, error] {
	return func(yield func([]Object, error) bool) {
		what := "list"
		if delimiter == "" {
			what = "tree"
		}
		if m.ask("%s %s", what, prefix); m.noList || m.names && delimiter == "" {
			yield(nil, fmt.Errorf("403: %w", ErrCannotList))
			return
		}
		m.mu.Lock()
		seen := map[string]Object{}
		for key := range m.objects {
			rest, ok := strings.CutPrefix(key, prefix)
			if !ok {
				continue
			}
			if name, _, isDir := strings.Cut(rest, delimiter); isDir && delimiter != "" {
				seen[prefix+name+"/"] = Object{Key: prefix + name + "/"}
			} else {
				o := m.object(key)
				if m.names {
					o = Object{Key: key, Size: -1}
				}
				seen[key] = o
			}
		}
		m.mu.Unlock()
		var all []Object
		for _, o := range seen {
			if strings.HasPrefix(o.Key, prefix) && o.Key > after {
				all = append(all, o)
			}
		}
		slices.SortFunc(all, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
		if len(all) == 0 {
			m.answered()
		}
		for page := range slices.Chunk(all, maxKept) {
			if m.answered(); !yield(page, nil) {
				return
			}
			if all = all[len(page):]; len(all) > 0 {
				time.Sleep(m.takes) // for the next page
			}
		}
	}
}

// TestRequests: how many requests questions need.
func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory("info", "mag/header", "mag/z0/x0", "mag/z0/x1")
		f := NewFS(m, Options{})
		check := func(what, want string, err error, wantErr error) {
			t.Helper()
			if got := m.asked(); got != want || !errors.Is(err, wantErr) {
				t.Errorf("%s: asked %q, %v, expected %q, %v", what, got, err, want, wantErr)
			}
		}
		stat := func(name string) error { _, err := fs.Stat(f, name); return err }
		check("a file", "tree ", stat("info"), nil)
		check("another", "", stat("absent"), fs.ErrNotExist)
		check("a directory", "", stat("mag"), nil)
		check("below an absent one", "tree absent/", stat("absent/x"), fs.ErrNotExist)
		check("below a file", "tree info/", stat("info/x"), fs.ErrNotExist)
		check("an open", "", func() error { _, err := f.Open("info"); return err }(), nil)
		for range vfs.Describe(f, "mag/z0", func(string) bool { return true }) {
		}
		check("describe", "", nil, nil)
		time.Sleep(time.Minute)
		file, err := f.Open("mag/z0/x0")
		check("a described file, later", "", err, nil)
		check("what was known, later", "tree ", stat("info"), nil)

		m.objects["mag/z0/x0"] = "other bytes"
		_, err = vfs.ReadAt(t.Context(), file, make([]byte, 3), 0)
		check("a replaced object", "read mag/z0/x0", err, vfs.ErrChanged)
		b, err := fs.ReadFile(f, "mag/z0/x0")
		check("the next open", "tree mag/z0/, read mag/z0/x0", err, nil)
		if string(b) != "other bytes" {
			t.Errorf("got %q", b)
		}
		m.objects["mag/z0/x0"] = "third bytes!"
		if file, err = f.Open("mag/z0/x0"); err == nil {
			err = file.(vfs.ObjectFile).ReadParts(t.Context(), []vfs.Range{{P: make([]byte, 3)}})
		}
		check("a replaced object, in parts", "read mag/z0/x0", err, vfs.ErrChanged)
		b, err = fs.ReadFile(f, "mag/z0/x0")
		check("the open after that", "tree mag/z0/, read mag/z0/x0", err, nil)
		if string(b) != "third bytes!" {
			t.Errorf("got %q", b)
		}
	})
}

// TestTTL: a slow store's answers are valid for longer. Options say how long they are valid at least. A read that finds
// another version ends that.
func TestTTL(t *testing.T) {
	for _, c := range []struct {
		least, takes time.Duration
		want         time.Duration
	}{
		{0, 0, time.Second}, {0, 100 * time.Millisecond, 2 * time.Second}, {0, 10 * time.Second, time.Minute},
		{time.Minute, 0, time.Minute}, {30 * time.Second, time.Second, 30 * time.Second},
		{time.Minute, 10 * time.Second, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory("a")
			m.takes = c.takes
			f := NewFS(m, Options{TTL: c.least})
			start := time.Now()
			for _, when := range []struct {
				at   time.Duration
				want string
			}{{0, "tree "}, {c.want - 1, ""}, {c.want, "tree "}} {
				time.Sleep(time.Until(start.Add(when.at)))
				for _, name := range []string{"a", "absent"} {
					if _, err := f.Stat(name); (err == nil) != (name == "a") {
						t.Errorf("%+v, %v: %s: %v", c, when.at, name, err)
					}
				}
				if got := m.asked(); got != when.want {
					t.Errorf("%+v, %v: asked %q", c, when.at, got)
				}
			}
			opened, err := f.Open("a")
			if err != nil {
				t.Fatal(err)
			}
			m.objects["a"] = "changed"
			if _, err := opened.(io.ReaderAt).ReadAt(make([]byte, 1), 0); !errors.Is(err, vfs.ErrChanged) {
				t.Errorf("%+v: got %v", c, err)
			}
			if info, err := f.Stat("a"); err != nil || info.Size() != int64(len("changed")) {
				t.Errorf("%+v: after a read that found another version: %v, %v", c, info, err)
			}
		})
	}
}

// TestManyEntries: names in a directory with more entries than one answer has are asked for one by one.
func TestManyEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory("d/x/y")
		for i := range 3 * maxKept {
			m.objects[fmt.Sprintf("d/%05d", i)] = "x"
		}
		f := NewFS(m, Options{})
		for _, c := range []struct {
			name, want string
			err        error
		}{
			{"d/00001", "tree d/, head d/00001", nil},
			{"d/00002", "head d/00002", nil},
			{"d/absent", "head d/absent, tree d/absent/", fs.ErrNotExist},
			{"d/x", "head d/x, tree d/x/", nil},
		} {
			_, err := f.Stat(c.name)
			if got := m.asked(); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("%s: asked %q, %v", c.name, got, err)
			}
		}
		entries, err := f.ReadDir("d")
		if len(entries) != 3*maxKept+1 || err != nil {
			t.Errorf("got %d entries, %v", len(entries), err)
		}
		count := 0
		for batch, err := range f.Describe("d", func(name string) bool { return name != "x" }) {
			for _, d := range batch {
				if d.Err != nil || d.Info.Size() != 1 {
					t.Fatalf("%s: %v", d.Name(), d.Err)
				}
				count++
			}
			if err != nil {
				t.Error(err)
			}
		}
		if count != 3*maxKept {
			t.Errorf("described %d", count)
		}
	})
}

// TestCannotList: without listings, directories are found by the metadata in them.
func TestCannotList(t *testing.T) {
	m := newMemory("datasource-properties.json", "color/1/header.wkw", "color/1/z0/y0/x0.wkw")
	m.noList = true
	f := NewFS(m, Options{})
	for name, kind := range map[string]int{
		"datasource-properties.json": file, "color/1": directory, "color/1/z0/y0/x0.wkw": file, ".": directory,
		"color/1/z0/y0/x1.wkw": absent, "color/2": absent, "nothing.json": absent,
	} {
		info, err := f.Stat(name)
		switch {
		case kind == absent && !errors.Is(err, fs.ErrNotExist), kind != absent && err != nil:
			t.Errorf("%s: got %v", name, err)
		case err == nil && info.IsDir() != (kind == directory):
			t.Errorf("%s: got %v", name, info.Mode())
		}
	}
	if _, err := f.ReadDir("."); !vfs.CannotList(err) {
		t.Errorf("got %v", err)
	}
}

// TestKeys: keys that are no paths have no files. A key that is also a prefix is a file.
func TestKeys(t *testing.T) {
	f := NewFS(newMemory("a", "a/b", "/c", "d//e", "../f", "d/./g", "h\x00", "i/"), Options{})
	entries, err := f.ReadDir(".")
	var got []string
	for _, e := range entries {
		got = append(got, fs.FormatDirEntry(e))
	}
	if want := "- a,d d/,d i/"; strings.Join(got, ",") != want || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestVersions: two objects have different versions even if their server gives them the same ETag.
func TestVersions(t *testing.T) {
	f := NewFS(newMemory(), Options{})
	seen := map[vfs.Version]string{}
	other := NewFS(newMemory(), Options{})
	other.id = "s3://digest@b" // the same URL, with another query
	seen[vfs.VersionOf(other.newInfo("a", fact{Object{Size: 1, Version: `"x"`}, file}))] = "another bucket"
	for _, c := range []struct {
		name string
		o    Object
	}{
		{"a", Object{Size: 1, Version: `"x"`}}, {"b", Object{Size: 1, Version: `"x"`}},
		{"a", Object{Size: 2, Version: `"x"`}},
		{"a", Object{Size: 1, Version: `"y"`}}, {"a", Object{Size: 1}},
		{"a", Object{Size: 1, Modified: time.Unix(1, 0)}},
	} {
		v := vfs.VersionOf(f.newInfo(c.name, fact{c.o, file}))
		if other, ok := seen[v]; ok {
			t.Errorf("%s %+v has the version of %s", c.name, c.o, other)
		}
		seen[v] = fmt.Sprintf("%s %+v", c.name, c.o)
	}
}

// TestReadInOrder: a small file needs one request, whatever the buffers of its reader.
func TestReadInOrder(t *testing.T) {
	m := newMemory()
	m.objects["f"] = strings.Repeat("0123456789", 100_000)
	f := NewFS(m, Options{})
	opened, err := f.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	m.asked()
	got, err := io.ReadAll(io.MultiReader(io.LimitReader(opened, 7), opened))
	if string(got) != m.objects["f"] || err != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if n := strings.Count(m.asked(), "read"); n != 3 { // of 256, 512 KiB and the rest
		t.Errorf("%d requests", n)
	}
}

// TestDescribedVersion: what was described is opened later only in the version that it had. Without one, a read would
// not notice a change.
func TestDescribedVersion(t *testing.T) {
	for _, c := range []struct {
		found fact
		want  bool
	}{
		{fact{Object{Key: "a", Size: 1, Version: "1"}, file}, true},
		{fact{Object{Key: "a", Size: 1}, file}, false},
		{fact{Object{Key: "a"}, directory}, false},
	} {
		k := newFacts(false, ttl.Least)
		k.describe("a", c.found)
		if _, ok := k.described("a"); ok != c.want {
			t.Errorf("%+v: got %v", c.found, ok)
		}
	}
}
