package webknossos

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// sparseMag is a mag with files and directories that occur in real mags.
var sparseMag = entries{
	"color/1/header.wkw":               soundHeader,
	"color/1/z0/y0/x0.wkw":             soundCube,
	"color/1/z0/y0/x2.wkw":             soundCube,
	"color/1/z0/y0/x10.wkw":            soundCube,
	"color/1/z48/y5444/x5748.wkw":      soundCube,
	"color/1/z1099511627776/y0/x0.wkw": soundCube,
	"color/1/z2/y3/x4.wkw":             link("../../z0/y0/x0.wkw"),
	"color/1/z3":                       link("z0"),

	// Not cubes.
	"color/1/z0/y0/x0.wkw_tmp":         soundCube,
	"color/1/z0/y0/x1.wkw.tmp":         soundCube,
	"color/1/z0/y0/x00.wkw":            soundCube,
	"color/1/z0/y0/x-1.wkw":            soundCube,
	"color/1/z0/y0/x+1.wkw":            soundCube,
	"color/1/z0/y0/X5.wkw":             soundCube,
	"color/1/z0/y0/y5.wkw":             soundCube,
	"color/1/z0/y0/x6":                 soundCube,
	"color/1/z0/y0/.wkw":               soundCube,
	"color/1/z0/y0/x1099511627777.wkw": soundCube,
	"color/1/z0/y01/x0.wkw":            soundCube,
	"color/1/z1.5/y0/x0.wkw":           soundCube,
	"color/1/z-1/y0/x0.wkw":            soundCube,
	"color/1/z/y0/x0.wkw":              soundCube,
	"color/1/x0.wkw":                   soundCube,

	// Cubes that exist and cannot be read.
	"color/1/z9/y0/x0.wkw": badCube,
	"color/1/z9/y0/x1.wkw": otherCube,
	"color/1/z9/y0/x2.wkw": link("nowhere"),
	"color/1/z9/y0/x3.wkw": link("/nowhere"),
	"color/1/z9/y0/x4.wkw": link("x4.wkw"),
	"color/1/z9/y0/x7.wkw": folder{},
	"color/1/z9/y0/x8.wkw": fifo{},
	"color/1/z9/y0/x9.wkw": link("x7.wkw"),
	"color/1/z9/y1":        "a file",
	"color/1/z9/y7":        link("../../../../elsewhere"),
	"color/1/z10":          link("../../../elsewhere"),
	"color/1/z6":           fifo{},
	"color/1/z7":           link("z6"),
	"color/1/z8":           "a file",
}

func TestCubes(t *testing.T) {
	var w warnings
	m := magOf(source(t, sparseMag), nil, &w)
	for _, c := range []struct {
		at   []int
		want []int // nil if there is no such level
	}{
		{nil, []int{0, 2, 3, 6, 7, 8, 9, 10, 48, 1 << 40}},
		{[]int{0}, []int{0}},
		{[]int{0, 0}, []int{0, 2, 10}},
		{[]int{3, 0}, []int{0, 2, 10}},
		{[]int{2}, []int{3}},
		{[]int{2, 3}, []int{4}},
		{[]int{48}, []int{5444}},
		{[]int{48, 5444}, []int{5748}},
		{[]int{1 << 40, 0}, []int{0}},
		{[]int{9}, []int{0, 1, 7}},
		{[]int{9, 0}, []int{0, 1, 2, 3, 4, 7, 8, 9}},
		{[]int{1}, nil},
		{[]int{0, 5}, nil},
	} {
		got, err := m.Cubes(c.at...)
		if c.want == nil {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v: got %v, %v, expected that there is no such level", c.at, got, err)
			}
		} else if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, %v, expected %v", c.at, got, err, c.want)
		}
	}
}

// TestWrongKinds shows that an entry of the wrong kind is listed, and is an error that names it, as is everything below
// it. FIFOs are not opened, not even by an os.DirFS.
func TestWrongKinds(t *testing.T) {
	for _, c := range []struct {
		in   entries
		want string
	}{
		{entries{"color/1/z1": "a file"}, "color/1/z1: expected a directory, found a regular file"},
		{entries{"color/1/z1": fifo{}}, "color/1/z1: expected a directory, found a FIFO"},
		{entries{"color/1/z1": link("header.wkw")}, "color/1/z1: expected a directory, found a regular file"},
		{entries{"color/1/z1/y1": "a file"}, "color/1/z1/y1: expected a directory, found a regular file"},
		{entries{"color/1/z1/y1": fifo{}}, "color/1/z1/y1: expected a directory, found a FIFO"},
		{entries{"color/1/z1/y1": link("f"), "color/1/z1/f": fifo{}},
			"color/1/z1/y1: expected a directory, found a FIFO"},
		{entries{"color/1/z1/y1/x1.wkw": folder{}}, "color/1/z1/y1/x1.wkw: expected a regular file, found a directory"},
		{entries{"color/1/z1/y1/x1.wkw": fifo{}}, "color/1/z1/y1/x1.wkw: expected a regular file, found a FIFO"},
		{entries{"color/1/z1/y1/x1.wkw": link("f"), "color/1/z1/y1/f": fifo{}},
			"color/1/z1/y1/x1.wkw: expected a regular file, found a FIFO"},
	} {
		dir := sourceDir(t, c.in, entries{"color/1/header.wkw": soundHeader, "color/1/z0/y0/x0.wkw": soundCube})
		for _, fsys := range []fs.FS{openDir(t, dir), os.DirFS(dir)} {
			var w warnings
			m := magOf(fsys, nil, &w)
			wantKind := func(call string, err error) {
				t.Helper()
				if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s of %T: got %v, expected %s", call, fsys, err, c.want)
				}
			}
			_, err := m.StatCubes(1, 1, 1)
			wantKind("StatCubes", err)
			_, err = describeAll(m, 1, 1)
			wantKind("DescribeCubes", err)
			cubes, err := listAll(m)
			if !slices.Equal(cubes, []volume.Vec{{}, {1, 1, 1}}) { // only a cube of the wrong kind can be listed
				wantKind("AllCubes", err)
			}
			if _, err := m.OpenCube(volume.Vec{1, 1, 1}); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("OpenCube of %T: got %v, expected %s", fsys, err, c.want)
			}
		}
	}
}

// describeAll describes all cubes below a level. It returns the first error, of a level or of an entry.
func describeAll(m *mag, zy ...int) (found []volume.CubeEntry, failed error) {
	for level := range len(zy) + 1 {
		for entries, err := range m.describeCubes(zy[:level]...) {
			failed = cmp.Or(failed, err)
			for _, e := range entries {
				failed = cmp.Or(failed, e.Err)
				found = append(found, e)
			}
		}
	}
	return found, failed
}

// listAll lists all cubes. It returns the first error.
func listAll(m *mag) (found []volume.Vec, failed error) {
	for at, err := range volume.AllCubes(m) {
		if failed = cmp.Or(failed, err); err == nil {
			found = append(found, at)
		}
	}
	return found, failed
}

// TestMagOfWrongKinds shows that a mag exists if any of its files does, of whatever kind.
func TestMagOfWrongKinds(t *testing.T) {
	for _, c := range []struct {
		in   entries
		want bool
	}{
		{entries{"1/header.wkw": fifo{}}, true},
		{entries{"1/header.wkw": folder{}}, true},
		{entries{"1/header.wkw": link("gone")}, true},
		{entries{"1/z0": "a file"}, true},
		{entries{"1/z0/y0": fifo{}}, true},
		{entries{"1/z0/y0/x0.wkw": fifo{}}, true},
		{entries{"1/z0/y0/x0.wkw": folder{}}, true},
		{entries{"1/z0": link("gone")}, true},
		{entries{"1/z0/y0": folder{}}, false},
		{entries{"1/other": fifo{}}, false},
		{entries{"1": fifo{}}, false},
	} {
		dir := sourceDir(t, c.in)
		for _, fsys := range []fs.FS{openDir(t, dir), os.DirFS(dir)} {
			if got := isMag(fsys, "1"); got != c.want {
				t.Errorf("%v in %T: got %v", c.in, fsys, got)
			}
		}
	}
}

// TestBrokenLinks shows that cubes below broken links are errors, and not absent.
func TestBrokenLinks(t *testing.T) {
	for _, in := range []entries{
		{"color/1/z0": link("gone")},
		{"color/1/z0/y0": link("../../gone")},
		{"color/1/z0/y0/x0.wkw": link("gone")},
		{"color/1/z0": link("z1"), "color/1/z1/y0": link("gone")},
	} {
		var w warnings
		m := magOf(source(t, in, entries{"color/1/header.wkw": soundHeader}), nil, &w)
		if _, err := m.OpenCube(volume.Vec{}); err == nil ||
			!strings.Contains(err.Error(), "a symbolic link that leads nowhere") || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: got %v", in, err)
		}
		if _, err := m.StatCubes(0, 0, 0); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: got %v", in, err)
		}
		if zs, err := m.Cubes(); err != nil || !slices.Contains(zs, 0) {
			t.Errorf("%v: got %v, %v: a cube that cannot be read is not listed", in, zs, err)
		}
	}
}

func TestStatCubes(t *testing.T) {
	var w warnings
	m := magOf(source(t, sparseMag), nil, &w)
	for _, c := range []struct {
		at  []int
		dir bool
		ok  bool
	}{
		{[]int{}, true, true},
		{[]int{0}, true, true},
		{[]int{3}, true, true},
		{[]int{0, 0}, true, true},
		{[]int{0, 0, 0}, false, true},
		{[]int{2, 3, 4}, false, true},
		{[]int{9, 0, 0}, false, true}, // damaged, but not opened
		{[]int{1}, true, false},
		{[]int{0, 1}, true, false},
		{[]int{0, 0, 1}, false, false},
	} {
		info, err := m.StatCubes(c.at...)
		switch {
		case c.ok && (err != nil || info.IsDir() != c.dir):
			t.Errorf("%v: got %v, %v", c.at, info, err)
		case !c.ok && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("%v: got %v, expected that there is none", c.at, err)
		}
	}
}
