package diskcache

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// flipBit flips a bit of a file.
func flipBit(t testing.TB, path string, bit int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], bit/8); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << (bit % 8)
	if _, err := f.WriteAt(b[:], bit/8); err != nil {
		t.Fatal(err)
	}
}

// TestFlippedBits flips bits in every region of a piece: a read returns the right bytes, asks the source only for what
// is damaged, and mends the file.
func TestFlippedBits(t *testing.T) {
	const pages = 20
	o := object.Object{Key: "k", Size: pages*pageSize - 100, Version: "1"}
	dir, fake := t.TempDir(), newFakeBucket(o)
	c := openCache(t, dir, Options{})
	check(t, c.Bucket(fake), o, 0, o.Size)
	c = flush(t, c, dir)
	file := pieceFiles(t, dir)[0]
	end := int64(dataOffset + o.Size)
	var bits []int64 // in the order of their places, so that each region has some
	for at := int64(0); at < headerSize; at++ {
		bits = append(bits, at*8+at%8)
	}
	for at := int64(sumsOffset); at < sumsOffset+4*pages; at++ {
		bits = append(bits, at*8+at%8)
	}
	for at := int64(dataOffset); at < end; at += pageSize / 3 {
		bits = append(bits, at*8+at%8)
	}
	bits = append(bits, end*8-1)
	for _, bit := range bits {
		fake.taken()
		flipBit(t, file, bit)
		for range 2 { // with a piece that is opened, and then one that is open
			check(t, c.Bucket(fake), o, 0, o.Size)
			c = flush(t, c, dir)
		}
		reads := fake.taken()
		if len(reads) != 1 || bit/8 >= sumsOffset && reads[0].to-reads[0].from > unitSize {
			t.Errorf("bit %d of byte %d: requests %v, want one for what is damaged", bit%8, bit/8, reads)
		}
	}
}

// TestDamageIsReported checks that damage while a piece is open is found, counted and logged once.
func TestDamageIsReported(t *testing.T) {
	o := object.Object{Key: "k", Size: 10 * unitSize, Version: "1"}
	dir, fake := t.TempDir(), newFakeBucket(o)
	var log lockedBuffer
	c := openCache(t, dir, Options{Log: logTo(&log)})
	check(t, c.Bucket(fake), o, 0, o.Size)
	c = flush(t, c, dir)
	check(t, c.Bucket(fake), o, 0, o.Size)
	for _, n := range []int64{3, 5} {
		flipBit(t, pieceFiles(t, dir)[0], 8*(dataOffset+n*unitSize))
	}
	check(t, c.Bucket(fake), o, 0, o.Size)
	if s := c.Stats(); s.Damaged != 2 || s.Misses != 1 {
		t.Errorf("%+v", s)
	}
	if n := strings.Count(log.String(), "damaged"); n != 1 {
		t.Errorf("%d lines of the log, want 1:\n%s", n, log.String())
	}
}

// TestWrongFiles puts other files in the place of a piece: a short one, a long one, that of another piece, a directory,
// a link.
func TestWrongFiles(t *testing.T) {
	objects := []object.Object{{Key: "a", Size: 3 * unitSize, Version: "1"},
		{Key: "b", Size: 3 * unitSize, Version: "1"}}
	for _, name := range []string{"empty", "short", "first page", "other", "random", "directory", "link", "removed"} {
		t.Run(name, func(t *testing.T) {
			dir, fake := t.TempDir(), newFakeBucket(objects...)
			c := openCache(t, dir, Options{})
			var files []string
			for _, o := range objects {
				check(t, c.Bucket(fake), o, 0, o.Size)
				c = flush(t, c, dir)
				files = pieceFiles(t, dir)
			}
			replaceBy(t, name, files[0], files[1])
			for range 2 {
				for _, o := range objects {
					check(t, c.Bucket(fake), o, 0, o.Size)
				}
				c = flush(t, c, dir)
			}
		})
	}
}

// replaceBy replaces a file by something else.
func replaceBy(t *testing.T, what, path, other string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) error { return os.WriteFile(path, b, 0o600) }
	switch what {
	case "empty":
		err = write(nil)
	case "short":
		err = write(content[:headerSize+3])
	case "first page":
		err = write(content[:pageSize])
	case "other":
		err = write(foreign)
	case "random":
		r := rand.New(rand.NewPCG(1, 2))
		for i := range content {
			content[i] = byte(r.Uint32())
		}
		err = write(content)
	case "directory":
		err = os.Mkdir(path, 0o700)
	case "link":
		err = os.Symlink(other, path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzPiece puts any bytes in the place of the first bytes of a piece: no read returns wrong bytes.
func FuzzPiece(f *testing.F) {
	o := object.Object{Key: "k", Size: 3*pageSize + 5, Version: "1"}
	id := identify(fakeURL, "", o)
	good := make([]byte, pageSize, dataOffset+o.Size)
	header{pieceID{id, 0}, o.Size}.append(good[:0])
	f.Add(good[:headerSize], []byte{1, 2, 3, 4}, []byte("data"))
	f.Add([]byte(magic), []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, head, sumBytes, data []byte) {
		dir := t.TempDir()
		c, err := Open(dir, Options{Size: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		path := c.dir + "/" + pieceID{id, 0}.path()
		content := make([]byte, int64(dataOffset)+o.Size)
		copy(content, good)
		copy(content, head)
		copy(content[sumsOffset:pageSize], sumBytes)
		contentOf(o, content[dataOffset:], 0)
		copy(content[dataOffset:], data)
		if err := os.MkdirAll(path[:strings.LastIndex(path, "/")], 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		check(t, c.Bucket(newFakeBucket(o)), o, 0, o.Size)
	})
}

// TestPieceNames checks which files an eviction may remove.
func TestPieceNames(t *testing.T) {
	id := pieceID{identify(fakeURL, "", object.Object{Key: "k"}), 0x1f}
	dir, name, _ := strings.Cut(id.path(), "/")
	for _, test := range []struct {
		dir, name string
		want      bool
	}{
		{dir, name, true},
		{"zz", name, false},
		{dir, name + "x", false},
		{dir, strings.ToUpper(name), false},
		{dir, name[:len(name)-3], false},
		{dir, "", false},
		{dir, "holiday.jpg", false},
		{dir, fmt.Sprintf("%s--1", strings.Split(name, "-")[0]), false},
	} {
		if got := isPieceName(test.dir, test.name); got != test.want {
			t.Errorf("%s/%s: %v, want %v", test.dir, test.name, got, test.want)
		}
	}
}
