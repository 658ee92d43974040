//go:build clients

package hdf5

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// repackings are what h5repack is asked for. A filter or a layout that a dataset cannot have is left out by it.
var repackings = []struct {
	name, options string
	integers      bool // floats are rounded
	fewest        int  // datasets
}{
	{"latest", "-L", false, 300},
	{"earliest", "--low=0 --high=1", false, 300},
	{"contiguous", "-l CONTI -f NONE", false, 300},
	{"compact", "-L -l COMPA -f NONE", false, 300},
	{"deflate, fixed array", "-L -l CHUNK=3x4x5 -f GZIP=1", false, 300},
	{"deflate, B-tree 1", "--low=0 --high=1 -l CHUNK=4x3x7 -f SHUF -f GZIP=9", false, 300},
	{"fletcher32", "-L -l CHUNK=5x5x5 -f FLET", false, 300},
	{"shuffle, fletcher32", "-l CHUNK=5x5x5 -f SHUF -f FLET", false, 300},
	{"n-bit", "-L -l CHUNK=3x4x5 -f NBIT", false, 300},
	{"scale-offset", "-l CHUNK=3x4x5 -f SOFF=0,IN", true, 200},
	{"scale-offset, deflate", "-L -l CHUNK=8x8x8 -f SOFF=0,IN -f GZIP=1", true, 200},
	{"pages", "-L -S PAGE -G 4096", false, 300},
	{"single chunks", "-L -l CHUNK=100x100x100", false, 300},
}

// TestClientHDF5Repack lets h5repack write every file with other layouts, filters and versions, and compares all
// values and attributes.
func TestClientHDF5Repack(t *testing.T) {
	if _, err := exec.LookPath("h5repack"); err != nil {
		t.Fatal(err)
	}
	files := repackable(t)
	for _, r := range repackings {
		t.Run(r.name, func(t *testing.T) {
			n := 0
			for _, path := range files {
				n += repack(t, path, strings.Fields(r.options), r.integers)
			}
			t.Logf("%d datasets", n)
			if len(files) > 20 && n < r.fewest {
				t.Errorf("%d datasets were compared, expected %d or more", n, r.fewest)
			}
		})
	}
}

// repackable returns the sound files.
func repackable(t *testing.T) []string {
	files, err := filepath.Glob("testdata/*.h5")
	if err != nil {
		t.Fatal(err)
	}
	if dir, ok := refdata.Path("hdf5"); ok {
		for _, pattern := range []string{"*.h5", "*.hdf", "*.ims", "*.mat", "*.nc", "*.hdf5", "bases/*.h5"} {
			more, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, more...)
		}
	}
	return slices.DeleteFunc(files, func(path string) bool {
		// h5repack writes dataspaces that it does not read itself
		return strings.HasPrefix(filepath.Base(path), "sizes")
	})
}

// repack compares a file with what h5repack makes of it, and returns how many datasets it compared. Files that
// h5repack does not read have none.
func repack(t *testing.T, path string, options []string, integers bool) int {
	out := filepath.Join(t.TempDir(), "out.h5")
	if err := exec.Command("h5repack", append(options, path, out)...).Run(); err != nil {
		t.Logf("%s: %v", filepath.Base(path), err)
		return 0
	}
	defer os.Remove(out)
	f, err := openFile(t, path)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return 0
	}
	again, err := openFile(t, out)
	if err != nil {
		t.Errorf("%s with %v: %v", path, options, err)
		return 0
	}
	n := 0
	for name, want := range contents(t, f) {
		if name == "/never" || name == "/null" {
			continue // h5repack writes memory that it never read for the one, and a value for the other
		}
		o, err := again.Lookup(name)
		if _, left := err.(*NotFoundError); left {
			continue // h5repack leaves out what needs a plugin
		}
		if err != nil {
			t.Errorf("%s with %v: %v", path, options, err)
			continue
		}
		d, ok := o.(*Dataset)
		if ok && integers && d.datatype.Class != ClassInteger {
			continue
		}
		if got := describe(o); got != want {
			t.Errorf("%s with %v: %s is\n%s, expected\n%s", path, options, name, got, want)
		}
		if ok {
			n++
		}
	}
	return n
}

// contents describes all objects of a file by their paths.
func contents(t *testing.T, f *File) map[string]string {
	t.Helper()
	root, err := f.Root()
	if err != nil {
		t.Fatal(err)
	}
	all, seen := map[string]string{}, map[uint64]bool{}
	var walk func(o Object)
	walk = func(o Object) {
		if seen[o.Address()] {
			return
		}
		seen[o.Address()] = true
		if s := describe(o); s != "" {
			all[o.Path()] = s
		}
		g, ok := o.(*Group)
		if !ok {
			return
		}
		names, err := g.Names()
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			if child, err := g.Lookup(name); err == nil {
				walk(child)
			}
		}
	}
	walk(root)
	return all
}

// describe returns the values and attributes of an object, or "" for a dataset whose values are not read.
func describe(o Object) string {
	var lines []string // the order of attributes does not matter
	if d, ok := o.(*Dataset); ok {
		b, err := d.ReadAll(1 << 26)
		switch d.datatype.Class {
		case ClassVariable, ClassReference, ClassCompound, ClassArray: // they have addresses, or padding
			return ""
		}
		if err != nil {
			return ""
		}
		lines = append(lines, fmt.Sprintf("%v %v, fill % x: %s", d.datatype.Class, d.Shape(), d.FillValue(),
			hashOf(plain(d, b))))
	}
	all, err := o.Attributes()
	for _, a := range all {
		if a.Type.Class == ClassReference || a.Type.Class == ClassCompound || a.scalar().Class == ClassVariable &&
			!a.scalar().IsString {
			continue
		}
		ints, _ := a.Ints()
		floats, _ := a.Floats()
		strings, _ := a.Strings()
		lines = append(lines, fmt.Sprintf("%s %v %v: %v %v %q", a.Name, a.Type.Class, a.Shape, ints, floats, strings))
	}
	if err != nil {
		lines = append(lines, err.Error())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
