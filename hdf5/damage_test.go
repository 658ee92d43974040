package hdf5

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// walkFile reads everything of a file: names, attributes and values. It returns the number of objects and of
// errors. All errors must be of this package.
func walkFile(t testing.TB, b []byte) (objects, failed int) {
	w := walkAll(t, b)
	return len(w.seen), len(w.failed)
}

func walkAll(t testing.TB, b []byte) *walker {
	t.Helper()
	w := &walker{t: t, seen: map[uint64]bool{}}
	f, err := openBytes(b)
	if !w.check(err) {
		return w
	}
	f.limit.headerBytes, f.limit.chunkBytes = 1<<20, 1<<20 // a fuzzer may ask for them again and again
	root, err := f.Root()
	if w.check(err) {
		w.walk(root)
	}
	return w
}

type walker struct {
	t      testing.TB
	seen   map[uint64]bool
	failed []string
}

// check reports whether there is no error. An error must be one of the package's.
func (w *walker) check(err error) bool {
	if err == nil {
		return true
	}
	w.failed = append(w.failed, err.Error())
	var format *FormatError
	var unsupported *NotSupportedError
	var missing *NotFoundError
	if !errors.As(err, &format) && !errors.As(err, &unsupported) && !errors.As(err, &missing) {
		w.t.Errorf("error %v (%T)", err, err)
	}
	if err.Error() == "" || len(err.Error()) > 10000 {
		w.t.Errorf("an error of %d bytes", len(err.Error()))
	}
	return false
}

func (w *walker) walk(o Object) {
	if w.seen[o.Address()] || len(w.seen) > 200 {
		return
	}
	w.seen[o.Address()] = true
	w.attributes(o)
	switch o := o.(type) {
	case *Group:
		names, err := o.Names()
		w.check(err)
		for _, name := range names {
			child, err := o.Lookup(name)
			if w.check(err) {
				w.walk(child)
			}
		}
	case *Dataset:
		w.dataset(o, 1<<20)
	}
}

// dataset reads the values of a dataset, and looks some chunks up.
func (w *walker) dataset(d *Dataset, limit int64) {
	b, err := d.ReadAll(limit)
	if w.check(err) && uint64(len(b)) != d.space.elements*uint64(d.datatype.Size) {
		w.t.Errorf("%d bytes of %v", len(b), d)
	}
	d.Contiguous()
	if d.Layout() != Chunked {
		return
	}
	x, err := d.Chunks()
	if !w.check(err) {
		return
	}
	scaled := make([]uint64, len(x.grid))
	for k := range uint64(4) {
		for axis, n := range x.grid {
			scaled[axis] = n * k / 4
		}
		_, _, err := x.Lookup(scaled)
		w.check(err)
	}
}

func (w *walker) attributes(o Object) {
	all, err := o.Attributes()
	w.check(err)
	for _, a := range all {
		_, err := a.Ints()
		w.check(err)
		_, err = a.Floats()
		w.check(err)
		_, err = a.Strings()
		w.check(err)
		_, err = a.References()
		w.check(err)
	}
}

// TestEveryByte changes every byte of small files. Nothing may panic or take long.
func TestEveryByte(t *testing.T) {
	for _, name := range []string{"earliest.h5", "latest.h5", "filters.h5"} {
		sound := small(t, name)
		objects, failed := walkFile(t, sound)
		if objects < 4 {
			t.Fatalf("%s: %d objects", name, objects)
		}
		seen, least := 0, 50
		step := 1
		if name != "earliest.h5" {
			step = 13
		}
		if testing.Short() { // a read starts no goroutine of its own
			step, least = step*5, least/5
		}
		for i := 0; i < len(sound); i += step {
			damaged := bytes.Clone(sound)
			damaged[i] ^= 0xff
			if n, more := walkFile(t, damaged); n != objects || more != failed {
				seen++
			}
		}
		if seen < least {
			t.Errorf("%s: %d changes are seen", name, seen)
		}
	}
}

// TestCut cuts small files at many bytes.
func TestCut(t *testing.T) {
	for _, name := range []string{"earliest.h5", "latest.h5", "filters.h5"} {
		b := small(t, name)
		for n := 0; n < len(b); n += 7 {
			walkFile(t, b[:n:n])
		}
	}
}

// TestChecksums changes every byte of a sealed structure: the change is seen.
func TestChecksums(t *testing.T) {
	sound := small(t, "latest.h5")
	for _, signature := range []string{"OHDR", "FAHD", "FADB", "EAHD", "EAIB", "BTHD", "BTLF", "FRHP", "FHDB"} {
		at := bytes.Index(sound, []byte(signature))
		if at < 0 {
			t.Errorf("there is no %s", signature)
			continue
		}
		damaged := bytes.Clone(sound)
		damaged[at+7] ^= 1
		if slices.Equal(walkAll(t, damaged).failed, walkAll(t, sound).failed) {
			t.Errorf("%s: a change is not seen", signature)
		}
	}
}

// failingReader fails after some reads.
type failingReader struct {
	io.ReaderAt
	left int
}

var errTransport = errors.New("the network is gone")

func (r *failingReader) ReadAt(b []byte, off int64) (int, error) {
	if r.left--; r.left < 0 {
		return 0, errTransport
	}
	return r.ReaderAt.ReadAt(b, off)
}

// TestReadErrors checks that an error of the reader is returned, and not taken for damage.
func TestReadErrors(t *testing.T) {
	b := small(t, "latest.h5")
	for n := range 3 {
		f, err := Open(&failingReader{bytes.NewReader(b), n}, int64(len(b)))
		if err == nil {
			var o Object
			if o, err = f.Lookup("tree"); err == nil {
				_, err = o.(*Dataset).ReadAll(1 << 20)
			}
		}
		if !errors.Is(err, errTransport) || isFormat(err) {
			t.Errorf("after %d reads: error %v", n, err)
		}
	}
}

// TestLimits shrinks limits. What is above them is refused by name.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		path   string
		shrink func(*limits)
		err    string
	}{
		{"tree", func(l *limits) { l.chunkBytes = 10 }, "a chunk of 16 bytes"},
		{"many/link0", func(l *limits) { l.names = 10 }, "a group of more than 10 links"},
		{"many/link0", func(l *limits) { l.links = 0 }, "a loop"},
		{"fixed", func(l *limits) { l.headerBytes = 10 }, "a header of at most 10"},
		{"fixed", func(l *limits) { l.messages = 1 }, "at most 1"},
	} {
		f := mustOpen(t, "latest.h5")
		c.shrink(&f.limit)
		o, err := f.Lookup(c.path)
		if err == nil {
			_, err = o.(*Dataset).Chunks()
		}
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, expected %q", c.path, err, c.err)
		}
	}
}
