package pyramid

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestSplit: the middle of a run is whole pages of the file.
func TestSplit(t *testing.T) {
	for _, test := range []struct{ offset, length, head, pages, tail int }{
		{0, 0, 0, 0, 0},
		{16, 10, 10, 0, 0},
		{16, pageBytes - 16, pageBytes - 16, 0, 0},
		{16, pageBytes, pageBytes - 16, 0, 16},
		{16, 3 * pageBytes, pageBytes - 16, 2 * pageBytes, 16},
		{pageBytes, 2*pageBytes + 1, 0, 2 * pageBytes, 1},
	} {
		all := make([]byte, test.length)
		head, pages, tail := fileRun{all, int64(test.offset)}.split()
		got := []int{len(head.bytes), len(pages.bytes), len(tail.bytes)}
		if fmt.Sprint(got) != fmt.Sprint([]int{test.head, test.pages, test.tail}) {
			t.Errorf("%d bytes at %d: got %d", test.length, test.offset, got)
		}
		if head.offset != int64(test.offset) || pages.offset != head.offset+int64(test.head) ||
			tail.offset != pages.offset+int64(test.pages) {
			t.Errorf("%d bytes at %d: got offsets %d, %d, %d", test.length, test.offset, head.offset, pages.offset,
				tail.offset)
		}
	}
}

// fakeDirect is a file that is written past the page cache, with the conditions of O_DIRECT. If err is not nil, every
// write fails.
type fakeDirect struct {
	*os.File
	err    error
	writes int
	closed bool
}

func (f *fakeDirect) WriteAt(b []byte, offset int64) (int, error) {
	f.writes++
	if f.err != nil {
		return 0, &os.PathError{Op: "write", Path: f.Name(), Err: f.err}
	}
	if address := uintptr(unsafe.Pointer(unsafe.SliceData(b))); address%pageBytes != 0 || offset%pageBytes != 0 ||
		len(b)%pageBytes != 0 {
		return 0, fmt.Errorf("%d bytes at %#x for offset %d", len(b), address, offset)
	}
	return f.File.WriteAt(b, offset)
}

func (f *fakeDirect) Close() error { f.closed = true; return nil }

// TestDirectWriter writes runs that share pages, past a page cache that allows it, that refuses it, and on a disk that
// fails.
func TestDirectWriter(t *testing.T) {
	for _, test := range []struct {
		name   string
		err    error
		writes int
		fails  bool
	}{
		{"direct", nil, 3, false},
		{"sectors that are too large", syscall.EINVAL, 1, false},
		{"not supported", syscall.EOPNOTSUPP, 1, false},
		{"full disk", syscall.ENOSPC, 1, true},
		{"bad disk", syscall.EIO, 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			direct := &fakeDirect{File: f, err: test.err}
			file := &cubeFile{File: f, direct: direct}
			d := newDirectWriter(directRuns(1))
			defer d.end()
			r := rand.New(rand.NewPCG(1, 2))
			want := make([]byte, 16+3*writeBytes+5000) // the last run is too small
			for i := 16; i < len(want); i++ {
				want[i] = byte(r.Uint32())
			}
			var failed error
			const n = writeBytes
			for _, part := range [][2]int{{16 + n, 16 + 2*n}, {16, 16 + n}, {16 + 2*n, 16 + 3*n},
				{16 + 3*n, len(want)}} {
				memory, err := d.memory()
				if err != nil {
					failed = err
					break
				}
				b := congruent(&memory, part[1]-part[0], int64(part[0]))
				copy(b, want[part[0]:])
				d.write(file, []fileRun{{b, int64(part[0])}}, memory)
				if err := d.wait(); (err != nil) != test.fails {
					t.Errorf("got %v", err)
				}
			}
			if test.fails {
				if !errors.Is(failed, test.err) || direct.writes != test.writes {
					t.Errorf("got %v after %d writes, want %v after %d", failed, direct.writes, test.err, test.writes)
				}
				return
			}
			if err := d.wait(); err != nil || direct.writes != test.writes || direct.closed != (test.err != nil) {
				t.Errorf("%v, %d direct writes, closed %v", err, direct.writes, direct.closed)
			}
			if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, or other bytes", err)
			}
			d.close(file)
			if err := d.wait(); err != nil || f.Close() == nil || !direct.closed {
				t.Errorf("%v, or the file is open", err)
			}
		})
	}
}

// TestWriteDirect writes cubes on the disk of temporary files, large enough to go past the page cache: also with a
// spool that is too large for the memory.
func TestWriteDirect(t *testing.T) {
	for _, test := range []struct {
		name   string
		bt     wkw.BlockType
		box    volume.Box
		memory int64
		jobs   int
	}{
		{"raw", wkw.Raw, box(5, 130, 11, 301, 400, 270), 128 << 20, 2},
		{"LZ4", wkw.LZ4, box(200, 130, 11, 301, 301, 270), 256 << 20, 2},
		{"LZ4, much memory", wkw.LZ4, box(200, 130, 11, 301, 301, 270), 1 << 30, 3},
		{"LZ4, some memory for the spool", wkw.LZ4, box(200, 130, 11, 301, 301, 270), 296 << 20, 16},
		{"LZ4, no memory for the spool", wkw.LZ4, box(200, 130, 11, 301, 301, 270), 288 << 20, 16},
	} {
		if testing.Short() && test.jobs != 16 {
			continue // those of sixteen jobs share all that the others share
		}
		t.Run(test.name, func(t *testing.T) {
			c := newCase(t, rand.New(rand.NewPCG(1, 2)), header(32, 8, test.bt, volume.Uint8), test.box, two)
			c.Memory, c.Jobs = test.memory, test.jobs
			c.onDisk(t)
			c.write(t)
		})
	}
}

// TestShardsDirect: shards that are written past the page cache have the bytes of those that are not.
func TestShardsDirect(t *testing.T) {
	var all [2]map[string][]byte
	for i, memory := range []int64{256 << 20, 32 << 20} { // 32 MiB are too little to write past the page cache
		c := newCase(t, rand.New(rand.NewPCG(1, 2)), header(32, 8, wkw.LZ4, volume.Uint8),
			box(200, 200, 11, 301, 301, 270), two)
		c.Memory = memory
		for i := range c.Mags {
			c.Mags[i].Format = Zarr3
		}
		c.onDisk(t)
		if err := Write(t.Context(), c.src, c.Layer); err != nil {
			t.Fatal(err)
		}
		all[i] = filesBelow(t, filepath.Join(c.Temp, "1", "c"))
	}
	if len(all[0]) != 8 || !maps.EqualFunc(all[0], all[1], bytes.Equal) {
		t.Errorf("%d shards, or other bytes", len(all[0]))
	}
}

// filesBelow returns the content of all files below a directory.
func filesBelow(t *testing.T, dir string) map[string][]byte {
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// onDisk moves the mags of a case from memory to the disk of temporary files.
func (c *layerCase) onDisk(t *testing.T) {
	dir := t.TempDir()
	for i, m := range c.Mags {
		c.Mags[i].Dir = filepath.Join(dir, m.Factor.String())
		if err := os.CopyFS(c.Mags[i].Dir, os.DirFS(m.Dir)); err != nil {
			t.Fatal(err)
		}
	}
	c.Temp = dir
	if !writesDirectly(dir) {
		t.Log("the file system of temporary files is written through the page cache")
	}
}

// TestWritesDirectly: mags with large groups, or with large cubes that are compressed, are written past the page cache
// if there is memory for it.
func TestWritesDirectly(t *testing.T) {
	dir := t.TempDir()
	possible := writesDirectly(dir) // elsewhere no mag may be
	tall := box(0, 0, 0, 100, 100, 100)
	for _, test := range []struct {
		name   string
		header wkw.Header
		box    volume.Box
		memory int64
		under  bool
		want   bool
	}{
		{"large groups", header(32, 8, wkw.Raw, volume.Uint8), tall, 128 << 20, false, true},
		{"compressed", header(32, 8, wkw.LZ4, volume.Uint8), tall, 256 << 20, false, true},
		{"compressed, small cubes", header(32, 4, wkw.LZ4, volume.Uint8), tall, 256 << 20, false, false},
		{"compressed, little memory", header(32, 8, wkw.LZ4, volume.Uint8), tall, 255 << 20, false, false},
		{"compressed cubes that change", header(32, 8, wkw.LZ4, volume.Uint8), tall, 256 << 20, true, false},
		{"flat", header(32, 8, wkw.Raw, volume.Uint8), box(0, 0, 0, 100, 100, 32), 128 << 20, false, false},
		{"little memory", header(32, 8, wkw.Raw, volume.Uint8), tall, 32 << 20, false, false},
		{"large blocks", header(128, 2, wkw.Raw, volume.Uint32), tall, 128 << 20, false, false},
		{"cubes that change", header(32, 8, wkw.Raw, volume.Uint16), tall, 128 << 20, true, false},
	} {
		m := Mag{Factor: volume.Factor{1, 1, 1}, Dir: dir, Header: test.header}
		if test.under {
			m.Under = underMag{}
		}
		w := &writer{layer: Layer{Box: test.box, Mags: []Mag{m}, Memory: test.memory, Jobs: 2, Temp: dir}}
		if err := w.plan(); err != nil {
			t.Fatal(err)
		}
		want := test.want && possible
		if got := w.mags[0].direct; got != want || (w.disk != nil) != want {
			t.Errorf("%s: %v, want %v", test.name, got, want)
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// underMag is a mag that exists.
type underMag struct{ volume.Mag }
