package wkw

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/store"
	"github.com/wkwfs/wkwfs/volume"
)

// What lies in a source that tests make: files by their content, and these.
type (
	content []byte
	link    string // to where
	folder  struct{}
	fifo    struct{}
)

// entries says what lies where in a source.
type entries map[string]any

// smallCube is what all cubes in these sources are like: one block of 2³ voxels.
var smallCube = cubeOf(volume.Uint8, 1, 2, 1)

var (
	soundCube   = content(rawCube(smallCube, HeaderSize))
	otherCube   = content(rawCube(cubeOf(volume.Uint16, 1, 4, 2), HeaderSize))
	badCube     = content("not a cube at all")
	soundHeader = content(header(0x01, 1, 1, 1, 0))
)

// source makes the entries in a new directory and opens it.
func source(t *testing.T, all ...entries) fs.FS {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "source")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, some := range all {
		for name, what := range some {
			if err := place(filepath.Join(dir, name), what); err != nil {
				t.Fatal(err)
			}
		}
	}
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func place(path string, what any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch what := what.(type) {
	case content:
		return os.WriteFile(path, what, 0o644)
	case string:
		return os.WriteFile(path, []byte(what), 0o644)
	case link:
		return os.Symlink(string(what), path)
	case fifo:
		return syscall.Mkfifo(path, 0o644)
	case folder:
		return os.MkdirAll(path, 0o755)
	}
	return fmt.Errorf("%s: cannot place a %T", path, what)
}

// warnings collects what is logged, one line each.
type warnings struct{ bytes.Buffer }

func (w *warnings) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func (w *warnings) lines() []string {
	return slices.Collect(strings.Lines(w.String()))
}

// magOf opens the directory "color/1" of the source as a mag.
func magOf(fsys fs.FS, props *LayerProperties, w *warnings) *mag {
	return newMag(fsys, "color/1", volume.Factor{1, 1, 1}, props, Scale{4, 4, 40}, w.logger())
}

func TestGeometry(t *testing.T) {
	withOffset := content(header(0x01, 1, 1, 1, 16))
	for _, c := range []struct {
		what    string
		in      entries
		warning string // part of it; "" where there is none
		err     string // part of it
	}{
		{what: "header.wkw", in: entries{"color/1/header.wkw": soundHeader}},
		{what: "header.wkw with a dataOffset", in: entries{"color/1/header.wkw": withOffset}},
		{what: "header.wkw and more after it", in: entries{"color/1/header.wkw": append(slices.Clip(soundHeader), "more"...)}},
		{
			what:    "no header.wkw",
			in:      entries{"color/1/z5/y6/x7.wkw": soundCube},
			warning: "cube=color/1/z5/y6/x7.wkw",
		},
		{
			what:    "header.wkw is damaged",
			in:      entries{"color/1/header.wkw": "WKX.............", "color/1/z0/y0/x0.wkw": soundCube},
			warning: `magic at byte 0`,
		},
		{
			what:    "header.wkw is cut off",
			in:      entries{"color/1/header.wkw": soundHeader[:9], "color/1/z0/y0/x0.wkw": soundCube},
			warning: "expected 16 bytes, found 9",
		},
		{
			what:    "header.wkw is a directory",
			in:      entries{"color/1/header.wkw": folder{}, "color/1/z0/y0/x0.wkw": soundCube},
			warning: "is a directory",
		},
		{
			what:    "header.wkw is a FIFO",
			in:      entries{"color/1/header.wkw": fifo{}, "color/1/z0/y0/x0.wkw": soundCube},
			warning: "neither a regular file nor a directory",
		},
		{
			what: "the first cubes are damaged",
			in: entries{
				"color/1/z0/y0/x0.wkw": badCube, "color/1/z0/y0/x1.wkw": content(nil), "color/1/z0/y1/x0.wkw": link("nowhere"),
				"color/1/z0/y2/x0.wkw": fifo{}, "color/1/z0/y3": fifo{}, "color/1/z1": folder{}, "color/1/z2": "a file",
				"color/1/z3/y3/x3.wkw": soundCube,
			},
			warning: "cube=color/1/z3/y3/x3.wkw",
		},
		{
			what: "no header.wkw and only damaged cubes",
			in:   entries{"color/1/z0/y0/x0.wkw": badCube, "color/1/z0/y0/x1.wkw": content(nil)},
			err:  `header.wkw: no such file or directory; nor does a cube tell the geometry: color/1/z0/y0/x0.wkw: magic at byte 0: expected "WKW", found "not"`,
		},
		{
			what: "header.wkw damaged and no cubes",
			in:   entries{"color/1/header.wkw": "?"},
			err:  "color/1/header.wkw: header at byte 0: expected 16 bytes, found 1; nor does a cube tell the geometry: there is none",
		},
		{
			what: "another version",
			in:   entries{"color/1/header.wkw": "WKW\x02............"},
			err:  "unsupported version at byte 3: expected 1, found 2",
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			var w warnings
			m := magOf(source(t, c.in), nil, &w)
			want := smallCube.Grid()
			want.Spacing = [3]float64{4, 4, 40}
			for range 2 { // the second time says the same and warns no more
				g, err := m.CubeGrid()
				switch {
				case c.err == "" && (err != nil || g != want):
					t.Fatalf("got %+v, %v, expected %+v", g, err, want)
				case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
					t.Fatalf("got %v, expected %s", err, c.err)
				case errors.Is(err, fs.ErrNotExist):
					t.Fatalf("%v: passes for a cube that was never written", err)
				}
				m.checked = m.checked.Add(-2 * recheck)
			}
			lines := w.lines()
			if c.warning == "" && len(lines) > 0 || c.warning != "" && (len(lines) != 1 || !strings.Contains(lines[0], c.warning)) {
				t.Errorf("got the warnings %q, expected one with %q", lines, c.warning)
			}
		})
	}
}

// TestGeometryChanges replaces header.wkw: the next look, not sooner than a second
// after the last, sees it.
func TestGeometryChanges(t *testing.T) {
	var w warnings
	dir := t.TempDir()
	name := filepath.Join(dir, "color/1/header.wkw")
	if err := place(name, soundHeader); err != nil {
		t.Fatal(err)
	}
	m := magOf(os.DirFS(dir), nil, &w)
	side := func() int {
		t.Helper()
		g, err := m.CubeGrid()
		if err != nil {
			t.Fatal(err)
		}
		return g.Size[0]
	}
	if side() != 2 {
		t.Fatalf("got a side of %d", side())
	}
	if err := place(name, content(header(0x23, 1, 1, 1, 0))); err != nil {
		t.Fatal(err)
	}
	if side() != 2 {
		t.Error("looked again at once")
	}
	m.checked = m.checked.Add(-2 * recheck)
	if side() != 32 {
		t.Errorf("got a side of %d, expected 32", side())
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	m.checked = m.checked.Add(-2 * recheck)
	if _, err := m.CubeGrid(); err == nil {
		t.Error("remembers a geometry that nothing tells any more")
	}
}

// sparseMag is a mag with what lies around in real ones.
var sparseMag = entries{
	"color/1/header.wkw":               soundHeader,
	"color/1/z0/y0/x0.wkw":             soundCube,
	"color/1/z0/y0/x2.wkw":             soundCube,
	"color/1/z0/y0/x10.wkw":            soundCube,
	"color/1/z48/y5444/x5748.wkw":      soundCube,
	"color/1/z1099511627776/y0/x0.wkw": soundCube,
	"color/1/z2/y3/x4.wkw":             link("../../z0/y0/x0.wkw"),
	"color/1/z3":                       link("z0"),

	// Not cubes, and not to be taken for some.
	"color/1/z0/y0/x0.wkw_tmp":         soundCube,
	"color/1/z0/y0/x1.wkw.tmp":         soundCube,
	"color/1/z0/y0/x00.wkw":            soundCube,
	"color/1/z0/y0/x-1.wkw":            soundCube,
	"color/1/z0/y0/x+1.wkw":            soundCube,
	"color/1/z0/y0/X5.wkw":             soundCube,
	"color/1/z0/y0/y5.wkw":             soundCube,
	"color/1/z0/y0/x6":                 soundCube,
	"color/1/z0/y0/x7.wkw":             folder{},
	"color/1/z0/y0/x8.wkw":             fifo{},
	"color/1/z0/y0/x9.wkw":             link("x7.wkw"),
	"color/1/z0/y0/.wkw":               soundCube,
	"color/1/z0/y0/x1099511627777.wkw": soundCube,
	"color/1/z0/y1":                    "a file",
	"color/1/z0/y01/x0.wkw":            soundCube,
	"color/1/z1.5/y0/x0.wkw":           soundCube,
	"color/1/z-1/y0/x0.wkw":            soundCube,
	"color/1/z/y0/x0.wkw":              soundCube,
	"color/1/z6":                       fifo{},
	"color/1/z7":                       link("z6"),
	"color/1/z8":                       "a file",
	"color/1/x0.wkw":                   soundCube,

	// Cubes that are there and cannot be read.
	"color/1/z9/y0/x0.wkw": badCube,
	"color/1/z9/y0/x1.wkw": otherCube,
	"color/1/z9/y0/x2.wkw": link("nowhere"),
	"color/1/z9/y0/x3.wkw": link("/nowhere"),
	"color/1/z9/y0/x4.wkw": link("x4.wkw"),
	"color/1/z9/y7":        link("../../../../elsewhere"),
	"color/1/z10":          link("../../../elsewhere"),
}

func TestCubes(t *testing.T) {
	var w warnings
	m := magOf(source(t, sparseMag), nil, &w)
	for _, c := range []struct {
		at   []int
		want []int // nil where there is no such level
	}{
		{nil, []int{0, 2, 3, 9, 10, 48, 1 << 40}},
		{[]int{0}, []int{0}},
		{[]int{0, 0}, []int{0, 2, 10}},
		{[]int{3, 0}, []int{0, 2, 10}},
		{[]int{2}, []int{3}},
		{[]int{2, 3}, []int{4}},
		{[]int{48}, []int{5444}},
		{[]int{48, 5444}, []int{5748}},
		{[]int{1 << 40, 0}, []int{0}},
		{[]int{9}, []int{0, 7}},
		{[]int{9, 0}, []int{0, 1, 2, 3, 4}},
		{[]int{1}, nil},
		{[]int{6}, nil},
		{[]int{7}, nil},
		{[]int{8}, nil},
		{[]int{0, 1}, nil},
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

func TestOpenCube(t *testing.T) {
	var w warnings
	m := magOf(source(t, sparseMag), nil, &w)
	for _, c := range []volume.Vec{{0, 0, 0}, {2, 0, 0}, {4, 3, 2}, {10, 0, 3}, {5748, 5444, 48}, {0, 0, 1 << 40}} {
		f, err := m.OpenCube(c)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		want := smallCube.Grid()
		want.Origin, want.Spacing = volume.Vec{2 * c[0], 2 * c[1], 2 * c[2]}, [3]float64{4, 4, 40}
		if f.Grid() != want {
			t.Errorf("%v: got %+v, expected %+v", c, f.Grid(), want)
		}
		if b, err := volume.ReadBlock(t.Context(), f, volume.Vec{}); !bytes.Equal(b, soundCube[HeaderSize:]) || err != nil {
			t.Errorf("%v: got % x, %v", c, b, err)
		}
		if info, err := m.StatCubes(c[2], c[1], c[0]); err != nil || info.Size() != f.Info().Size() {
			t.Errorf("%v: got %v, %v", c, info, err)
		}
		f.Close()
	}
}

// TestOpenCubeErrors tells cubes that were never written, which read as zeros, from
// those that are there and cannot be read.
func TestOpenCubeErrors(t *testing.T) {
	const never = "never written"
	var w warnings
	m := magOf(source(t, sparseMag), nil, &w)
	for _, c := range []struct {
		at   volume.Vec
		want string
	}{
		{volume.Vec{1, 0, 0}, never},
		{volume.Vec{0, 5, 0}, never},
		{volume.Vec{0, 0, 1}, never},
		{volume.Vec{-1, 0, 0}, never},
		{volume.Vec{0, -1, 0}, never},
		{volume.Vec{0, 0, -1}, never},
		{volume.Vec{1 << 41, 0, 0}, never},
		{volume.Vec{0, 0, 9}, `color/1/z9/y0/x0.wkw: magic at byte 0: expected "WKW", found "not"`},
		{volume.Vec{1, 0, 9}, "color/1/z9/y0/x1.wkw: geometry at byte 4: expected 1³ blocks of 2³ voxels of 1 × uint8 as the mag color/1, found 2³ blocks of 4³ voxels of 1 × uint16"},
		{volume.Vec{2, 0, 9}, "color/1/z9/y0/x2.wkw: a symbolic link that leads nowhere"},
		{volume.Vec{3, 0, 9}, "path escapes from parent"},
		{volume.Vec{4, 0, 9}, "too many levels of symbolic links"},
		{volume.Vec{0, 7, 9}, "path escapes from parent"},
		{volume.Vec{0, 0, 10}, "path escapes from parent"},
	} {
		f, err := m.OpenCube(c.at)
		if err == nil {
			f.Close()
			t.Errorf("%v: opened", c.at)
			continue
		}
		if errors.Is(err, fs.ErrNotExist) != (c.want == never) {
			t.Errorf("%v: got %v, expected %s", c.at, err, c.want)
		}
		if c.want != never && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, expected %s", c.at, err, c.want)
		}
	}
}

func TestOpenCubeWithoutGeometry(t *testing.T) {
	var w warnings
	m := magOf(source(t, entries{"color/1/z0/y0/x0.wkw": badCube}), nil, &w)
	for _, at := range []volume.Vec{{0, 0, 0}, {1, 0, 0}} {
		if _, err := m.OpenCube(at); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: got %v, which passes for a cube that was never written", at, err)
		}
	}
}

// TestDanglingDirectory puts links to a disk that is not there in the index.
func TestDanglingDirectory(t *testing.T) {
	for _, in := range []entries{
		{"color/1/z0": link("gone")},
		{"color/1/z0/y0": link("../../gone")},
		{"color/1/z0/y0/x0.wkw": link("gone")},
		{"color/1/z0": link("z1"), "color/1/z1/y0": link("gone")},
	} {
		var w warnings
		m := magOf(source(t, in, entries{"color/1/header.wkw": soundHeader}), nil, &w)
		if _, err := m.OpenCube(volume.Vec{}); err == nil || !strings.Contains(err.Error(), "a symbolic link that leads nowhere") || errors.Is(err, fs.ErrNotExist) {
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
		{[]int{9, 0, 0}, false, true}, // not looked into
		{[]int{1}, true, false},
		{[]int{8}, true, false},
		{[]int{6}, true, false},
		{[]int{0, 1}, true, false},
		{[]int{0, 0, 1}, false, false},
		{[]int{0, 0, 7}, false, false},
		{[]int{0, 0, 8}, false, false},
		{[]int{0, 0, 9}, false, false},
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

func TestBounds(t *testing.T) {
	box := func(width int) *LayerProperties {
		return &LayerProperties{BoundingBox: &BoundingBox{Corner{1, -2, 3}, width, 5, 6}}
	}
	cubes := entries{
		"color/1/header.wkw":           soundHeader,
		"color/1/z1/y2/x3.wkw":         soundCube,
		"color/1/z1/y4/x1.wkw":         soundCube,
		"color/1/z48/y1/x5748.wkw":     soundCube,
		"color/1/z49/y0/x9999.wkw_tmp": soundCube, // leaves empty directories behind
	}
	for _, c := range []struct {
		what  string
		props *LayerProperties
		in    entries
		want  string
	}{
		{"as the metadata says, cubes or not", box(4), cubes, "1-5_-2-3_3-9"},
		{"no cubes", box(4), entries{"color/1/header.wkw": soundHeader}, "1-5_-2-3_3-9"},
		{"absurd", box(1 << 50), cubes, "2-11498_2-10_2-98"},
		{"nothing said", nil, cubes, "2-11498_2-10_2-98"},
		{"nothing said, no cubes", nil, entries{"color/1/header.wkw": soundHeader}, "0-0_0-0_0-0"},
		{
			"as far as indices go, cubes of 2^20 voxels a side", nil,
			entries{"color/1/header.wkw": content(header(0xF5, 1, 1, 1, 0)), "color/1/z1099511627776/y1099511627776/x1099511627776.wkw": badCube},
			"1152921504606846976-1152921504607895552_1152921504606846976-1152921504607895552_1152921504606846976-1152921504607895552",
		},
	} {
		var w warnings
		got, err := magOf(source(t, c.in), c.props, &w).Bounds()
		if err != nil || got.String() != c.want {
			t.Errorf("%s: got %v, %v, expected %s", c.what, got, err, c.want)
		}
	}
	var w warnings
	unreadable := entries{"color/1/header.wkw": soundHeader, "color/1/z0/y0/x0.wkw": soundCube, "color/1/z7": link("gone")}
	if got, err := magOf(source(t, unreadable), nil, &w).Bounds(); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("part of the index cannot be read: got %v, %v", got, err)
	}
}
