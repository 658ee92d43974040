package nfs

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
	"time"
)

// notes records what an Observer is called with.
type notes struct{ all []string }

func (n *notes) Read(path string, off int64, size int, took time.Duration) {
	n.all = append(n.all, fmt.Sprint("read ", path, " ", off, " ", size, " ", took > 0))
}

func (n *notes) Failed(op, path string, err error) { n.all = append(n.all, fmt.Sprint(op, " ", path)) }

// unreadable is a file system whose files cannot be read.
type unreadable struct{ fs.FS }

type unreadableFile struct{ fs.File }

func (unreadableFile) ReadAt([]byte, int64) (int, error) { return 0, fmt.Errorf("block 3: bad") }

func (u unreadable) Open(name string) (fs.File, error) {
	f, err := u.FS.Open(name)
	return unreadableFile{f}, err
}

// TestObserver: an observer sees reads, and the errors of the file system but not those of clients.
func TestObserver(t *testing.T) {
	seen := new(notes)
	files := fstest.MapFS{"f": {Data: []byte("0123456789"), Mode: 0o444}}
	c := connectTo(t, New(files, Options{Observer: seen}))
	h := c.find("f")
	c.read(h, 2, 5)
	c.read(h, 8, 100)
	c.read(h, 10, 1) // after the end, without the file system
	_, root := c.mount("/")
	c.lookup(root, "") // of no file system
	c.lookup(root, "absent")
	if want := []string{"read f 2 5 true", "read f 8 2 true", "lookup absent"}; !slices.Equal(seen.all, want) {
		t.Errorf("got %q, expected %q", seen.all, want)
	}
	*seen = notes{}
	c = connectTo(t, New(unreadable{files}, Options{Observer: seen}))
	c.read(c.find("f"), 0, 4)
	if want := []string{"read f 0 0 true", "read f"}; !slices.Equal(seen.all, want) {
		t.Errorf("got %q, expected %q", seen.all, want)
	}
}
