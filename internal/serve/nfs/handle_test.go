package nfs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// TestPack: the paths of a usual tree fit without hashes, also at indices and in boxes that no dataset has yet.
func TestPack(t *testing.T) {
	for _, name := range []string{
		".", "color", "color/1", "color/2-2-1/volume.raw", "segmentation/1/volume.nii", "color/1/slices/z0000012.tif",
		"color/1/z1099511627775/y1099511627775/x1099511627775.raw",
		"color/1/z12345/y12345/x12345.blocks/z31/y31/x31.raw",
		"color/16-16-4/box/100000-101024_200000-201024_10000-10064.nrrd", "color/1/box/-3--1_-2--1_-1-0.raw",
		"segmentation/precomputed/1/1000000-1000064_0-64_9000000-9000064", "color/1/chunks/0-64_0-64_0-64.raw",
		"0", "00", "01/1", "9223372036854775807", "9223372036854775808", "1_2-3", "é", "\x01\x1f ",
	} {
		packed, hashed := pack(name)
		if hashed || len(packed) > maxPacked {
			t.Errorf("%s: %d bytes, hashed: %t", name, len(packed), hashed)
		}
		checkFound(t, newHandles(fstest.MapFS{}), handle{path: name, dir: true})
	}
}

func checkFound(t *testing.T, hs *handles, h handle) {
	t.Helper()
	b := hs.encode(h)
	if len(b) > maxHandle {
		t.Errorf("%s: a handle of %d bytes", h.path, len(b))
	}
	if got, err := hs.decode(t.Context(), b, anywhere); err != nil || got != h {
		t.Errorf("%+v: got %+v, %v", h, got, err)
	}
}

// longTree has names that do not fit into a handle.
func longTree() (fstest.MapFS, []string) {
	long := func(c string) string { return strings.Repeat(c, 255) }
	var names []string
	for _, layer := range []string{strings.Repeat("layer", 51), long("ü")[:254], "short"} {
		for _, mag := range []string{"1", long("m"), long("n")} {
			for i := range 3 {
				names = append(names, fmt.Sprintf("%s/%s/%d-%s", layer, mag, i, long("f")[:200]),
					fmt.Sprintf("%s/%s/z%d.raw", layer, mag, i))
			}
		}
	}
	files := fstest.MapFS{}
	for _, name := range names {
		files[name] = &fstest.MapFile{Data: []byte(name), Mode: 0o444}
	}
	return files, names
}

// TestHandlesSurviveRestart: another server finds the files of handles, also of those whose names do not fit.
func TestHandlesSurviveRestart(t *testing.T) {
	files, names := longTree()
	old := newHandles(files)
	seen := map[string]string{}
	for _, name := range names {
		info, err := fs.Stat(files, name)
		if err != nil {
			t.Fatal(err)
		}
		h := handleOf(name, info)
		checkFound(t, old, h)
		b := old.encode(h)
		if other, ok := seen[string(b)]; ok {
			t.Fatalf("%s and %s have the same handle", name, other)
		}
		seen[string(b)] = name
		if got, err := newHandles(files).decode(t.Context(), b, anywhere); err != nil || got != h {
			t.Errorf("after a restart: got %+v, %v, expected %s", got, err, name)
		}
		if _, err := newHandles(fstest.MapFS{"short/1/z0.rawx": {}}).decode(t.Context(), b,
			anywhere); name != "short/1/z0.raw" && strings.Contains(name, "ff") && !errors.Is(err, statusStale) {
			t.Errorf("%s in another tree: got %v, expected %v", name, err, statusStale)
		}
	}
}

// TestUnlistedLongNames: names that no listing has, and too many long elements, are found as long as they are
// remembered.
func TestUnlistedLongNames(t *testing.T) {
	deep := strings.Repeat(strings.Repeat("d", 20)+"/", 12) + "f"
	for _, name := range []string{strings.Repeat("unlisted", 30), deep} {
		hs := newHandles(fstest.MapFS{"other": {}})
		h := handle{path: name}
		checkFound(t, hs, h)
		if _, err := newHandles(hs.fsys).decode(t.Context(), hs.encode(h), anywhere); !errors.Is(err, statusStale) {
			t.Errorf("%s after a restart: got %v, expected %v", name, err, statusStale)
		}
	}
}

// TestBadHandles: bytes that no server made are refused.
func TestBadHandles(t *testing.T) {
	hs := newHandles(fstest.MapFS{"a/b": {}})
	for name, b := range map[string]string{
		"empty":               "",
		"unknown kind":        "\x12color",
		"no version":          "\x11abc",
		"slash at the start":  "\x10/a",
		"slash at the end":    "\x10a/",
		"two slashes":         "\x10a//b",
		"up":                  "\x10..",
		"up in between":       "\x10a/../b",
		"dot":                 "\x10./a",
		"not UTF-8":           "\x10\xff\xfe",
		"short hash":          "\x10\x00abc",
		"text beside a hash":  "\x10a\x00abcdefgh",
		"two hashes":          "\x10\x00abcdefgh\x00abcdefgh",
		"endless number":      "\x10\x01" + strings.Repeat("\xff", 20),
		"number that is lost": "\x10\x01",
		"unknown word":        "\x10\x1e",
		"escape at the end":   "\x10\x1f",
		"escaped slash":       "\x10a\x1f/../b",
		"escaped zero":        "\x10\x1f\x2e\x1f\x2e",
	} {
		if h, err := hs.decode(t.Context(), []byte(b), anywhere); !errors.Is(err, statusBadHandle) {
			t.Errorf("%s: got %+v, %v", name, h, err)
		}
	}
	if _, err := hs.decode(t.Context(), []byte("\x10\x00abcdefgh"), anywhere); !errors.Is(err, statusStale) {
		t.Errorf("a hash of nothing: got %v", err)
	}
}

// TestHandleVersions: a file that has changed, or has become a directory, is not that of its handle.
func TestHandleVersions(t *testing.T) {
	at := time.Unix(1e9, 0)
	describe := func(f *fstest.MapFile) fs.FileInfo {
		info, err := fs.Stat(fstest.MapFS{"f": f}, "f")
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	h := handleOf("f", describe(&fstest.MapFile{Data: []byte("1"), ModTime: at}))
	for name, c := range map[string]struct {
		file *fstest.MapFile
		want bool
	}{
		"the same":    {&fstest.MapFile{Data: []byte("1"), ModTime: at}, true},
		"longer":      {&fstest.MapFile{Data: []byte("12"), ModTime: at}, false},
		"later":       {&fstest.MapFile{Data: []byte("1"), ModTime: at.Add(1)}, false},
		"a directory": {&fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: at}, false},
	} {
		if got := h.is(describe(c.file)); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// TestPackRandom packs paths of random parts, with and without hashes.
func TestPackRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := append([]string{"a", "-", "_", ".", "0", "00", "7", "123456789", "\x00", "\x1f", "é",
		strings.Repeat("q", 30)}, words...)
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(parts[random.IntN(len(parts))])
			if random.IntN(3) == 0 {
				b.WriteByte('/')
			}
		}
		if name := b.String(); fs.ValidPath(name) {
			checkFound(t, newHandles(fstest.MapFS{}), handle{path: name, dir: true})
		}
	}
}

// FuzzHandle decodes handles of any bytes. What can be decoded is encoded to a handle of the same entry.
func FuzzHandle(f *testing.F) {
	files, names := longTree()
	for _, name := range names {
		f.Add(newHandles(files).encode(handle{path: name}))
	}
	f.Add([]byte("\x10\x15/1\x04\x01\x05"))
	f.Fuzz(func(t *testing.T, b []byte) {
		hs := newHandles(files)
		h, err := hs.decode(t.Context(), b, anywhere)
		if err != nil {
			return
		}
		if !fs.ValidPath(h.path) {
			t.Fatalf("% x: an invalid path %q", b, h.path)
		}
		checkFound(t, hs, h)
	})
}

// anywhere lets a caller search all directories.
func anywhere(string) error { return nil }
