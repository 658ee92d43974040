package importer

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestRoundTrip writes arrays with the headers of a mount, imports them, and compares the voxels with those of a mount.
func TestRoundTrip(t *testing.T) {
	for _, typ := range volume.Types() {
		for _, channels := range []int{1, 3, 4} {
			if testing.Short() && channels > 1 && typ != volume.Uint8 {
				continue // goroutines do the same with all types
			}
			a := array(typ, channels)
			voxels := voxeltest.Pattern(a.Grid)
			for _, suffix := range []string{".raw", ".npy", ".nrrd", ".nhdr", ".mhd", ".nii", ".tif"} {
				if suffix == ".nii" && channels > 1 && (channels != 3 || typ != volume.Uint8) {
					continue // NIfTI has no channels but those of RGB24
				}
				t.Run(fmt.Sprintf("%v×%d%s", typ, channels, suffix), func(t *testing.T) {
					dir := voxeltest.TempDir(t)
					name := voxeltest.Export(t, dir, a, voxels, suffix)
					var in *arrayfile.Array
					if suffix == ".raw" {
						in = mustOpenRaw(t, name, a.Grid)
					} else {
						in = mustOpen(t, name)
					}
					o := small("l")
					if suffix == ".npy" { // has no position
						o.Offset, o.VoxelSize = &origin, spacing
					}
					o.Compression = wkw.Raw + wkw.BlockType(typ)%3
					out := filepath.Join(dir, "out")
					if err := Import(t.Context(), in, out, o); err != nil {
						t.Fatal(err)
					}
					got := tree(t, out)
					if !bytes.Equal(read(t, got, "l/1/volume.raw"), voxels) {
						t.Error("the voxels differ")
					}
					about := string(read(t, got, "l/1/volume.json"))
					for _, want := range []string{fmt.Sprintf("%q: %q", "dtype", typ),
						fmt.Sprintf("%q: %d", "channels", channels), "5,\n    30,\n    11"} {
						if !strings.Contains(about, want) {
							t.Errorf("volume.json lacks %s: %s", want, about)
						}
					}
				})
			}
		}
	}
}

// TestSampleRoundTrip imports the slices of a small sample dataset, in which a cube is absent.
func TestSampleRoundTrip(t *testing.T) {
	dir := voxeltest.TempDir(t)
	sampled := sample.Defaults()
	sampled.Box = volume.Box{Min: volume.Vec{35, 20, 10}, Max: volume.Vec{75, 50, 30}}
	sampled.Unrecorded = volume.Box{Min: volume.Vec{64, 32, 0}, Max: volume.Vec{96, 64, 32}}
	sampled.Block, sampled.CubeSide, sampled.Mags = 16, 32, []int{1, 2}
	if err := sample.Write(t.Context(), filepath.Join(dir, "in"), sampled); err != nil {
		t.Fatal(err)
	}
	from := tree(t, filepath.Join(dir, "in"))
	for _, layer := range []string{"color", "segmentation"} {
		slices := filepath.Join(dir, layer)
		sub, err := fs.Sub(from, layer+"/1/slices")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(slices, sub); err != nil {
			t.Fatal(err)
		}
		o := small(layer)
		o.Block, o.Cube, o.Category = 16, 32, "" // the values show it
		var stats Stats
		o.Stats = &stats
		if err := Import(t.Context(), mustOpen(t, slices), filepath.Join(dir, "out"), o); err != nil {
			t.Fatal(err)
		}
		if stats.Empty.Load() == 0 || stats.AllBytes.Load() != stats.DoneBytes.Load() {
			t.Errorf("%s: %d cubes without voxels, %d of %d bytes", layer, stats.Empty.Load(), stats.DoneBytes.Load(),
				stats.AllBytes.Load())
		}
		to := tree(t, filepath.Join(dir, "out"))
		for _, name := range []string{"volume.raw", "volume.json"} {
			name = layer + "/1/" + name
			if got, want := read(t, to, name), read(t, from, name); name[len(name)-1] == 'w' &&
				!bytes.Equal(got, want) {
				t.Errorf("%s differs", name)
			}
		}
		got, want := read(t, to, webknossos.PropertiesFile), read(t, from, webknossos.PropertiesFile)
		if layer == "segmentation" && largest(string(got)) != largest(string(want)) {
			t.Errorf("largest id: got %s, want %s", largest(string(got)), largest(string(want)))
		}
	}
}

func largest(properties string) string {
	_, after, _ := strings.Cut(properties, `"largestSegmentId":`)
	before, _, _ := strings.Cut(after, ",")
	return strings.TrimSpace(before)
}

// TestReferenceData imports volumes from datasets that other programs wrote.
func TestReferenceData(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	var sets []string
	for _, set := range refdata.WKW() {
		for _, pattern := range []string{".", "*"} {
			found, _ := filepath.Glob(filepath.Join(refdata.Dir(t, set), pattern, webknossos.PropertiesFile))
			sets = append(sets, found...)
		}
	}
	for _, set := range sets {
		from := tree(t, filepath.Dir(set))
		volumes, err := fs.Glob(from, "*/1/volume.*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range volumes {
			if suffix := filepath.Ext(name); !slices.Contains([]string{".nrrd", ".nii", ".tif"}, suffix) {
				continue
			}
			t.Run(filepath.Base(filepath.Dir(set))+"/"+name, func(t *testing.T) {
				dir := voxeltest.TempDir(t)
				write(t, filepath.Join(dir, filepath.Base(name)), read(t, from, name))
				o := small("l")
				o.Block, o.Cube = 32, 128
				if err := Import(t.Context(), mustOpen(t, filepath.Join(dir, filepath.Base(name))), dir,
					o); err != nil {
					t.Fatal(err)
				}
				raw := filepath.Dir(name) + "/volume.raw"
				if !bytes.Equal(read(t, tree(t, dir), "l/1/volume.raw"), read(t, from, raw)) {
					t.Error("the voxels differ")
				}
			})
		}
	}
}

// TestCompressedInput imports a file that can only be read in its order.
func TestCompressedInput(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := array(volume.Uint16, 1)
	voxels := voxeltest.Pattern(a.Grid)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(read(t, os.DirFS(dir), filepath.Base(voxeltest.Export(t, dir, a, voxels,
		".nii")))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "volume.nii.gz")
	write(t, name, packed.Bytes())
	out := filepath.Join(dir, "out")
	if err := Import(t.Context(), mustOpen(t, name), out, small("l")); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, tree(t, out), "l/1/volume.raw"), voxels) {
		t.Error("the voxels differ")
	}
	if left := names(t, out, ".tmp"); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}
