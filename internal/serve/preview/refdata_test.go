package preview_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/serve/preview"
	"github.com/wkwfs/wkwfs/internal/serve/render"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
)

// TestDrawReferenceData draws planes of all formats, as other programs wrote them, and compares them with
// volume.ReadBox.
func TestDrawReferenceData(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	drawn := 0
	for _, format := range []string{"wkw", "precomputed", "zarr"} {
		dir := refdata.Dir(t, format)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			opened, err := dataset.Open(t.Context(), filepath.Join(dir, e.Name()), dataset.Options{})
			if err != nil {
				continue // a directory of sources, or of other files
			}
			for name, m := range magsOf(t, opened.Root) {
				if compareMag(t, filepath.Join(format, e.Name(), name), name, m) {
					drawn++
				}
			}
		}
	}
	if drawn < 50 {
		t.Errorf("only %d planes were drawn", drawn)
	}
}

// magsOf returns the mags of a source by their names, with those of their layers.
func magsOf(t *testing.T, root volume.Root) map[string]volume.Mag {
	t.Helper()
	layers := map[string]volume.Layer{}
	if root.Layer != nil {
		layers[""] = root.Layer
	}
	if root.Dataset != nil {
		names, err := root.Dataset.Layers()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if layers[name], err = root.Dataset.Layer(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := map[string]volume.Mag{}
	if root.Mag != nil {
		all["1"] = root.Mag
	}
	for layer, l := range layers {
		names, err := l.Mags()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if m, err := l.Mag(name); err == nil {
				all[filepath.Join(layer, name)] = m
			}
		}
	}
	return all
}

// compareMag compares a picture of one pixel a voxel. It returns false for a plane that cannot be read.
func compareMag(t *testing.T, title, name string, m volume.Mag) bool {
	t.Helper()
	mag, err := preview.OfMag(name, m)
	if err != nil {
		return false
	}
	size := mag.Bounds.Size()
	if size[0]*size[1] > 1<<18 {
		return false
	}
	mag.Cube.Spacing = [3]float64{} // square voxels
	p, err := preview.Draw(t.Context(), []preview.Mag{mag},
		preview.Options{Canvas: preview.Canvas{Width: size[0], Height: size[1]}, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	voxels, err := volume.ReadBox(t.Context(), m, p.Plane)
	if err != nil || p.Damaged > 0 {
		if err == nil || p.Damaged == 0 {
			t.Errorf("%s: %d blocks are damaged, ReadBox: %v", title, p.Damaged, err)
		}
		return false
	}
	kind := render.KindOf(mag.Category, mag.Cube.Type, mag.Cube.Channels)
	step, value := mag.Cube.VoxelBytes(), render.Values(mag.Cube.Type)
	for i := range size[0] * size[1] {
		voxel, got := voxels[i*step:], p.Image.NRGBAAt(i%size[0], i/size[0])
		want := [3]uint8{}
		switch kind {
		case render.RGB:
			want = [3]uint8(voxel)
		case render.Segments:
			c := render.Colour(render.ID(voxel[:mag.Cube.Type.Size()]))
			want = [3]uint8{c.R, c.G, c.B}
		case render.Grey:
			grey := p.Window.Grey(value(voxel))
			want = [3]uint8{grey, grey, grey}
		}
		if [3]uint8{got.R, got.G, got.B} != want {
			t.Errorf("%s: pixel %d,%d is %v, want %v", title, i%size[0], i/size[0], got, want)
			return true
		}
	}
	return true
}
