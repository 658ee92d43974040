package importer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestUpdate replaces boxes of a layer. Afterwards all mags are as if the whole layer were imported again. Cubes
// without voxels of the box are not written.
func TestUpdate(t *testing.T) {
	for seed := range cases(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			dir := voxeltest.TempDir(t)
			a := array(volume.Uint32, 1)
			a.Grid.Size = volume.Vec{70, 50, 90}
			voxels := voxeltest.Pattern(a.Grid)
			o := small("ids")
			o.Mags, o.Compression = r.IntN(4), []wkw.BlockType{wkw.Raw, wkw.LZ4}[seed%2]
			o.Memory = []int64{1, 1 << 24}[r.IntN(2)]
			out := filepath.Join(dir, "out")
			if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxels, ".raw"), a.Grid), out,
				o); err != nil {
				t.Fatal(err)
			}
			before := age(t, out)

			box := randomBox(r, a.Grid.Size)
			part := a
			part.Grid.Size, part.Grid.Origin = box.Size(), origin.Add(box.Min)
			new := make([]byte, part.Grid.Bytes())
			if seed%3 > 0 { // else zeros
				for i := range new {
					new[i] = byte(r.Uint32())
				}
			}
			for p := range box.All() {
				at := p.Sub(box.Min).Index(box.Size()) * 4
				copy(voxels[p.Index(a.Grid.Size)*4:], new[at:at+4])
			}
			o.Stats = nil
			if err := Update(t.Context(), mustOpen(t, voxeltest.Export(t, dir, part, new, ".nrrd")), out,
				o); err != nil {
				t.Fatal(err)
			}

			whole := filepath.Join(dir, "whole")
			if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxels, ".raw"), a.Grid), whole,
				o); err != nil {
				t.Fatal(err)
			}
			got, want := tree(t, out), tree(t, whole)
			for _, f := range factors(spacing, a.Grid.Size, o.Mags) {
				name := fmt.Sprintf("ids/%v/volume.raw", f)
				if !bytes.Equal(read(t, got, name), read(t, want, name)) {
					t.Errorf("box %v: %s differs from that of a new import", box, name)
				}
			}
			for name := range before {
				touched := wholeCubes(t, name, out).Intersect(volume.Box{Min: part.Grid.Origin,
					Max: part.Grid.Origin.Add(box.Size())})
				if info, err := os.Stat(name); err != nil || touched.Empty() != info.ModTime().Equal(past) {
					t.Errorf("%s has voxels %v of the box %v: written again: %v, %v", name, touched, box,
						!info.ModTime().Equal(past), err)
				}
			}
			if left := names(t, out, ".tmp"); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

var past = time.Unix(1e9, 0)

// age sets the time of all cubes of mag 1, and returns their names.
func age(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, name := range names(t, filepath.Join(dir, "ids/1"), ".wkw") {
		if filepath.Base(name) == "header.wkw" {
			continue
		}
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
		all[name] = true
	}
	return all
}

// wholeCubes returns the voxels of the blocks of a cube file of mag 1.
func wholeCubes(t *testing.T, name, dir string) volume.Box {
	t.Helper()
	var c volume.Vec
	if _, err := fmt.Sscanf(strings.TrimPrefix(name, filepath.Join(dir, "ids/1")), "/z%d/y%d/x%d.wkw", &c[2], &c[1],
		&c[0]); err != nil {
		t.Fatal(err)
	}
	return c.BoxOfOne().Mul(volume.Cube(16))
}

func randomBox(r *rand.Rand, size volume.Vec) (b volume.Box) {
	for axis := range 3 {
		b.Min[axis] = r.IntN(size[axis])
		b.Max[axis] = b.Min[axis] + 1 + r.IntN(size[axis]-b.Min[axis])
	}
	return b
}

// TestUpdateMetadata: an update changes the largest id, if that rises, and nothing else of the metadata.
func TestUpdateMetadata(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint16, 1)
	o := small("l")
	o.Category = Segmentation
	if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".raw"),
		a.Grid), dir, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, webknossos.PropertiesFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before = bytes.Replace(before, []byte(`"category"`), []byte(`"a <field>": [1.10, null], "category"`), 1)
	write(t, path, before)
	for _, test := range []struct {
		value []byte
		want  string
	}{{[]byte{1, 0}, `"largestSegmentId": 16377`}, {[]byte{0xFF, 0xEE}, `"largestSegmentId": 61183`}} {
		part := a
		part.Grid.Size = volume.Cube(1)
		if err := Update(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, part, test.value, ".raw"), part.Grid),
			dir, o); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), test.want) || !strings.Contains(string(b), `"a <field>"`) ||
			!strings.Contains(string(b), "1.10") {
			t.Errorf("%v: got %s, want %s", err, b, test.want)
		}
	}
}

// TestUpdateErrors: these updates are refused before anything is written.
func TestUpdateErrors(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint16, 1)
	out := filepath.Join(dir, "out")
	if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".raw"),
		a.Grid), out, small("ids")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		layer    string
		typ      volume.Type
		channels int
		offset   *volume.Vec
		want     string
	}{
		"no layer":    {"other", volume.Uint16, 1, &origin, "other"},
		"type":        {"ids", volume.Int16, 1, &origin, "voxels of 1 × int16: layer ids has 1 × uint16"},
		"channels":    {"ids", volume.Uint16, 2, &origin, "voxels of 2 × uint16"},
		"outside":     {"ids", volume.Uint16, 1, &volume.Vec{6, 30, 11}, "an update does not extend it"},
		"no position": {"ids", volume.Uint16, 1, nil, "where the voxels belong is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			before := age(t, out)
			in := array(test.typ, test.channels)
			opened := mustOpenRaw(t, voxeltest.Export(t, dir, in, voxeltest.Pattern(in.Grid), ".raw"), in.Grid)
			opened.Positioned = false
			o := small(test.layer)
			o.Offset = test.offset
			if err := Update(t.Context(), opened, out, o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			for name := range before {
				if info, err := os.Stat(name); err != nil || !info.ModTime().Equal(past) {
					t.Errorf("%s was written: %v", name, err)
				}
			}
		})
	}
}
