package importer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// npy returns an .npy file of uint8.
func npy(fortran bool, voxels []byte, shape ...int) []byte {
	order := map[bool]string{true: "True", false: "False"}[fortran]
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	dict := fmt.Sprintf("{'descr': '|u1', 'fortran_order': %s, 'shape': (%s), }\n", order, text)
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict)))
	return append(append(b, dict...), voxels...)
}

// grow makes a file longer by zeros.
func grow(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// files returns the names, sizes and times of all files of a dataset.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range names(t, dir, "") {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, name, info.Size(), info.ModTime())
	}
	return b.String()
}

// TestChooseAxes: which axes the shape of an array has, by what is known of it. None are chosen for an update, or
// beside other layers, if nothing shows them.
func TestChooseAxes(t *testing.T) {
	box := func(at volume.Vec, size ...int) volume.Box {
		return volume.Box{Min: at, Max: at.Add(volume.Vec(size))}
	}
	at := volume.Vec{100, 70, 34}
	color := place{"color", box(at, 210, 180, 92), 0}
	update := place{"seg", box(at, 210, 180, 92), 1}
	rgb := place{"rgb", box(at, 210, 180, 92), 3}
	const wrong, asked = "wrong", "asked"
	for _, c := range []struct {
		shape   []int
		fortran bool
		named   volume.Box
		at      volume.Vec
		places  []place
		update  bool
		want    string // axes; wrong and the axes that fit; or asked
	}{
		// The first layer of a dataset.
		{[]int{92, 180, 210}, false, volume.Box{}, at, nil, false, "zyx"},
		{[]int{64, 64, 64}, false, volume.Box{}, at, nil, false, "zyx"},
		{[]int{64, 64, 64}, true, volume.Box{}, at, nil, false, "xyz"},
		{[]int{180, 210}, false, volume.Box{}, at, nil, false, "yx"},
		{[]int{92, 180, 210, 3}, false, volume.Box{}, at, nil, false, "zyxc"},
		{[]int{3, 92, 180, 210}, false, volume.Box{}, at, nil, false, wrong + " cxyz"},
		{[]int{3, 92, 180, 210}, true, volume.Box{}, at, nil, false, "cxyz"},
		{[]int{92, 180, 210, 3}, true, volume.Box{}, at, nil, false, wrong + " zyxc"},
		{[]int{40, 60, 20}, false, box(volume.Vec{}, 40, 60, 20), at, nil, false, "xyz"},
		// Beside another layer.
		{[]int{92, 180, 210}, false, volume.Box{}, at, []place{color}, false, "zyx"},
		{[]int{210, 180, 92}, false, volume.Box{}, at, []place{color}, false, "xyz"},
		{[]int{210, 180, 92}, false, volume.Box{}, volume.Vec{}, []place{color}, false, "xyz"},
		{[]int{210, 180, 91}, false, volume.Box{}, at, []place{color}, false, wrong + " xyz"},
		{[]int{91, 180, 210}, false, volume.Box{}, at, []place{color}, false, "zyx"},
		{[]int{40, 60, 20}, false, volume.Box{}, at, []place{color}, false, asked},
		{[]int{64, 64, 64}, false, volume.Box{}, at, []place{color}, false, asked},
		{[]int{500, 600, 700}, false, volume.Box{}, at, []place{color}, false, asked},
		{[]int{40, 60, 20}, false, box(at, 40, 60, 20), at, []place{color}, false, "xyz"},
		{[]int{20, 60, 40}, false, box(at, 40, 60, 20), at, []place{color}, false, "zyx"},
		{[]int{20, 60, 20}, false, box(at, 20, 60, 20), at, []place{color}, false, asked},
		{[]int{210, 180, 92}, true, volume.Box{}, at, []place{color}, false, "xyz"},
		{[]int{40, 60, 20}, true, volume.Box{}, at, []place{color}, false, "xyz"},
		{[]int{500, 600, 700}, true, volume.Box{}, at, []place{color}, false, "xyz"},
		{[]int{92, 180, 210}, true, volume.Box{}, at, []place{color}, false, wrong + " zyx"},
		{[]int{91, 180, 200}, true, volume.Box{}, at, []place{color}, false, wrong + " zyx"},
		{[]int{180, 210}, false, volume.Box{}, at, []place{color}, false, "yx"},
		{[]int{210, 180}, false, volume.Box{}, at, []place{color}, false, wrong + " xy"},
		{[]int{100, 90}, false, volume.Box{}, at, []place{color}, false, asked},
		{[]int{100, 90}, false, box(at, 100, 90, 1), at, []place{color}, false, "xy"},
		// An update.
		{[]int{92, 180, 210}, false, volume.Box{}, at, []place{update}, true, "zyx"},
		{[]int{210, 180, 92}, false, volume.Box{}, at, []place{update}, true, "xyz"},
		{[]int{40, 60, 20}, false, volume.Box{}, at, []place{update}, true, asked},
		{[]int{40, 60, 20}, false, box(at, 40, 60, 20), at, []place{update}, true, "xyz"},
		{[]int{20, 60, 40}, false, box(at, 40, 60, 20), at, []place{update}, true, "zyx"},
		{[]int{64, 64, 64}, false, box(at, 64, 64, 64), at, []place{update}, true, asked},
		{[]int{40, 60, 20}, false, volume.Box{}, volume.Vec{100, 70, 90}, []place{update}, true, wrong + " xyz"},
		{[]int{20, 60, 40}, false, volume.Box{}, volume.Vec{100, 70, 90}, []place{update}, true, "zyx"},
		// fits in no way, which is another error
		{[]int{20, 60, 40}, false, volume.Box{}, volume.Vec{}, []place{update}, true, "zyx"},
		{[]int{20, 60, 40}, true, volume.Box{}, volume.Vec{100, 70, 90}, []place{update}, true, wrong + " zyx"},
		{[]int{20, 60, 40}, true, volume.Box{}, at, []place{update}, true, "xyz"},
		{[]int{3, 20, 60, 40}, false, volume.Box{}, at, []place{rgb}, true, wrong + " cxyz"},
		{[]int{3, 20, 60, 40}, false, box(at, 20, 60, 40), at, []place{rgb}, true, "cxyz"},
		{[]int{3, 20, 60, 40}, false, box(at, 40, 60, 20), at, []place{rgb}, true, "czyx"},
		{[]int{20, 60, 40, 3}, false, box(at, 40, 60, 20), at, []place{rgb}, true, "zyxc"},
		{[]int{20, 60, 40, 3}, false, volume.Box{}, at, []place{rgb}, true, asked},
	} {
		path := filepath.Join(t.TempDir(), "a.npy")
		n := 1
		for _, side := range c.shape {
			n *= side
		}
		file := npy(c.fortran, nil, c.shape...)
		write(t, path, file)
		grow(t, path, int64(len(file)+n))
		l := &layer{Options: Options{Offset: &c.at, Named: c.named}, in: mustOpen(t, path)}
		err := l.setAxes(c.places, c.update)
		got := l.in.Layout.Axes
		if w, ok := errors.AsType[*AxesError](err); ok {
			got = wrong + " " + w.Fit()
		} else if m, ok := errors.AsType[*MissingError](err); ok && m.Needs[0].Field == FieldAxes &&
			errors.Is(err, ErrAxes) {
			got = asked
		} else if err != nil {
			t.Error(err)
		}
		if got != c.want {
			t.Errorf("%v, Fortran %v, named %v, at %v, places %v, update %v: got %s (%v), want %s", c.shape, c.fortran,
				c.named, c.at, c.places, c.update, got, err, c.want)
		}
		if got == "xyz" && !c.fortran && l.whyAxes == "" {
			t.Errorf("%v: no reason", c.shape)
		}
		l.Axes = "zyxc"[:len(c.shape)]
		if err := l.setAxes(c.places, c.update); err != nil || l.in.Layout.Axes != l.Axes {
			t.Errorf("%v: given axes: got %v, %v", c.shape, l.in.Layout.Axes, err)
		}
	}
}

// TestUpdateAxes replaces a box of a layer by arrays in both orders. An update that is refused changes nothing, and so
// does an import.
func TestUpdateAxes(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint8, 1)
	voxels := voxeltest.Pattern(a.Grid)
	out := filepath.Join(dir, "out")
	if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxels, ".raw"), a.Grid), out,
		small("l")); err != nil {
		t.Fatal(err)
	}
	box := volume.Box{Min: volume.Vec{10, 5, 3}, Max: volume.Vec{20, 12, 9}}
	n := box.Size()
	fortran := make([]byte, n[0]*n[1]*n[2])
	c := make([]byte, len(fortran)) // a C-ordered array with the axes x, y, z
	for v := range (volume.Box{Max: n}).All() {
		b := byte(100 + v[0] + 20*v[1] + 7*v[2])
		fortran[v.Index(n)] = b
		c[v[2]+n[2]*(v[1]+n[1]*v[0])] = b
	}
	want := bytes.Clone(voxels)
	for v := range box.All() {
		want[v.Index(a.Grid.Size)] = fortran[v.Sub(box.Min).Index(n)]
	}
	offset := origin.Add(box.Min)
	named := box.Add(origin)
	for name, test := range map[string]struct {
		file []byte
		o    Options
	}{
		"Fortran order":       {npy(true, fortran, n[0], n[1], n[2]), Options{}},
		"C order, x y z":      {npy(false, c, n[0], n[1], n[2]), Options{Axes: "xyz"}},
		"C order, z y x":      {npy(false, fortran, n[2], n[1], n[0]), Options{Axes: "zyx"}},
		"C order, by name":    {npy(false, c, n[0], n[1], n[2]), Options{Named: named}},
		"C order, by name, z": {npy(false, fortran, n[2], n[1], n[0]), Options{Named: named}},
	} {
		path := filepath.Join(dir, "a.npy")
		write(t, path, test.file)
		test.o.Layer, test.o.Offset = "l", &offset
		var p Plan
		test.o.Planned = func(got Plan) { p = got }
		if err := Update(t.Context(), mustOpen(t, path), out, test.o); err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Equal(read(t, tree(t, out), "l/1/volume.raw"), want) {
			t.Errorf("%s: the voxels differ", name)
		}
		if p.Box != named || p.Layout.Axes == "" || p.Input.Size != n ||
			(p.WhyAxes == "") == (name[0] == 'C' && !test.o.Named.Empty()) {
			t.Errorf("%s: got the plan %+v", name, p)
		}
		if err := Update(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxels, ".raw"), a.Grid), out,
			Options{Layer: "l"}); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(read(t, tree(t, out), "l/1/volume.raw"), want) {
			t.Error("the layer is not reset")
		}
	}
	before := files(t, out)
	path := filepath.Join(dir, "a.npy")
	write(t, path, npy(false, c, n[0], n[1], n[2]))
	if err := Update(t.Context(), mustOpen(t, path), out, Options{Layer: "l", Offset: &offset}); !errors.Is(err,
		ErrAxes) {
		t.Errorf("update in doubt: got %v", err)
	}
	o := small("beside")
	o.Offset = &offset
	if err := Import(t.Context(), mustOpen(t, path), out, o); !errors.Is(err, ErrAxes) {
		t.Errorf("import in doubt: got %v", err)
	}
	far := origin.Add(volume.Vec{25, 0, 3}) // only 6 voxels of x fit there
	write(t, path, npy(false, fortran, n[2], n[1], n[0]))
	err := Update(t.Context(), mustOpen(t, path), out, Options{Layer: "l", Offset: &far})
	if wrong, ok := errors.AsType[*AxesError](err); ok {
		t.Errorf("got %v", wrong)
	}
	far[0] += 5
	err = Update(t.Context(), mustOpen(t, path), out, Options{Layer: "l", Offset: &far})
	if wrong, ok := errors.AsType[*AxesError](err); !ok || wrong.Fit() != "xyz" || wrong.Usual() != "" ||
		!strings.Contains(err.Error(), "(6, 7, 10) in C order") {
		t.Errorf("got %v", err)
	}
	if after := files(t, out); after != before {
		t.Errorf("files after errors:\n%s\nbefore:\n%s", after, before)
	}
}

// TestAxesOfHeader: a header that says its axes is believed. If only an exchange of x and z fits, that is said.
func TestAxesOfHeader(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint8, 1)
	out := filepath.Join(dir, "out")
	if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".raw"),
		a.Grid), out, small("l")); err != nil {
		t.Fatal(err)
	}
	turned := a
	turned.Grid.Size = volume.Vec{size[2], size[1], size[0]}
	path := voxeltest.Export(t, dir, turned, voxeltest.Pattern(turned.Grid), ".nrrd")
	o := small("turned")
	var p Plan
	o.Planned = func(got Plan) { p = got }
	if err := Import(t.Context(), mustOpen(t, path), out, o); err != nil ||
		!strings.Contains(p.Doubt, "with x and z exchanged, it has the size of layer l") {
		t.Errorf("got %v, %q", err, p.Doubt)
	}
	err := Update(t.Context(), mustOpen(t, path), out, Options{Layer: "l"})
	if err == nil || !strings.Contains(err.Error(), "an update does not extend it; ") ||
		!strings.Contains(err.Error(), "with x and z exchanged") {
		t.Errorf("got %v", err)
	}
	if err := Update(t.Context(), mustOpen(t, path), out, Options{Layer: "l", Axes: "xyz"}); err == nil ||
		!strings.Contains(err.Error(), "the header says") {
		t.Errorf("got %v", err)
	}
}

// TestResumeOtherAxes: an import with other axes is another import, even if all sides are equal.
func TestResumeOtherAxes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	write(t, path, npy(false, make([]byte, 8), 2, 2, 2))
	in := mustOpen(t, path)
	seen := map[string]string{}
	for _, axes := range []string{"zyx", "xyz", "yzx"} {
		if err := in.SetAxes(axes); err != nil {
			t.Fatal(err)
		}
		l := &layer{in: in}
		if before, ok := seen[string(l.journal())]; ok {
			t.Errorf("axes %s have the journal of %s", axes, before)
		}
		seen[string(l.journal())] = axes
	}
}
