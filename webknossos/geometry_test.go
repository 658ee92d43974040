package webknossos

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/ttl"
)

func TestGeometry(t *testing.T) {
	withOffset := content(header(0x01, 1, 1, 1, 16))
	for _, c := range []struct {
		name    string
		in      entries
		warning string // part of the warning; empty if there is none
		err     string // part of the error
	}{
		{name: "header.wkw", in: entries{"color/1/header.wkw": soundHeader}},
		{name: "header.wkw with a dataOffset", in: entries{"color/1/header.wkw": withOffset}},
		{name: "header.wkw with more bytes after the header",
			in: entries{"color/1/header.wkw": append(slices.Clip(soundHeader), "more"...)}},
		{
			name:    "no header.wkw",
			in:      entries{"color/1/z5/y6/x7.wkw": soundCube},
			warning: "cube=color/1/z5/y6/x7.wkw",
		},
		{
			name:    "header.wkw is damaged",
			in:      entries{"color/1/header.wkw": "WKX.............", "color/1/z0/y0/x0.wkw": soundCube},
			warning: `magic at byte 0`,
		},
		{
			name:    "header.wkw is cut off",
			in:      entries{"color/1/header.wkw": soundHeader[:9], "color/1/z0/y0/x0.wkw": soundCube},
			warning: "expected 16 bytes, found 9",
		},
		{
			name:    "header.wkw is a directory",
			in:      entries{"color/1/header.wkw": folder{}, "color/1/z0/y0/x0.wkw": soundCube},
			warning: "expected a regular file, found a directory",
		},
		{
			name:    "header.wkw is a FIFO",
			in:      entries{"color/1/header.wkw": fifo{}, "color/1/z0/y0/x0.wkw": soundCube},
			warning: "expected a regular file, found a FIFO",
		},
		{
			name: "the first cubes are damaged",
			in: entries{
				"color/1/z0/y0/x0.wkw": badCube, "color/1/z0/y0/x1.wkw": content(nil),
				"color/1/z0/y1/x0.wkw": link("nowhere"),
				"color/1/z0/y2/x0.wkw": fifo{}, "color/1/z0/y3": fifo{}, "color/1/z1": folder{}, "color/1/z2": "a file",
				"color/1/z3/y3/x3.wkw": soundCube,
			},
			warning: "cube=color/1/z3/y3/x3.wkw",
		},
		{
			name: "no header.wkw and only damaged cubes",
			in:   entries{"color/1/z0/y0/x0.wkw": badCube, "color/1/z0/y0/x1.wkw": content(nil)},
			err:  `header.wkw: no such file or directory; no cube has the geometry: color/1/z0/y0/x0.wkw: magic at byte 0: expected "WKW", found "not"`,
		},
		{
			name: "header.wkw damaged and no cubes",
			in:   entries{"color/1/header.wkw": "?"},
			err:  "color/1/header.wkw: header at byte 0: expected 16 bytes, found 1; no cube has the geometry: there are no cube files",
		},
		{
			name: "another version",
			in:   entries{"color/1/header.wkw": "WKW\x02............"},
			err:  "unsupported version at byte 3: expected 1, found 2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w warnings
			m := magOf(source(t, c.in), nil, &w)
			want := smallCube.Grid()
			want.Spacing = [3]float64{4, 4, 40}
			for range 2 { // the second call returns the same and logs nothing
				g, err := m.CubeGrid()
				switch {
				case c.err == "" && (err != nil || g != want):
					t.Fatalf("got %+v, %v, expected %+v", g, err, want)
				case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
					t.Fatalf("got %v, expected %s", err, c.err)
				case errors.Is(err, fs.ErrNotExist):
					t.Fatalf("%v: would be treated as a cube that was never written", err)
				}
				m.checked = m.checked.Add(-2 * ttl.Least)
			}
			lines := w.lines()
			if c.warning == "" && len(lines) > 0 ||
				c.warning != "" && (len(lines) != 1 || !strings.Contains(lines[0], c.warning)) {
				t.Errorf("got the warnings %q, expected one with %q", lines, c.warning)
			}
		})
	}
}

// TestGeometryChanges replaces header.wkw. A mag uses the new header after ttl.Least.
func TestGeometryChanges(t *testing.T) {
	var w warnings
	dir := t.TempDir()
	name := filepath.Join(dir, "color/1/header.wkw")
	if err := writeEntry(name, soundHeader); err != nil {
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
	if err := writeEntry(name, content(header(0x23, 1, 1, 1, 0))); err != nil {
		t.Fatal(err)
	}
	if side() != 2 {
		t.Error("the geometry was read again before ttl.Least")
	}
	m.checked = m.checked.Add(-2 * ttl.Least)
	if side() != 32 {
		t.Errorf("got a side of %d, expected 32", side())
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	m.checked = m.checked.Add(-2 * ttl.Least)
	if _, err := m.CubeGrid(); err == nil {
		t.Error("got a geometry after the only header was removed")
	}
}

// brokenDisk is a file system on a disk that can have an error.
type brokenDisk struct {
	fs.FS
	err error
}

func (d *brokenDisk) Open(name string) (fs.File, error) {
	if d.err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: d.err}
	}
	return d.FS.Open(name)
}

// TestGeometryAfterDiskError: a mag has no error longer than the disk.
func TestGeometryAfterDiskError(t *testing.T) {
	var w warnings
	disk := &brokenDisk{source(t, entries{"color/1/header.wkw": soundHeader}), syscall.EIO}
	m := magOf(disk, nil, &w)
	if _, err := m.CubeGrid(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v, expected %v", err, syscall.EIO)
	}
	disk.err = nil
	if _, err := m.CubeGrid(); err != nil {
		t.Errorf("after the error: %v", err)
	}
}
