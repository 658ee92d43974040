package importer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/arrayfile"
	"github.com/wkwfs/wkwfs/internal/batch"
	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/pyramid"
	"github.com/wkwfs/wkwfs/internal/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// large is an array with many cubes of 16 voxels, also in mag 4.
func large() header.Array {
	a := array(volume.Uint32, 1)
	a.Grid.Size = volume.Vec{150, 70, 170}
	return a
}

// contents returns the content of each file below dir, by its path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sameFiles compares the files of two directories byte for byte.
func sameFiles(t *testing.T, got, want string) {
	t.Helper()
	a, b := contents(t, got), contents(t, want)
	for name, content := range b {
		if found, ok := a[name]; !ok || found != content {
			t.Errorf("%s differs, or is missing (%v)", name, !ok)
		}
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			t.Errorf("%s is left", name)
		}
	}
}

// TestPartsOfImport: all parts of an import write the files that an import of the whole input writes, byte for byte, in any order, at
// the same time, and if some run twice.
func TestPartsOfImport(t *testing.T) {
	for i, test := range []struct {
		n      int
		mags   int
		change func(*Options)
		end    string
	}{
		{1, 2, nil, ".nrrd"},
		{3, 0, nil, ".raw"},
		{7, 2, nil, ".nrrd"},
		{40, 1, func(o *Options) { o.Compression = wkw.Raw }, ".nrrd"},
		{5, 2, func(o *Options) { o.Format = pyramid.Zarr3 }, ".npy"},
		{6, 1, nil, ".tif"}, // whole planes
		{9, 1, func(o *Options) { o.Category, o.Downsample = Color, "mean" }, ".nrrd"},
	} {
		if testing.Short() && i != 1 && i != 4 {
			continue // cubes and shards: goroutines do the same in the other cases
		}
		dir := voxeltest.TempDir(t)
		a := large()
		name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), test.end)
		open := func() *arrayfile.Array {
			if test.end == ".raw" {
				return mustOpenRaw(t, name, a.Grid)
			}
			return mustOpen(t, name)
		}
		o := small("ids")
		o.Category, o.Mags, o.Jobs, o.Memory = Segmentation, test.mags, 2, 64<<20
		o.VoxelSize, o.Offset = spacing, &origin
		if test.change != nil {
			test.change(&o)
		}
		whole, out := filepath.Join(dir, "whole", "out"), filepath.Join(dir, "out")
		if err := Import(t.Context(), open(), whole, o); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		places := make(chan struct{}, 4)
		random := rand.New(rand.NewPCG(uint64(i), 1))
		for _, part := range append(random.Perm(test.n), random.Perm(test.n)[:(test.n+1)/2]...) {
			in := open()
			group.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				o := o
				o.Part = batch.Part{I: part + 1, N: test.n}
				if err := Import(t.Context(), in, out, o); err != nil {
					t.Errorf("%d: part %v: %v", i, o.Part, err)
				}
			})
		}
		group.Wait()
		if _, err := os.Stat(filepath.Join(out, wkw.PropertiesFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the layer is in the metadata before the end: %v", err)
		}
		if err := Finish(t.Context(), open(), out, o); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, out, whole)
		if err := Finish(t.Context(), open(), out, o); !errors.Is(err, ErrExists) {
			t.Errorf("again: got %v, want %v", err, ErrExists)
		}
	}
}

// TestFinishNamesMissingParts: an import is not finished before all of its parts are complete. The error has their numbers.
func TestFinishNamesMissingParts(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := large()
	name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".nrrd")
	out := filepath.Join(dir, "out")
	o := small("color")
	o.Mags = 1
	if err := Finish(t.Context(), mustOpen(t, name), out, o); !errors.Is(err, ErrNoParts) {
		t.Errorf("before the first part: got %v, want %v", err, ErrNoParts)
	}
	part := func(i int, o Options) error {
		o.Part = batch.Part{I: i, N: 5}
		return Import(t.Context(), mustOpen(t, name), out, o)
	}
	for i, want := range [][]int{{2, 3, 4, 5}, {3, 4, 5}, {4, 5}, {5}} {
		if err := part(i+1, o); err != nil {
			t.Fatal(err)
		}
		missing, ok := errors.AsType[*MissingPartsError](Finish(t.Context(), mustOpen(t, name), out, o))
		if !ok || !slices.Equal(missing.Parts, want) || missing.N != 5 {
			t.Errorf("got %v, want %v", missing, want)
		}
	}

	// Other settings, another number of parts, or an import that is not divided.
	other := o
	other.Cube = 32
	if err := part(5, other); !errors.Is(err, ErrUnfinished) {
		t.Errorf("with other settings: got %v, want %v", err, ErrUnfinished)
	}
	if err := Finish(t.Context(), mustOpen(t, name), out, other); !errors.Is(err, ErrUnfinished) {
		t.Errorf("with other settings: got %v, want %v", err, ErrUnfinished)
	}
	if err := Import(t.Context(), mustOpen(t, name), out, o); !errors.Is(err, ErrUnfinished) {
		t.Errorf("not divided: got %v, want %v", err, ErrUnfinished)
	}
	other = o
	other.Part = batch.Part{I: 5, N: 6}
	if err := Import(t.Context(), mustOpen(t, name), out, other); !errors.Is(err, ErrUnfinished) {
		t.Errorf("of 6 parts: got %v, want %v", err, ErrUnfinished)
	}

	if err := part(5, o); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(out, "color/1/.x0.wkw.ABC.tmp"), nil) // of a process that was killed
	if err := Finish(t.Context(), mustOpen(t, name), out, o); err != nil {
		t.Fatal(err)
	}
	if left := append(names(t, out, ".tmp"), names(t, out, ".json")...); len(left) != 1 {
		t.Errorf("files are left: %v", left)
	}
	if err := part(5, o); !errors.Is(err, ErrExists) {
		t.Errorf("a part after the end: got %v, want %v", err, ErrExists)
	}
}

// TestFinishRemovesWhatIsLeft: if a finish was killed while it removed the files of the parts, the next one removes the rest. Files of
// other imports stay.
func TestFinishRemovesWhatIsLeft(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := large()
	name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".nrrd")
	out, o := filepath.Join(dir, "out"), small("color")
	files := map[string][]byte{}
	for i := range 3 {
		o := o
		o.Part = batch.Part{I: i + 1, N: 3}
		if err := Import(t.Context(), mustOpen(t, name), out, o); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(out, "color", fmt.Sprintf(partFile, i+1, 3))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = b
	}
	if err := Finish(t.Context(), mustOpen(t, name), out, o); err != nil {
		t.Fatal(err)
	}
	want := contents(t, out)
	for path, b := range files {
		write(t, path, b)
		planned := 0
		o.Planned = func(Plan) { planned++ }
		if err := Finish(t.Context(), mustOpen(t, name), out, o); err != nil || planned != 1 {
			t.Errorf("with %s: %v, planned %d times", path, err, planned)
		}
		if got := contents(t, out); !maps.Equal(got, want) {
			t.Errorf("with %s: %d files, want %d", path, len(got), len(want))
		}
	}
	for file, b := range map[string]string{".import-1-of-3.json": "{}\n", ".import-1-of-0.json": "", ".import-2-of-4.json": string(files[filepath.Join(out, "color/.import-2-of-3.json")])} {
		path := filepath.Join(out, "color", file)
		write(t, path, []byte(b))
		if err := Finish(t.Context(), mustOpen(t, name), out, o); !errors.Is(err, ErrExists) {
			t.Errorf("with %s: got %v, want %v", file, err, ErrExists)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// TestPartResumes: a part that was interrupted goes on where it was. What others have written stays.
func TestPartResumes(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := large()
	name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".nrrd")
	whole, out := filepath.Join(dir, "whole", "out"), filepath.Join(dir, "out")
	o := small("ids")
	o.Category, o.Mags, o.Jobs, o.Memory = Segmentation, 1, 1, 1
	if err := Import(t.Context(), mustOpen(t, name), whole, o); err != nil {
		t.Fatal(err)
	}
	o.Part, o.Stats = batch.Part{I: 2, N: 2}, &Stats{}
	ctx, stop := context.WithCancel(t.Context())
	interrupted := o
	interrupted.onRead = func() {
		if _, err := os.Stat(filepath.Join(out, "ids/.import-2-of-2.json")); err == nil { // after the first checkpoint
			stop()
		}
	}
	if err := Import(ctx, mustOpen(t, name), out, interrupted); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	if _, ok := errors.AsType[*MissingPartsError](Finish(t.Context(), mustOpen(t, name), out, o)); !ok {
		t.Error("finished before all parts are complete")
	}
	written := o.Stats.Written.Load()
	o.Stats = &Stats{}
	if err := Import(t.Context(), mustOpen(t, name), out, o); err != nil {
		t.Fatal(err)
	}
	if written == 0 || o.Stats.KeptBytes.Load() == 0 {
		t.Errorf("the first wrote %d cubes, the second kept %d bytes", written, o.Stats.KeptBytes.Load())
	}
	o.Part.I = 1
	if err := Import(t.Context(), mustOpen(t, name), out, o); err != nil {
		t.Fatal(err)
	}
	if err := Finish(t.Context(), mustOpen(t, name), out, o); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, out, whole)
}

// TestStreamIsNotDivided: an input that is one compressed stream is refused, by its name, and nothing is written.
func TestStreamIsNotDivided(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint8, 1)
	voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".nii")
	b, err := os.ReadFile(filepath.Join(dir, "volume.nii"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "volume.nii.gz")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(b); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	write(t, name, packed.Bytes())
	o := small("color")
	o.Part = batch.Part{I: 1, N: 2}
	out := filepath.Join(dir, "out")
	if err := Import(t.Context(), mustOpen(t, name), out, o); !errors.Is(err, ErrSequential) || !strings.HasPrefix(err.Error(), name) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

// TestCutBox: the boxes of all parts are disjoint, have all voxels, and end between units. They are about equal if there are many
// units.
func TestCutBox(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		var box volume.Box
		var unit volume.Vec
		for axis := range 3 {
			box.Min[axis] = random.IntN(40)
			box.Max[axis] = box.Min[axis] + 1 + random.IntN(60)
			unit[axis] = 1 << random.IntN(6)
		}
		n := 1 + random.IntN(30)
		voxels := 0
		var seen []volume.Box
		for i := range n {
			part := cutBox(box, unit, []int{2, 1, 0}, i, n)
			if part.Empty() {
				continue
			}
			size := part.Size()
			voxels += size[0] * size[1] * size[2]
			for axis := range 3 {
				if min, max := part.Min[axis], part.Max[axis]; min != box.Min[axis] && min%unit[axis] != 0 || max != box.Max[axis] && max%unit[axis] != 0 {
					t.Fatalf("part %d/%d of %v is %v, in units of %v", i+1, n, box, part, unit)
				}
			}
			for _, other := range seen {
				if !part.Intersect(other).Empty() {
					t.Fatalf("parts %v and %v of %v", part, other, box)
				}
			}
			seen = append(seen, part)
		}
		if size := box.Size(); voxels != size[0]*size[1]*size[2] {
			t.Fatalf("%d parts of %v have %d voxels: %v", n, box, voxels, seen)
		}
	}
	for i := range 1000 {
		part := cutBox(volume.Box{Max: volume.Vec{1 << 16, 1 << 16, 1 << 16}}, volume.Cube(1<<9), []int{2, 1, 0}, i, 1000).Size()
		if got := float64(part[0]) * float64(part[1]) * float64(part[2]) / (1 << 48) * 1000; got < 0.8 || got > 1.25 {
			t.Errorf("part %d has %.2f of an equal part", i+1, got)
		}
	}
}
