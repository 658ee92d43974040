package importer

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/sample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestRoundTrip writes arrays as a mount would show them, imports them, and looks whether
// a mount shows the same.
func TestRoundTrip(t *testing.T) {
	for _, typ := range volume.Types() {
		for _, channels := range []int{1, 3} {
			a := array(typ, channels)
			voxels := pattern(a.Grid)
			for _, suffix := range []string{".raw", ".npy", ".nrrd", ".nhdr", ".nii", ".tif"} {
				if suffix == ".nii" && channels > 1 && typ != volume.Uint8 {
					continue // NIfTI has no channels but those of RGB24
				}
				t.Run(fmt.Sprintf("%v×%d%s", typ, channels, suffix), func(t *testing.T) {
					dir := t.TempDir()
					name := export(t, dir, a, voxels, suffix)
					var in *Input
					if suffix == ".raw" {
						in = mustOpenRaw(t, name, a.Grid)
					} else {
						in = mustOpen(t, name)
					}
					o := small("l")
					if suffix == ".npy" { // which knows no place
						o.Offset, o.Scale = &origin, spacing
					}
					o.Compression = wkw.Raw + wkw.BlockType(typ)%3
					out := filepath.Join(dir, "out")
					if err := Import(t.Context(), in, out, o); err != nil {
						t.Fatal(err)
					}
					got := tree(t, out)
					if !bytes.Equal(read(t, got, "l/1/volume.raw"), voxels) {
						t.Error("other voxels")
					}
					about := string(read(t, got, "l/1/volume.json"))
					for _, want := range []string{fmt.Sprintf("%q: %q", "dtype", typ), fmt.Sprintf("%q: %d", "channels", channels), "5,\n    30,\n    11"} {
						if !strings.Contains(about, want) {
							t.Errorf("volume.json lacks %s: %s", want, about)
						}
					}
				})
			}
		}
	}
}

// TestSampleRoundTrip imports the slices of the sample dataset, which lacks a cube.
func TestSampleRoundTrip(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), filepath.Join(dir, "in"), sample.Defaults()); err != nil {
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
		o.Block, o.Cube = 32, 64
		var stats Stats
		o.Stats = &stats
		if err := Import(t.Context(), mustOpen(t, slices), filepath.Join(dir, "out"), o); err != nil {
			t.Fatal(err)
		}
		if stats.Empty.Load() == 0 || stats.AllBytes.Load() != stats.DoneBytes.Load() {
			t.Errorf("%s: %d cubes without voxels, %d of %d bytes", layer, stats.Empty.Load(), stats.DoneBytes.Load(), stats.AllBytes.Load())
		}
		to := tree(t, filepath.Join(dir, "out"))
		for _, name := range []string{"volume.raw", "volume.json"} {
			name = layer + "/1/" + name
			if got, want := read(t, to, name), read(t, from, name); name[len(name)-1] == 'w' && !bytes.Equal(got, want) {
				t.Errorf("%s differs", name)
			}
		}
		got, want := read(t, to, wkw.PropertiesFile), read(t, from, wkw.PropertiesFile)
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

// TestReferenceData imports what other programs have written.
func TestReferenceData(t *testing.T) {
	root := os.Getenv("WKWFS_REFDATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "refdata")
	}
	sets, _ := filepath.Glob(filepath.Join(root, "wkw", "*", wkw.PropertiesFile))
	sets = append(sets, filepath.Join(root, "l4_sample", wkw.PropertiesFile))
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no reference data: %v; WKWFS_REFDATA names the directory", err)
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
				dir := t.TempDir()
				write(t, filepath.Join(dir, filepath.Base(name)), read(t, from, name))
				o := small("l")
				o.Block, o.Cube = 32, 128
				if err := Import(t.Context(), mustOpen(t, filepath.Join(dir, filepath.Base(name))), dir, o); err != nil {
					t.Fatal(err)
				}
				raw := filepath.Dir(name) + "/volume.raw"
				if !bytes.Equal(read(t, tree(t, dir), "l/1/volume.raw"), read(t, from, raw)) {
					t.Error("other voxels")
				}
			})
		}
	}
}
