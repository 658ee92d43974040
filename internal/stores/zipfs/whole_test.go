package zipfs

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// packed is an entry of an archive: its bytes as they are stored, and what the directory says about them.
type packed struct {
	name, stored string
	method       uint16
	size         uint64
	sum          uint32
}

// archiveOf returns an archive of entries that may lie.
func archiveOf(t *testing.T, entries ...packed) fstest.MapFS {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.CreateRaw(&zip.FileHeader{Name: e.name, Method: e.method, CRC32: e.sum,
			CompressedSize64: uint64(len(e.stored)), UncompressedSize64: e.size})
		if err == nil {
			_, err = io.WriteString(f, e.stored)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"a.zip": {Data: b.Bytes()}}
}

func deflated(name, content string) packed {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed)
	io.WriteString(w, content)
	w.Close()
	return packed{name, b.String(), zip.Deflate, uint64(len(content)), crc32.ChecksumIEEE([]byte(content))}
}

func plain(name, content string) packed {
	return packed{name, content, zip.Store, uint64(len(content)), crc32.ChecksumIEEE([]byte(content))}
}

// TestWhole reads files in memory, on the disk and where they are.
func TestWhole(t *testing.T) {
	content := strings.Repeat("voxels ", 1000)
	fsys := archiveOf(t, deflated("dir/small", content[:90]), deflated(`win\dir\large`, content),
		plain("plain", content), deflated("empty", ""))
	a, err := OpenWhole(fsys, "a.zip", Whole{Memory: 100, Disk: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for name, want := range map[string]string{"dir/small": content[:90], "win/dir/large": content, "plain": content,
		"empty": ""} {
		got, err := fs.ReadFile(a, name)
		if err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		f, info, err := vfs.OpenRegular(a, name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() != int64(len(want)) || vfs.Unchanged(f, info) != nil {
			t.Errorf("%s: %d bytes", name, info.Size())
		}
		if len(want) > 10 {
			part := make([]byte, 5)
			if _, err := f.(io.ReaderAt).ReadAt(part, 3); err != nil || string(part) != want[3:8] {
				t.Errorf("%s: %q, %v", name, part, err)
			}
		}
		f.Close()
	}
}

// TestNested reads an archive in an archive.
func TestNested(t *testing.T) {
	inner := archiveOf(t, deflated("x", "content"))["a.zip"].Data
	for _, outer := range []packed{plain("in.zip", string(inner)), deflated("in.zip", string(inner))} {
		for _, memory := range []int64{10, 1 << 20} {
			a, err := OpenWhole(archiveOf(t, outer), "a.zip", Whole{Memory: memory, Disk: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			in, err := OpenWhole(a, "in.zip", Whole{Memory: 100})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := fs.ReadFile(in, "x"); err != nil || string(got) != "content" {
				t.Errorf("%q, %v", got, err)
			}
			in.Close()
			a.Close()
		}
	}
}

// TestWholeErrors: damaged files and bombs are errors that name the file, and take no memory.
func TestWholeErrors(t *testing.T) {
	good := deflated("x", strings.Repeat("a", 50))
	change := func(f func(*packed)) packed { p := good; f(&p); return p }
	for _, c := range []struct {
		entry packed
		want  string
	}{
		{change(func(p *packed) { p.sum++ }), "expected the checksum"},
		{change(func(p *packed) { p.size-- }), "expected 49 bytes, found more"},
		{change(func(p *packed) { p.size++ }), "unexpected EOF"},
		{change(func(p *packed) { p.stored = p.stored[:3] }), "unexpected EOF"},
		{change(func(p *packed) { p.stored = "\xff" + p.stored[1:] }), "corrupt input"},
		{change(func(p *packed) { p.size = 1 << 40 }), "expected at most 1048576 bytes, found 1099511627776"},
		{change(func(p *packed) { p.size = 1 << 19 }), "expected at most 1032 times"},
		{change(func(p *packed) { p.method = 12 }), "found method 12"},
		{packed{"x", "abc", zip.Store, 3, 1}, "expected the checksum"},
	} {
		a, err := OpenWhole(archiveOf(t, c.entry), "a.zip", Whole{Memory: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Open("x"); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), `zip entry "x"`) {
			t.Errorf("got %v, expected %q", err, c.want)
		}
	}
	bomb := deflated("x", strings.Repeat("\x00", 5000))
	a, err := OpenWhole(archiveOf(t, change(func(p *packed) { *p = bomb; p.size = 100 })), "a.zip",
		Whole{Memory: 10, Disk: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open("x"); err == nil || !strings.Contains(err.Error(), "found more") {
		t.Error("a bomb on the disk:", err)
	}
}

// TestWholeChanged: an archive that changes is an error.
func TestWholeChanged(t *testing.T) {
	fsys := archiveOf(t, deflated("x", "content"))
	a, err := OpenWhole(fsys, "a.zip", Whole{Memory: 100})
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Open("x")
	if err != nil {
		t.Fatal(err)
	}
	fsys["a.zip"] = &fstest.MapFile{Data: append(bytes.Clone(fsys["a.zip"].Data), 0)}
	if _, err := f.Stat(); !errors.Is(err, vfs.ErrChanged) {
		t.Error(err)
	}
}
