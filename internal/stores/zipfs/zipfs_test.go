package zipfs

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// entry is an entry of an archive in a test.
type entry struct {
	name, content string
	method        uint16
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err == nil {
			_, err = f.Write([]byte(e.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// open opens an archive in memory.
func open(t testing.TB, b []byte) (*FS, error) {
	t.Helper()
	return Open(fstest.MapFS{"a.zip": {Data: b, Mode: 0o640}}, "a.zip")
}

func TestFiles(t *testing.T) {
	a, err := open(t, zipped(t, entry{"zarr.json", "{}", zip.Store}, entry{"c/0/0", "chunk", zip.Store},
		entry{"c/", "", zip.Store}, entry{"c/0/1", "", zip.Store}))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	err = fs.WalkDir(a, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		found = append(found, name+" "+info.Mode().String())
		return err
	})
	if want := ". dr-xr-x---, c dr-xr-x---, c/0 dr-xr-x---, c/0/0 -r--r-----, c/0/1 -r--r-----, zarr.json -r--r-----"; err != nil || strings.Join(found, ", ") != want {
		t.Errorf("got %s, %v, expected %s", strings.Join(found, ", "), err, want)
	}
}

// TestRefused: an archive with paths that contradict each other, or lead out, is refused as a whole. An entry that
// cannot be read in parts is refused when it is opened.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		entries []entry
		err     string
		opened  bool // the archive is, the entry is not
	}{
		{[]entry{{"a", "1", 0}, {"a", "2", 0}}, `zip entry "a": expected each path once`, false},
		{[]entry{{"a", "1", 0}, {"a/", "", 0}}, `zip entry "a/": expected each path once`, false},
		{[]entry{{"a/", "", 0}, {"a", "1", 0}}, `zip entry "a": expected each path once`, false},
		{[]entry{{"a", "1", 0}, {"a/b", "1", 0}}, `zip entry "a/b": expected a directory above, found the file "a"`,
			false},
		{[]entry{{"../a", "1", 0}}, `zip entry "../a": expected a path in the archive`, false},
		{[]entry{{"/etc/passwd", "1", 0}}, `expected a path in the archive`, false},
		{[]entry{{"b/../../a", "1", 0}}, `expected a path in the archive`, false},
		{[]entry{{"a//b", "1", 0}}, `expected a path in the archive`, false},
		{[]entry{{".", "1", 0}}, `expected a path in the archive`, false},
		{[]entry{{"a\x00b", "1", 0}}, `expected a path in the archive`, false},
		{[]entry{{"a", strings.Repeat("1", 99), zip.Deflate}},
			`unsupported zip entry "a": expected no compression, as zip -0 writes it, found method 8`, true},
	} {
		a, err := open(t, zipped(t, c.entries...))
		if (err == nil) != c.opened {
			t.Errorf("%v: %v", c.entries, err)
			continue
		}
		if c.opened {
			_, err = a.Open("a")
		}
		_, format := errors.AsType[*volume.FormatError](err)
		_, unsupported := errors.AsType[*volume.UnsupportedError](err)
		if !format && !unsupported || !strings.Contains(err.Error(), "a.zip: ") ||
			!strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: got %v, expected %q", c.entries, err, c.err)
		}
	}
	if _, err := open(t, []byte("no archive")); err == nil || !strings.Contains(err.Error(), "a.zip: zip directory") {
		t.Errorf("got %v", err)
	}
}

// TestExtents: entries that say that they are longer than the archive, or encrypted, are errors. Entries that share
// their bytes are read.
func TestExtents(t *testing.T) {
	sound := zipped(t, entry{"a", "voxels", zip.Store}, entry{"b", "voxels", zip.Store})
	directory := bytes.Index(sound, []byte("PK\x01\x02"))
	le := binary.LittleEndian
	for _, c := range []struct {
		what   string
		change func(directory []byte)
		err    string
	}{
		{"longer than the archive", func(d []byte) { le.PutUint32(d[20:], 1<<30); le.PutUint32(d[24:], 1<<30) },
			"expected an extent in the"},
		{"two lengths", func(d []byte) { le.PutUint32(d[24:], 5) }, "expected 5 stored bytes, found 6"},
		{"encrypted", func(d []byte) { d[8] |= 1 }, "expected no encryption"},
		{"a header beyond the archive", func(d []byte) { le.PutUint32(d[42:], 1<<30) }, `zip entry "a"`},
		{"a link", func(d []byte) { d[5] = 3; le.PutUint32(d[38:], 0xa1ff<<16) },
			"expected a regular file, found a symbolic link"},
		{"the bytes of another entry",
			func(d []byte) { le.PutUint32(d[42:], uint32(bytes.LastIndex(sound[:directory], []byte("PK\x03\x04")))) },
			""},
	} {
		b := bytes.Clone(sound)
		c.change(b[directory:])
		a, err := open(t, b)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		got, err := fs.ReadFile(a, "a")
		if c.err == "" && (err != nil || string(got) != "voxels") ||
			c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got %q, %v, expected %q", c.what, got, err, c.err)
		}
	}
}

// TestLongExtra: the bytes of an entry start after the end of the archive, because its header claims an extra field
// that is longer.
func TestLongExtra(t *testing.T) {
	b := zipped(t, entry{"a", "voxels", zip.Store})
	binary.LittleEndian.PutUint16(b[28:], 0xffff)
	a, err := open(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open("a"); err == nil || !strings.Contains(err.Error(), "expected an extent in the") {
		t.Errorf("got %v", err)
	}
}

// TestExtentReachesIntoDirectory: the bytes of an entry end before the directory of the archive.
func TestExtentReachesIntoDirectory(t *testing.T) {
	sound := zipped(t, entry{"a", "voxels", zip.Store})
	directory := bytes.Index(sound, []byte("PK\x01\x02"))
	most := directory - localLength - len("a")
	for size := len("voxels"); size <= len(sound)-localLength-len("a")+1; size++ {
		b := bytes.Clone(sound)
		for _, at := range []int{20, 24} {
			binary.LittleEndian.PutUint32(b[directory+at:], uint32(size))
		}
		a, err := open(t, b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fs.ReadFile(a, "a")
		want := fmt.Sprintf(
			`a.zip: zip entry "a": expected an extent in the %d bytes before the directory, found %d bytes at byte 31`,
			directory, size)
		if size <= most && (err != nil || len(got) != size) || size > most && (err == nil || err.Error() != want) {
			t.Errorf("%d bytes, of which %d may be read: got %q, %v", size, most, got, err)
		}
	}
}

// TestVersions: each entry has a version of its own. Others may have the same checksum.
func TestVersions(t *testing.T) {
	a, err := open(t, zipped(t, entry{"a", "voxels", zip.Store}, entry{"b", "voxels", zip.Store}))
	if err != nil {
		t.Fatal(err)
	}
	found := map[vfs.Version]string{}
	for _, name := range []string{".", "a", "b"} {
		info, err := a.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := found[vfs.VersionOf(info)]; ok {
			t.Errorf("%s has the version of %s", name, other)
		}
		found[vfs.VersionOf(info)] = name
	}
}

// TestChanged: after a change of the archive nothing is read with the old offsets.
func TestChanged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(name, zipped(t, entry{"a", "voxels", zip.Store}), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := Open(os.DirFS(filepath.Dir(name)), "a.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	opened, info, err := vfs.OpenRegular(a, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := vfs.Unchanged(opened, info); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := a.Stat("a"); err != nil || info.Mode() != 0o400 || vfs.Unchanged(opened, info) != nil {
		t.Errorf("after a change of permissions: got %v, %v", info, err)
	}
	if err := os.Chtimes(name, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := vfs.Unchanged(opened, info); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("got %v", err)
	}
	if _, err := a.Open("a"); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Stat("a"); !errors.Is(err, vfs.ErrChanged) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the archive: got %v", err)
	}
}

// FuzzOpen opens any bytes as an archive and reads all of its files.
func FuzzOpen(f *testing.F) {
	f.Add(zipped(f, entry{"zarr.json", "{}", zip.Store}, entry{"c/0", "chunk", zip.Deflate}))
	f.Add(zipped(f, entry{"a/", "", zip.Store}, entry{"a/b", "x", zip.Store}))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := open(t, b)
		if err != nil {
			return
		}
		_ = fs.WalkDir(a, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				t.Error(err)
				return nil
			}
			if opened, err := a.Open(name); err == nil && !e.IsDir() {
				if n, err := io.Copy(io.Discard, opened); err != nil || n > int64(len(b)) {
					t.Errorf("%s: %d bytes, %v", name, n, err)
				}
			}
			return nil
		})
	})
}
