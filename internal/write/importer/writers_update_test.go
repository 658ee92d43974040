package importer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// halfBoxes returns boxes of a volume that are disjoint, and share cubes and coarser voxels.
func halfBoxes(size volume.Vec) []volume.Box {
	var all []volume.Box
	middle := volume.Vec{size[0]/2 | 1, size[1]/2 | 1, size[2]/2 | 1}
	for i := range 8 {
		b := volume.Box{Max: size}
		for axis := range 3 {
			if i>>axis&1 == 0 {
				b.Max[axis] = middle[axis]
			} else {
				b.Min[axis] = middle[axis]
			}
		}
		all = append(all, b)
	}
	return all
}

// alias adds a layer to the metadata that has the files of layer l.
func alias(t *testing.T, dataset, name string) {
	t.Helper()
	err := changeMetadata(t.Context(), dataset, nil, func(m *metadata) (bool, error) {
		if m.has(name) {
			return false, nil
		}
		m.layers = append(m.layers, bytes.Replace(m.layers[0], []byte(`"name": "l"`), []byte(`"name": "`+name+`"`), 1))
		m.setLayers()
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOwner: layers that share files have one lock.
func TestOwner(t *testing.T) {
	dir := t.TempDir()
	dataset, outside := filepath.Join(dir, "dataset"), filepath.Join(dir, "outside")
	err := errors.Join(
		os.MkdirAll(filepath.Join(dataset, "l/1"), 0o777), os.Mkdir(outside, 0o777),
		os.Symlink("l", filepath.Join(dataset, "link")), os.Symlink(outside, filepath.Join(dataset, "far")),
		os.Symlink(dataset, filepath.Join(dir, "other")))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"l/1": "l", "l": "l", "link/1": "l", "far": "", ".": "", "absent": ""} {
		for _, base := range []string{dataset, filepath.Join(dir, "other")} {
			if got := owner(base, filepath.Join(base, path)); got != want {
				t.Errorf("%s: got %q, want %q", path, got, want)
			}
		}
	}
}

// TestUpdatesAtTheSameTime: updates of disjoint boxes of a layer leave the files that they leave one after the other.
// Half of them share each cube. Half of them are of another layer with the same files.
func TestUpdatesAtTheSameTime(t *testing.T) {
	dir := voxeltest.TempDir(t)
	inputs, _ := different(t, dir, 2)
	new := voxeltest.Pattern(array(volume.Uint32, 1).Grid)
	slices.Reverse(new)
	var parts []string
	for i, box := range halfBoxes(size) {
		a := array(volume.Uint32, 1)
		a.Grid.Origin, a.Grid.Size = origin.Add(box.Min), box.Size()
		at := filepath.Join(dir, fmt.Sprint("part", i))
		if err := os.Mkdir(at, 0o777); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, voxeltest.Export(t, at, a, cutBox(new, box), ".nrrd"))
	}
	o := small("l")
	o.Category, o.Mags, o.Jobs = Segmentation, 2, 1
	for round := range cases(12) {
		o.Compression = []wkw.BlockType{wkw.LZ4, wkw.Raw}[round%2]
		base := filepath.Join(dir, fmt.Sprint("round", round))
		whole, out := filepath.Join(base, "whole", "out"), filepath.Join(base, "out")
		for _, dataset := range []string{whole, out} {
			if err := Import(t.Context(), mustOpen(t, inputs[1]), dataset, o); err != nil {
				t.Fatal(err)
			}
			alias(t, dataset, "alias")
		}
		var writers []func() error
		for i, name := range parts {
			o := o
			o.Layer = []string{"l", "alias"}[i%2]
			if err := Update(t.Context(), mustOpen(t, name), whole, o); err != nil {
				t.Fatal(err)
			}
			in := mustOpen(t, name)
			writers = append(writers, func() error { return Update(t.Context(), in, out, o) })
		}
		if err := errors.Join(together(writers...)...); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, out, whole)
	}
}

// cutBox returns the voxels of a box of a volume of uint32 that has the size of the tests.
func cutBox(voxels []byte, box volume.Box) (part []byte) {
	for p := range box.All() {
		at := p.Index(size) * 4
		part = append(part, voxels[at:at+4]...)
	}
	return part
}

// TestUpdateDuringImport: an update waits for an import that replaces the layer, or changes the layer before.
func TestUpdateDuringImport(t *testing.T) {
	dir := voxeltest.TempDir(t)
	inputs, voxels := different(t, dir, 3)
	o := small("l")
	for round := range cases(20) {
		out := filepath.Join(dir, fmt.Sprint("out", round))
		if err := Import(t.Context(), mustOpen(t, inputs[0]), out, o); err != nil {
			t.Fatal(err)
		}
		replaced := o
		replaced.Force = true
		a, b := mustOpen(t, inputs[1]), mustOpen(t, inputs[2])
		errs := together(
			func() error { return Import(t.Context(), a, out, replaced) },
			func() error { return Update(t.Context(), b, out, o) })
		got := read(t, tree(t, out), "l/1/volume.raw")
		switch {
		case errs[0] == nil && errs[1] == nil && (bytes.Equal(got, voxels[1]) || bytes.Equal(got, voxels[2])):
		// the layer was not there, or not complete, when the update looked for it
		case errs[0] == nil && bytes.Equal(got, voxels[1]):
		case errs[1] == nil && errors.Is(errs[0], lockfile.ErrBusy) && bytes.Equal(got, voxels[2]):
		default:
			t.Errorf("round %d: the voxels are those of neither; errors: %v", round, errs)
		}
		noLocks(t, out)
	}
}

// TestKilledUpdate: the next update removes the temporary files of one that was killed. The lock that it has left says
// so.
func TestKilledUpdate(t *testing.T) {
	dir := voxeltest.TempDir(t)
	inputs, voxels := different(t, dir, 2)
	o := small("l")
	o.Mags, o.Category = 1, Segmentation
	out := filepath.Join(dir, "out")
	if err := Import(t.Context(), mustOpen(t, inputs[0]), out, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".l.lock", ".datasource-properties.json.lock", ".datasource-properties.json.ABC.tmp",
		"l/1/.123.tmp", "l/1/z0/y1/.x1.wkw.ABC.tmp"} {
		write(t, filepath.Join(out, name), []byte("{"))
	}
	if err := Update(t.Context(), mustOpen(t, inputs[1]), out, o); err != nil {
		t.Fatal(err)
	}
	noLocks(t, out)
	if !bytes.Equal(read(t, tree(t, out), "l/1/volume.raw"), voxels[1]) {
		t.Error("the voxels differ")
	}
}

// TestUpdateOfUnfinishedImport: a layer that is not complete is not updated.
func TestUpdateOfUnfinishedImport(t *testing.T) {
	dir := voxeltest.TempDir(t)
	inputs, _ := different(t, dir, 1)
	out := filepath.Join(dir, "out")
	o := small("l")
	if err := Import(t.Context(), mustOpen(t, inputs[0]), out, o); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(out, "l", journalFile), nil)
	if err := Update(t.Context(), mustOpen(t, inputs[0]), out, o); !errors.Is(err, ErrUnfinished) {
		t.Errorf("got %v, want %v", err, ErrUnfinished)
	}
}
