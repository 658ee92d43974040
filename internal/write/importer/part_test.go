package importer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
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

// TestPartsOfImport: all parts of an import write the files that an import of the whole input writes, byte for byte, in
// any order, at the same time, and if some run twice.
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
		if _, err := os.Stat(filepath.Join(out, webknossos.PropertiesFile)); !errors.Is(err, fs.ErrNotExist) {
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

// TestPartsOfPictures imports a folder of PNG files in parts. Half of them are black, and have few stored bytes. All
// parts read about as many stored bytes, and together write the files of an import at once.
func TestPartsOfPictures(t *testing.T) {
	dir := voxeltest.TempDir(t)
	folder, whole, out := filepath.Join(dir, "slices"), filepath.Join(dir, "whole", "out"), filepath.Join(dir, "out")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	const planes, parts = 320, 5
	random := rand.New(rand.NewPCG(1, 2))
	stored := make([]int64, planes)
	for z := range planes {
		m := image.NewGray(image.Rect(0, 0, 40, 50))
		for i := range m.Pix {
			if z < planes/2 {
				m.Pix[i] = byte(random.Uint32())
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, fmt.Sprintf("z%d.png", z)), b.Bytes())
		stored[z] = int64(b.Len())
	}
	o := small("color")
	o.VoxelSize, o.Mags = [3]float64{4, 4, 4}, 1
	if err := Import(t.Context(), mustOpen(t, folder), whole, o); err != nil {
		t.Fatal(err)
	}
	var all, most int64
	var least int64 = math.MaxInt64
	for i := range parts {
		var planned volume.Box
		o := o
		o.Part = batch.Part{I: i + 1, N: parts}
		o.Planned = func(p Plan) { planned = p.Part }
		if err := Import(t.Context(), mustOpen(t, folder), out, o); err != nil {
			t.Fatal(err)
		}
		var part int64
		for _, n := range stored[planned.Min[2]:planned.Max[2]] {
			part += n
		}
		all, least, most = all+part, min(least, part), max(most, part)
	}
	if equal := float64(all) / parts; float64(most) > 1.25*equal || float64(least) < 0.8*equal {
		t.Errorf("parts read %d to %d stored bytes; an equal part has %.0f", least, most, equal)
	}
	if err := Finish(t.Context(), mustOpen(t, folder), out, o); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, out, whole)
}

// TestPartsWithAnotherCut: parts that were cut in another way, as another release may do, are not completed by those of
// this one. Nothing would have the voxels in between.
func TestPartsWithAnotherCut(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := large()
	name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".nrrd")
	out, o := filepath.Join(dir, "out"), small("color")
	o.Part = batch.Part{I: 1, N: 2}
	if err := Import(t.Context(), mustOpen(t, name), out, o); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(out, "color", journalFile)
	b, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	other := regexp.MustCompile(`"Cut":"[0-9a-f]{16}"`).ReplaceAll(b, []byte(`"Cut":"0123456789abcdef"`))
	if bytes.Equal(b, other) {
		t.Fatalf("the journal has no cut: %s", b)
	}
	write(t, journal, other)
	o.Part.I = 2
	if err := Import(t.Context(), mustOpen(t, name), out, o); !errors.Is(err, ErrUnfinished) {
		t.Errorf("another part: got %v, want %v", err, ErrUnfinished)
	}
	if err := Finish(t.Context(), mustOpen(t, name), out, o); !errors.Is(err, ErrUnfinished) {
		t.Errorf("finish: got %v, want %v", err, ErrUnfinished)
	}
}

// TestFinishNamesMissingParts: an import is not finished before all of its parts are complete. The error has their
// numbers.
func TestFinishNamesMissingParts(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
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

// TestFinishRemovesWhatIsLeft: if a finish was killed while it removed the files of the parts, the next one removes the
// rest. Files of other imports stay.
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
	for file, b := range map[string]string{".import-1-of-3.json": "{}\n", ".import-1-of-0.json": "",
		".import-2-of-4.json": string(files[filepath.Join(out, "color/.import-2-of-3.json")])} {
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
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
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
	if err := Import(t.Context(), mustOpen(t, name), out, o); !errors.Is(err, ErrSequential) ||
		!strings.HasPrefix(err.Error(), name) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}
