package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// together runs writers that start at the same moment, and returns their errors.
func together(writers ...func() error) []error {
	var start, group sync.WaitGroup
	start.Add(1)
	errs := make([]error, len(writers))
	for i, write := range writers {
		group.Go(func() {
			start.Wait()
			errs[i] = write()
		})
	}
	start.Done()
	group.Wait()
	return errs
}

// noLocks checks that no lock and no temporary file is left below a directory.
func noLocks(t *testing.T, dir string) {
	t.Helper()
	if left := append(names(t, dir, ".lock"), names(t, dir, ".tmp")...); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// different exports n volumes of the same geometry with other voxels in each.
func different(t *testing.T, dir string, n int) (inputs []string, voxels [][]byte) {
	t.Helper()
	a := array(volume.Uint32, 1)
	for i := range n {
		v := voxeltest.Pattern(a.Grid)
		for j := range v {
			v[j] ^= byte(i * 37)
		}
		at := filepath.Join(dir, fmt.Sprint("input", i))
		if err := os.Mkdir(at, 0o777); err != nil {
			t.Fatal(err)
		}
		inputs, voxels = append(inputs, voxeltest.Export(t, at, a, v, ".nrrd")), append(voxels, v)
	}
	return inputs, voxels
}

// TestImportsOfOneLayer: of imports into one layer at the same time, at most one succeeds, and the layer has its
// voxels. With Force, several may succeed, one after the other.
func TestImportsOfOneLayer(t *testing.T) {
	dir := voxeltest.TempDir(t)
	inputs, voxels := different(t, dir, 3)
	for round := range cases(60) {
		out := filepath.Join(dir, fmt.Sprint("out", round))
		var writers []func() error
		for _, name := range inputs {
			in, o := mustOpen(t, name), small("l")
			o.Jobs, o.Force, o.Mags = 1, round%3 == 2, 1
			writers = append(writers, func() error { return Import(t.Context(), in, out, o) })
		}
		errs := together(writers...)
		got := read(t, tree(t, out), "l/1/volume.raw")
		whose := slices.IndexFunc(voxels, func(v []byte) bool { return bytes.Equal(v, got) })
		succeeded := 0
		for i, err := range errs {
			switch {
			case err == nil:
				succeeded++
			case !errors.Is(err, lockfile.ErrBusy) && !errors.Is(err, ErrExists) && !errors.Is(err, ErrUnfinished):
				t.Errorf("round %d: input %d: %v", round, i, err)
			}
		}
		if whose < 0 || errs[whose] != nil || succeeded != 1 && round%3 != 2 {
			t.Errorf("round %d: the layer has the voxels of input %d; errors: %v", round, whose, errs)
		}
		noLocks(t, out)
	}
}

// TestImportsOfLayers: the metadata have all layers that were imported at the same time.
func TestImportsOfLayers(t *testing.T) {
	const n = 5
	dir := voxeltest.TempDir(t)
	inputs, voxels := different(t, dir, n)
	for round := range cases(20) {
		out := filepath.Join(dir, fmt.Sprint("out", round))
		var writers []func() error
		for i, name := range inputs {
			in, o := mustOpen(t, name), small(fmt.Sprint("layer", i))
			o.Jobs = 1
			writers = append(writers, func() error { return Import(t.Context(), in, out, o) })
		}
		if err := errors.Join(together(writers...)...); err != nil {
			t.Fatal(err)
		}
		meta, err := readMetadata(out)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			name := fmt.Sprint("layer", i)
			if !meta.has(name) {
				t.Errorf("round %d: the metadata lack %s", round, name)
			} else if !bytes.Equal(read(t, tree(t, out), name+"/1/volume.raw"), voxels[i]) {
				t.Errorf("round %d: the voxels of %s differ", round, name)
			}
		}
		noLocks(t, out)
	}
}

// TestVoxelSizesAtTheSameTime: imports into a new dataset cannot give it two voxel sizes.
func TestVoxelSizesAtTheSameTime(t *testing.T) {
	dir := voxeltest.TempDir(t)
	g := array(volume.Uint8, 1).Grid
	name := voxeltest.Export(t, dir, array(volume.Uint8, 1), voxeltest.Pattern(g), ".raw")
	for round := range cases(40) {
		out := filepath.Join(dir, fmt.Sprint("out", round))
		var writers []func() error
		for i := range 2 {
			g.Spacing = [3]float64{float64(4 + i), 4, 40}
			in, o := mustOpenRaw(t, name, g), small(fmt.Sprint("layer", i))
			writers = append(writers, func() error { return Import(t.Context(), in, out, o) })
		}
		errs := together(writers...)
		meta, err := readMetadata(out)
		if err != nil {
			t.Fatal(err)
		}
		for i, err := range errs {
			if (err == nil) != meta.has(fmt.Sprint("layer", i)) || err == nil && meta.scale()[0] != float64(4+i) {
				t.Errorf("round %d: layer%d: %v; the dataset has %v", round, i, err, meta.scale())
			}
		}
		if errs[0] == nil && errs[1] == nil || errs[0] != nil && errs[1] != nil {
			t.Errorf("round %d: got %v, want one error", round, errs)
		}
	}
}

// TestPartsOfTwoInputs: parts of different inputs that start at the same time do not mix. All parts that succeed are of
// one input.
func TestPartsOfTwoInputs(t *testing.T) {
	const n = 4
	dir := voxeltest.TempDir(t)
	inputs, voxels := different(t, dir, 2)
	for round := range cases(40) {
		out := filepath.Join(dir, fmt.Sprint("out", round))
		o := small("l")
		o.Jobs, o.Mags = 1, 1
		var writers []func() error
		for i := range 2 * n {
			in, o := mustOpen(t, inputs[i%2]), o
			o.Part = batch.Part{I: i/2 + 1, N: n}
			writers = append(writers, func() error { return Import(t.Context(), in, out, o) })
		}
		errs := together(writers...)
		var succeeded [2]int
		for i, err := range errs {
			if err == nil {
				succeeded[i%2]++
			} else if !errors.Is(err, ErrUnfinished) && !errors.Is(err, ErrReplaced) {
				t.Errorf("round %d: %v", round, err)
			}
		}
		winner := 0
		if succeeded[1] > 0 {
			winner = 1
		}
		if succeeded[winner] != n || succeeded[1-winner] != 0 {
			t.Fatalf("round %d: parts of each input that succeeded: %v", round, succeeded)
		}
		a, b := mustOpen(t, inputs[winner]), mustOpen(t, inputs[1-winner])
		errs = together(
			func() error { return Finish(t.Context(), a, out, o) },
			func() error { return Finish(t.Context(), b, out, o) })
		if errs[0] != nil || errs[1] == nil {
			t.Errorf("round %d: finish: %v", round, errs)
		}
		if !bytes.Equal(read(t, tree(t, out), "l/1/volume.raw"), voxels[winner]) {
			t.Errorf("round %d: the voxels differ", round)
		}
		noLocks(t, out)
	}
}

// TestWithoutLocks: without locks, too, two imports of different inputs do not both create the journal of a layer. If
// one replaces the journal of another, that one fails and does not change the metadata.
func TestWithoutLocks(t *testing.T) {
	dir := voxeltest.TempDir(t)
	inputs, _ := different(t, dir, 2)
	out := filepath.Join(dir, "out")
	var layers []*layer
	for _, name := range inputs {
		meta, err := readMetadata(out)
		if err != nil {
			t.Fatal(err)
		}
		l, err := plan(t.Context(), mustOpen(t, name), out, meta, small("l"))
		if err != nil {
			t.Fatal(err)
		}
		layers = append(layers, l)
	}
	a, b := layers[0], layers[1]
	if err := errors.Join(os.MkdirAll(a.dir, 0o777), a.createJournal(), a.createJournal()); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"journal": b.createJournal, "metadata": func() error { return b.publish(t.Context()) },
		"part": func() error { return b.writePart(partState{}) },
	} {
		if err := do(); !errors.Is(err, ErrReplaced) {
			t.Errorf("%s: got %v, want %v", name, err, ErrReplaced)
		}
	}
	if err := errors.Join(a.publish(t.Context()), a.publish(t.Context()), os.Remove(a.journalPath())); err != nil {
		t.Fatal(err)
	}
	if err := b.createJournal(); !errors.Is(err, ErrExists) {
		t.Errorf("after the import: got %v, want %v", err, ErrExists)
	}
	b.box.Max[0]++
	if _, err := os.Lstat(b.journalPath()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a journal is left: %v", err)
	}
	if err := changeMetadata(t.Context(), out, nil,
		func(m *metadata) (bool, error) { return m.setLayer(b) }); !errors.Is(err, ErrReplaced) {
		t.Errorf("another layer of the name: got %v, want %v", err, ErrReplaced)
	}
}

// TestFinishDuringPart: finishing succeeds only if all parts are complete. A part that runs again at that time changes
// nothing.
func TestFinishDuringPart(t *testing.T) {
	const n = 3
	dir := voxeltest.TempDir(t)
	inputs, voxels := different(t, dir, 1)
	for round := range cases(40) {
		out := filepath.Join(dir, fmt.Sprint("out", round))
		o := small("l")
		o.Jobs = 1
		part := func(i int) func() error {
			in, o := mustOpen(t, inputs[0]), o
			o.Part = batch.Part{I: i, N: n}
			return func() error { return Import(t.Context(), in, out, o) }
		}
		finish := func(in *arrayfile.Array) func() error {
			return func() error { return Finish(t.Context(), in, out, o) }
		}
		if err := errors.Join(part(1)(), part(2)()); err != nil {
			t.Fatal(err)
		}
		errs := together(part(3), part(1), finish(mustOpen(t, inputs[0])))
		if errors.Is(errs[2], lockfile.ErrBusy) { // the parts take long on this machine
			errs[2] = finish(mustOpen(t, inputs[0]))()
		}
		if missing, ok := errors.AsType[*MissingPartsError](errs[2]); ok {
			if err := finish(mustOpen(t, inputs[0]))(); err != nil || !slices.Equal(missing.Parts, []int{3}) {
				t.Errorf("round %d: %v, missing %v", round, err, missing.Parts)
			}
		} else if errs[2] != nil {
			t.Errorf("round %d: finish: %v", round, errs[2])
		}
		for i, err := range errs[:2] {
			if err != nil && !errors.Is(err, ErrExists) && !errors.Is(err, lockfile.ErrBusy) {
				t.Errorf("round %d: part %d: %v", round, []int{3, 1}[i], err)
			}
		}
		if !bytes.Equal(read(t, tree(t, out), "l/1/volume.raw"), voxels[0]) {
			t.Errorf("round %d: the voxels differ", round)
		}
		noLocks(t, out)
		for name := range contents(t, out) {
			if strings.Contains(name, "/.import") {
				t.Errorf("round %d: %s is left", round, name)
			}
		}
	}
}

// TestLayerNames: a name that cannot be that of a layer is refused, and nothing is written, also with Force.
func TestLayerNames(t *testing.T) {
	for _, force := range []bool{false, true} {
		dir := voxeltest.TempDir(t)
		inputs, _ := different(t, dir, 1)
		out := filepath.Join(dir, "out")
		if err := Import(t.Context(), mustOpen(t, inputs[0]), out, small("other")); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(out, "README"), []byte("text"))
		before := contents(t, out)
		for _, name := range []string{
			webknossos.PropertiesFile, "README", ".", "..", ".hidden", "a/b", "a\x00b", "a\xff",
			strings.Repeat("x", maxName+1), strings.Repeat("x", 300),
		} {
			o := small(name)
			o.Force = force
			for _, dataset := range []string{out, filepath.Join(dir, "new")} {
				if name == "README" && dataset != out {
					continue
				}
				if err := Import(t.Context(), mustOpen(t, inputs[0]), dataset, o); err == nil ||
					errors.Is(err, ErrExists) {
					t.Errorf("%q: got %v", name, err)
				}
			}
		}
		if after := contents(t, out); len(after) != len(before) || after["/README"] != "text" {
			t.Errorf("force %v: the dataset has changed: %d files, before %d", force, len(after), len(before))
		}
		if _, err := os.Lstat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a dataset is left: %v", err)
		}
	}
}

// TestUnusualLayerNames: all other names are those of layers, with each voxel.
func TestUnusualLayerNames(t *testing.T) {
	dir := voxeltest.TempDir(t)
	inputs, voxels := different(t, dir, 1)
	for i, name := range []string{
		"header.wkw", "zarr.json", "info", "1", "z0", "box", "precomputed", "ome.zarr", "attributes.json", "a b", " ",
		"a:b", `a\b`, "a%2fb", "ü", "a\nb", "<&>", `"`, "~", "-", "*",
		strings.Repeat("x", maxName),
	} {
		out := filepath.Join(dir, fmt.Sprint("out", i))
		o := small(name)
		if err := Import(t.Context(), mustOpen(t, inputs[0]), out, o); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if !bytes.Equal(read(t, tree(t, out), name+"/1/volume.raw"), voxels[0]) {
			t.Errorf("%q: the voxels differ", name)
		}
	}
}
