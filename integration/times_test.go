package integration

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestTimesAsFiles: a mag at all times is one file of the volumes of the times, one after the other, also for tools
// that copy it. The directory of a layer without times has no such files.
func TestTimesAsFiles(t *testing.T) {
	root, _ := refdata.Sources(t, "zarr")
	for file, mag := range map[string]string{"time_v2": "0", "ij_hyper.tif": "1", "t4.nii": "1"} {
		dir := mount(t, filepath.Join(root, file))
		var want []byte
		for at := 0; ; at++ {
			b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("t%04d", at), mag, "volume.raw"))
			if os.IsNotExist(err) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, b...)
		}
		for _, name := range []string{"volume.raw", "volume.npy", "volume.tif"} {
			if got, err := os.ReadFile(filepath.Join(dir, mag, name)); err != nil || bytes.Count(got, want) != 1 {
				t.Errorf("%s: %s: got %d bytes, %v, want all of the %d bytes of the times", file, name, len(got), err,
					len(want))
			}
		}
		out := t.TempDir()
		mustRun(t, "cp", "--quiet", filepath.Join(root, file), mag+"/volume.raw", filepath.Join(out, "volume.raw"))
		if got, err := os.ReadFile(filepath.Join(out, "volume.raw")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: cp: got %d bytes, %v, want %d", file, len(got), err, len(want))
		}
		mustRun(t, "cp", "--quiet", filepath.Join(root, file), ".", filepath.Join(out, "all"))
		if _, err := os.Stat(filepath.Join(out, "all", mag)); !os.IsNotExist(err) {
			t.Errorf("%s: cp copied the voxels twice: %v", file, err)
		}
	}
}

// TestTimesAsImage: the times of a layer are one image of OME-Zarr with the axes t, c, z, y, x, whose times have the
// voxels of the layers. It is read by mounting it.
func TestTimesAsImage(t *testing.T) {
	root, _ := refdata.Sources(t, "zarr")
	for file, c := range map[string]struct {
		times, channels int
		mags            string
	}{"time_v2": {3, 2, "0 1"}, "ij_hyper.tif": {3, 2, "1"}, "t4.nii": {4, 1, "1"}} {
		dir := mount(t, filepath.Join(root, file))
		for _, view := range []string{"ome.zarr", "ome-v3.zarr"} {
			image := mount(t, filepath.Join(dir, view))
			for at := range c.times {
				for _, mag := range strings.Fields(c.mags) {
					name := filepath.Join(fmt.Sprintf("t%04d", at), mag, "volume.raw")
					want, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil {
						t.Fatal(err)
					}
					if got, err := os.ReadFile(filepath.Join(image, name)); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s: %s: %s: got %d bytes, %v, want those of the layer, %d", file, view, name,
							len(got), err, len(want))
					}
				}
			}
			if _, err := os.Stat(filepath.Join(image, fmt.Sprintf("t%04d", c.times))); !os.IsNotExist(err) {
				t.Errorf("%s: %s: got %v, want %d times", file, view, err, c.times)
			}
		}
		var array struct{ Shape, Chunks []int }
		readJSON(t, filepath.Join(dir, "ome.zarr", strings.Fields(c.mags)[0], ".zarray"), &array)
		if len(array.Shape) != 5 || array.Shape[0] != c.times || array.Shape[1] != c.channels || array.Chunks[0] != 1 ||
			array.Chunks[1] != 1 {
			t.Errorf("%s: got an array of %v in chunks of %v", file, array.Shape, array.Chunks)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "ome.zarr", ".zattrs")); err != nil ||
			!strings.Contains(string(b), `"type": "time"`) {
			t.Errorf("%s: got %s, %v, want an axis of time", file, b, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "t0000", "ome.zarr", ".zattrs")); err != nil {
			t.Error(err)
		}
	}
}
