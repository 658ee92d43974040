package webknossos

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// magOf opens the directory "color/1" of the source as a mag.
func magOf(fsys fs.FS, props *LayerProperties, w *warnings) *mag {
	return newMag(fsys, "color/1", volume.Factor{1, 1, 1}, props, Scale{4, 4, 40}, w.logger())
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
		if b, err := volume.ReadBlock(t.Context(), f, volume.Vec{}); !bytes.Equal(b, soundCube[wkw.HeaderSize:]) ||
			err != nil {
			t.Errorf("%v: got % x, %v", c, b, err)
		}
		if info, err := m.StatCubes(c[2], c[1], c[0]); err != nil || info.Size() != f.Info().Size() {
			t.Errorf("%v: got %v, %v", c, info, err)
		}
		f.Close()
	}
}

// TestOpenCubeErrors shows that cubes that were never written, which read as zeros, are distinguished from cubes that
// exist and cannot be read.
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
		{volume.Vec{1, 0, 9},
			"color/1/z9/y0/x1.wkw: geometry at byte 4: expected 1³ blocks of 2³ voxels of 1 × uint8 as the mag color/1, found 2³ blocks of 4³ voxels of 1 × uint16"},
		{volume.Vec{2, 0, 9}, "color/1/z9/y0/x2.wkw: a symbolic link that leads nowhere"},
		{volume.Vec{3, 0, 9}, "leads out of SOURCE; --follow-links follows it"},
		{volume.Vec{4, 0, 9}, "too many levels of symbolic links"},
		{volume.Vec{0, 7, 9}, "leads out of SOURCE; --follow-links follows it"},
		{volume.Vec{0, 0, 10}, "leads out of SOURCE; --follow-links follows it"},
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
			t.Errorf("%v: got %v, which would be treated as a cube that was never written", at, err)
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
		"color/1/z49/y0/x9999.wkw_tmp": soundCube, // its directories have no cubes
	}
	for _, c := range []struct {
		name  string
		props *LayerProperties
		in    entries
		want  string
	}{
		{"metadata and cubes", box(4), cubes, "1-5_-2-3_3-9"},
		{"metadata without cubes", box(4), entries{"color/1/header.wkw": soundHeader}, "1-5_-2-3_3-9"},
		{"implausible metadata", box(1 << 50), cubes, "2-11498_2-10_2-98"},
		{"no metadata", nil, cubes, "2-11498_2-10_2-98"},
		{"no metadata, no cubes", nil, entries{"color/1/header.wkw": soundHeader}, "0-0_0-0_0-0"},
		{
			"largest index, cubes of 2^20 voxels a side", nil,
			entries{"color/1/header.wkw": content(header(0xF5, 1, 1, 1, 0)),
				"color/1/z1099511627776/y1099511627776/x1099511627776.wkw": badCube},
			"1152921504606846976-1152921504607895552_1152921504606846976-1152921504607895552_1152921504606846976-1152921504607895552",
		},
	} {
		var w warnings
		got, err := magOf(source(t, c.in), c.props, &w).Bounds()
		if err != nil || got.String() != c.want {
			t.Errorf("%s: got %v, %v, expected %s", c.name, got, err, c.want)
		}
	}
	var w warnings
	unreadable := entries{"color/1/header.wkw": soundHeader, "color/1/z0/y0/x0.wkw": soundCube,
		"color/1/z7": link("gone")}
	if got, err := magOf(source(t, unreadable), nil, &w).Bounds(); err == nil ||
		!strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("unreadable index: got %v, %v", got, err)
	}
}
