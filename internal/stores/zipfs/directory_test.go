package zipfs

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// rawDirectory returns an archive that is a directory only, with entries of these names.
func rawDirectory(names ...string) []byte {
	le := binary.LittleEndian
	var b []byte
	for _, name := range names {
		h := make([]byte, headerLength)
		le.PutUint32(h, headerSignature)
		le.PutUint16(h[28:], uint16(len(name)))
		b = append(append(b, h...), name...)
	}
	end := make([]byte, endLength)
	le.PutUint32(end, endSignature)
	le.PutUint16(end[8:], uint16(len(names)))
	le.PutUint16(end[10:], uint16(len(names)))
	le.PutUint32(end[12:], uint32(len(b)))
	return append(b, end...)
}

// TestManyDirectories: entries with very many directories above them take time and memory in proportion to the
// directory of the archive.
func TestManyDirectories(t *testing.T) {
	var names []string
	for i := range 2500 {
		names = append(names, fmt.Sprint(i)+strings.Repeat("/a", (maxName-5)/2))
	}
	b := rawDirectory(names...)
	fsys := fstest.MapFS{"a.zip": {Data: b}}
	before, start := heap(), time.Now()
	a, err := Open(fsys, "a.zip")
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Minute { // in proportion to the square, it would take hours
		t.Errorf("%d bytes of directory took %v", len(b), took)
	}
	if took := heap() - before; took > int64(len(b))*5/4 {
		t.Errorf("%d bytes of directory take %d bytes of memory", len(b), took)
	}
	if entries, err := a.ReadDir("7/a/a"); err != nil || len(entries) != 1 || entries[0].Name() != "a" ||
		!entries[0].IsDir() {
		t.Errorf("got %v, %v", entries, err)
	}
	runtime.KeepAlive(a)
}

// TestManyShortNames: the memory of an archive is a small multiple of its directory, also if names are short.
func TestManyShortNames(t *testing.T) {
	var names []string
	for i := range 50_000 {
		names = append(names, fmt.Sprintf("%x", i))
	}
	b := rawDirectory(names...)
	before := heap()
	a, err := open(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if took := heap() - before; took > int64(len(b))*5/4 {
		t.Errorf("%d bytes of directory take %d bytes of memory", len(b), took)
	}
	if entries, err := a.ReadDir("."); err != nil || len(entries) != len(names) {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	runtime.KeepAlive(a)
}

// heap returns the memory in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestLimits: a longer path or a larger directory than wkwfs reads is an error that names it. So is a directory that
// claims more entries, or more bytes, than there are.
func TestLimits(t *testing.T) {
	le := binary.LittleEndian
	end := func(change func(end []byte)) []byte {
		b := rawDirectory("a", "b")
		change(b[len(b)-endLength:])
		return b
	}
	for _, c := range []struct {
		what    string
		archive []byte
		err     string
	}{
		{"a long path", rawDirectory(strings.Repeat("a", maxName+1)),
			fmt.Sprintf(`expected a path of at most %d bytes, found %d`, maxName, maxName+1)},
		{"many entries", end(func(end []byte) { le.PutUint16(end[10:], 3) }), "expected 3 entries, found 2"},
		{"few entries", end(func(end []byte) { le.PutUint16(end[10:], 1) }), "expected 1 entries, found 2"},
		{"a directory beyond the start", end(func(end []byte) { le.PutUint32(end[12:], 1<<20) }),
			"expected a directory in the 94 bytes before its end, found 1048576 bytes"},
		{"a directory beyond the end", end(func(end []byte) { le.PutUint32(end[16:], 1<<20) }),
			"expected a directory in the"},
		{"a cut header", end(func(end []byte) { le.PutUint32(end[12:], 93); le.PutUint32(end[16:], 1) }),
			"byte 1: expected the header of an entry"},
		{"a long comment", end(func(end []byte) { le.PutUint16(end[20:], 1) }), "no end of the directory"},
		{"nothing", nil, "no end of the directory"},
	} {
		if _, err := open(t, c.archive); err == nil || !strings.Contains(err.Error(), "a.zip: zip ") ||
			!strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, expected %q", c.what, err, c.err)
		}
	}
	l := limits{directory: 93}
	if _, err := openWithin(fstest.MapFS{"a.zip": {Data: rawDirectory("a", "b")}}, "a.zip", l); err == nil ||
		!strings.Contains(err.Error(), "zip directory: expected at most 93 bytes, found 94") {
		t.Errorf("got %v", err)
	}
}

// TestAgreesWithZip: random archives, some with zip64, with other bytes before and with a comment, have the files that
// package zip finds.
func TestAgreesWithZip(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		b, want := randomArchive(t, random)
		a, err := open(t, b)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		err = fs.WalkDir(a, ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				content, readErr := fs.ReadFile(a, name)
				got[name], err = string(content), readErr
			}
			return err
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %q, %v, expected %q", got, err, want)
		}
		checkDirectories(t, a, want)
	}
}

// randomArchive returns an archive and what its files have.
func randomArchive(t *testing.T, random *rand.Rand) ([]byte, map[string]string) {
	t.Helper()
	elements := []string{"a", "b", "a-", "a.", "a0", "é"}
	var before, out bytes.Buffer
	before.WriteString(strings.Repeat("x", random.IntN(3)*20))
	w := zip.NewWriter(&out)
	if random.IntN(2) == 0 {
		w.SetOffset(int64(before.Len()))
	}
	want, dirs := map[string]string{}, map[string]bool{}
	for i := range random.IntN(20) {
		parts := make([]string, 1+random.IntN(3))
		for i := range parts {
			parts[i] = elements[random.IntN(len(elements))]
		}
		name := strings.Join(parts, "/")
		if _, isFile := want[name]; isFile || dirs[name] || belowFile(want, parts) {
			continue
		}
		for n := range len(parts) - 1 {
			dirs[strings.Join(parts[:n+1], "/")] = true
		}
		want[name] = strings.Repeat("v", i)
		h := &zip.FileHeader{Name: name, Method: zip.Store, Comment: strings.Repeat("c", random.IntN(3))}
		if random.IntN(3) == 0 {
			h.Extra = []byte{7, 0, 1, 0, 9}
		}
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(want[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetComment(strings.Repeat("PK\x05\x06", random.IntN(3))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return append(before.Bytes(), out.Bytes()...), want
}

func belowFile(files map[string]string, parts []string) bool {
	for n := range parts {
		if _, ok := files[strings.Join(parts[:n], "/")]; ok {
			return true
		}
	}
	return false
}

// checkDirectories compares each listing with the names of the files.
func checkDirectories(t *testing.T, a *FS, files map[string]string) {
	t.Helper()
	children := map[string][]string{}
	for name := range files {
		dir := "."
		for part := range strings.SplitSeq(name, "/") {
			if !slices.Contains(children[dir], part) {
				children[dir] = append(children[dir], part)
			}
			dir = strings.TrimPrefix(dir+"/"+part, "./")
		}
	}
	for dir, want := range children {
		slices.Sort(want)
		entries, err := a.ReadDir(dir)
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: got %q, %v, expected %q", dir, got, err, want)
		}
	}
}

// TestZip64: lengths and offsets of 64 bits.
func TestZip64(t *testing.T) {
	le := binary.LittleEndian
	content := []byte("voxels")
	local := make([]byte, 30)
	le.PutUint32(local, 0x04034b50)
	le.PutUint16(local[26:], 1)
	b := append(append(local, 'a'), content...)
	extra := le.AppendUint16(le.AppendUint16(nil, 1), 24)
	extra = le.AppendUint64(le.AppendUint64(le.AppendUint64(extra, uint64(len(content))), uint64(len(content))), 0)
	h := make([]byte, headerLength)
	le.PutUint32(h, headerSignature)
	le.PutUint32(h[20:], 1<<32-1)
	le.PutUint32(h[24:], 1<<32-1)
	le.PutUint16(h[28:], 1)
	le.PutUint16(h[30:], uint16(len(extra)))
	le.PutUint32(h[42:], 1<<32-1)
	at := len(b)
	b = append(append(append(b, h...), 'a'), extra...)
	end64 := len(b)
	b = le.AppendUint64(le.AppendUint32(b, end64Signature), 44)
	b = append(b, make([]byte, 12)...)
	b = le.AppendUint64(le.AppendUint64(b, 1), 1)
	b = le.AppendUint64(le.AppendUint64(b, uint64(end64-at)), uint64(at))
	b = le.AppendUint64(append(le.AppendUint32(b, locatorSignature), 0, 0, 0, 0), uint64(end64))
	b = append(b, 1, 0, 0, 0)
	end := make([]byte, endLength)
	le.PutUint32(end, endSignature)
	copy(end[8:], bytes.Repeat([]byte{0xff}, 12))
	b = append(b, end...)
	if z, err := zip.NewReader(bytes.NewReader(b), int64(len(b))); err != nil || len(z.File) != 1 {
		t.Fatalf("package zip: %v", err)
	}
	a, err := open(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fs.ReadFile(a, "a"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %q, %v", got, err)
	}
	for i := at; i < len(b); i++ { // damage in every byte: no panic
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(b)
			damaged[i] ^= flip
			if a, err := open(t, damaged); err == nil {
				if f, err := a.Open("a"); err == nil {
					_, _ = vfs.ReadAt(t.Context(), f, make([]byte, 9), 0)
				}
			}
		}
	}
}
