package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// importAll imports voxels into a layer.
func importAll(t *testing.T, a header.Array, voxels []byte, to string, o Options) {
	t.Helper()
	name := voxeltest.Export(t, t.TempDir(), a, voxels, ".raw")
	if err := Import(t.Context(), mustOpenRaw(t, name, a.Grid), to, o); err != nil {
		t.Fatal(err)
	}
}

// layerOf opens a layer of a dataset.
func layerOf(t *testing.T, dir, name string) volume.Layer {
	t.Helper()
	root, err := webknossos.Recognise(os.DirFS(dir), ".", webknossos.Options{Name: filepath.Base(dir)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := root.Dataset.Layer(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sparse returns voxels that are 0 except in some blocks of 8 voxels a side, and the positions of these.
func sparse(r *rand.Rand, g volume.Grid, every int) (voxels []byte, blocks map[volume.Vec]bool) {
	voxels, blocks = make([]byte, g.Bytes()), map[volume.Vec]bool{}
	whole := volume.Box{Min: g.Origin, Max: g.Origin.Add(g.Size)}
	for b := range whole.Div(volume.Cube(8)).All() {
		if r.IntN(every) > 0 {
			continue
		}
		for v := range b.BoxOfOne().Mul(volume.Cube(8)).Intersect(whole).All() {
			at := v.Sub(g.Origin).Index(g.Size) * 4
			voxels[at] = byte(r.IntN(3))
			if voxels[at] != 0 {
				blocks[b] = true // a block of zeros is not written
			}
		}
	}
	return voxels, blocks
}

// TestMerge merges random annotations. Mag 1 then has their blocks, zeros included, and all else as it was. Coarser
// mags are as if the layer were imported again. Cubes without a block are not written, and a backup has those that are.
func TestMerge(t *testing.T) {
	for seed := range cases(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			dir := voxeltest.TempDir(t)
			a := array(volume.Uint32, 1)
			a.Grid.Size = volume.Vec{70, 50, 60}
			voxels := voxeltest.Pattern(a.Grid)
			o := small("ids")
			o.Mags, o.Compression = r.IntN(3), []wkw.BlockType{wkw.Raw, wkw.LZ4}[seed%2]
			out := filepath.Join(dir, "out")
			importAll(t, a, voxels, out, o)
			before := age(t, out)

			above := a
			above.Grid.Origin, above.Grid.Size = volume.Vec{r.IntN(40), 8 + r.IntN(40), r.IntN(40)},
				volume.Vec{1 + r.IntN(60), 1 + r.IntN(60), 1 + r.IntN(60)}
			painted, blocks := sparse(r, above.Grid, []int{3, 40}[seed/2%2])
			oneBlock := small("above")
			oneBlock.Cube = 8
			importAll(t, above, painted, filepath.Join(dir, "annotation"), oneBlock)

			inside := false
			box := volume.Box{Min: origin, Max: origin.Add(a.Grid.Size)}
			painting := volume.Box{Min: above.Grid.Origin, Max: above.Grid.Origin.Add(above.Grid.Size)}
			for v := range box.All() {
				if !blocks[v.Div(volume.Cube(8))] {
					continue
				}
				inside = true
				to := voxels[v.Sub(origin).Index(a.Grid.Size)*4:][:4]
				clear(to)
				if painting.Contains(v) {
					copy(to, painted[v.Sub(above.Grid.Origin).Index(above.Grid.Size)*4:])
				}
			}
			o.Stats, o.Backup = nil, filepath.Join(dir, "backup")
			err := Merge(t.Context(), layerOf(t, filepath.Join(dir, "annotation"), "above"), "annotation", out, o)
			if !inside {
				if !errors.Is(err, errNoBlocks) {
					t.Fatalf("nothing is painted: got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			whole := filepath.Join(dir, "whole")
			o.Backup = ""
			importAll(t, a, voxels, whole, o)
			got, want := tree(t, out), tree(t, whole)
			for _, f := range factors(spacing, a.Grid.Size, o.Mags) {
				name := fmt.Sprintf("ids/%v/volume.raw", f)
				if !bytes.Equal(read(t, got, name), read(t, want, name)) {
					t.Errorf("%s differs from that of a new import", name)
				}
			}
			for name := range before {
				touched := false
				for b := range wholeCubes(t, name, out).Div(volume.Cube(8)).All() {
					touched = touched || blocks[b] && !b.BoxOfOne().Mul(volume.Cube(8)).Intersect(box).Empty()
				}
				info, err := os.Stat(name)
				if err != nil || touched == info.ModTime().Equal(past) {
					t.Errorf("%s has a block: %v; written again: %v, %v", name, touched, !info.ModTime().Equal(past),
						err)
				}
				kept, err := os.Stat(strings.Replace(name, out, filepath.Join(dir, "backup"), 1))
				if touched != (err == nil) || touched && !kept.ModTime().Equal(past) {
					t.Errorf("%s has a block: %v; in the backup: %v", name, touched, err)
				}
			}
			if left := names(t, out, ".tmp"); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// changing is a mag whose first cube is of another version each time.
type changing struct {
	volume.Mag
	n *int
}

func (c changing) StatCubes(zyx ...int) (fs.FileInfo, error) {
	info, err := c.Mag.StatCubes(zyx...)
	*c.n++
	return newer{info, *c.n}, err
}

type newer struct {
	fs.FileInfo
	n int
}

func (n newer) Size() int64 { return int64(n.n) }

// oneMag is a layer of one mag.
type oneMag struct {
	volume.Layer
	mag volume.Mag
}

func (l oneMag) Mag(string) (volume.Mag, error) { return l.mag, nil }

// TestMergeErrors: these annotations are refused before anything is written. One that changes meanwhile is an error.
func TestMergeErrors(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint32, 1)
	out := filepath.Join(dir, "out")
	importAll(t, a, voxeltest.Pattern(a.Grid), out, small("ids"))
	made := func(name string, typ volume.Type, at volume.Vec) volume.Layer {
		b := array(typ, 1)
		b.Grid.Origin = at
		importAll(t, b, voxeltest.Pattern(b.Grid), filepath.Join(dir, name), small("above"))
		return layerOf(t, filepath.Join(dir, name), "above")
	}
	sound := made("sound", volume.Uint32, origin)
	mag, err := sound.Mag("1")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		layer string
		above volume.Layer
		want  string
	}{
		"type": {"ids", made("type", volume.Uint64, origin),
			"a.zip over layer ids: expected voxels of 1 × uint32, found 1 × uint64"},
		"outside":  {"ids", made("outside", volume.Uint32, volume.Vec{500, 500, 500}), "a.zip: " + errNoBlocks.Error()},
		"no layer": {"other", sound, "an update needs an existing layer"},
		"no name":  {"", sound, "name the layer"},
		"changing": {"ids", oneMag{sound, changing{mag, new(int)}}, volume.ErrChanged.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			before := age(t, out)
			o := small(test.layer)
			o.DryRun = func(DryRun) { t.Error("it would be written") }
			if name == "changing" {
				o.DryRun = nil
			}
			if err := Merge(t.Context(), test.above, "a.zip", out, o); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			for file := range before {
				if info, err := os.Stat(file); name != "changing" && (err != nil || !info.ModTime().Equal(past)) {
					t.Errorf("%s was written: %v", file, err)
				}
			}
		})
	}
}
