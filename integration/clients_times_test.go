//go:build clients

package integration

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestClientTimes: numpy, nibabel and tifffile read all times from one file. ImageJ's hyperstack has frames.
func TestClientTimes(t *testing.T) {
	root, _ := refdata.Sources(t, "zarr")
	for name, c := range map[string]struct {
		times int
		mag   string
		want  map[string]any
	}{
		"t4.nii":  {4, "1", map[string]any{"axes": "TZYX", "imagej": true, "nibabel agrees": true}},
		"time_v2": {3, "0", map[string]any{"axes": "TZYXS", "imagej": true}}, // NIfTI has no interleaved channels
	} {
		dir := mount(t, filepath.Join(root, name))
		out, err := exec.Command("/usr/bin/python3", "clients/read_times.py", filepath.Join(dir, c.mag)).Output()
		got := map[string]any{}
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Errorf("%s: %s, %v", name, out, err)
			continue
		}
		t.Logf("%s: %s", name, out)
		var voxels []byte
		for at := range c.times {
			b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("t%04d", at), c.mag, "volume.raw"))
			if err != nil {
				t.Fatal(err)
			}
			voxels = append(voxels, b...)
		}
		c.want["sha256"], c.want["tifffile agrees"] = fmt.Sprintf("%x", sha256.Sum256(voxels)), true
		for key, want := range c.want {
			if !reflect.DeepEqual(got[key], want) {
				t.Errorf("%s: %s: got %v, expected %v", name, key, got[key], want)
			}
		}
		if shape, _ := got["numpy"].([]any); len(shape) == 0 || shape[len(shape)-1] != float64(c.times) {
			t.Errorf("%s: numpy: got a shape of %v, expected %d times", name, shape, c.times)
		}
		if shape := got["nibabel"]; shape != nil && !reflect.DeepEqual(shape, got["numpy"]) {
			t.Errorf("%s: nibabel: got a shape of %v, expected %v", name, shape, got["numpy"])
		}
	}
}

// TestClientOMEFiles: the planes of an OME-TIFF in three files, in all orders of dimensions, are those that tifffile
// reads, whichever of the files is mounted.
func TestClientOMEFiles(t *testing.T) {
	root := t.TempDir()
	if out, err := exec.Command("/usr/bin/python3", "clients/write_ome_files.py", root).CombinedOutput(); err != nil {
		t.Fatalf("tifffile: %v\n%s", err, out)
	}
	for _, order := range []string{"ZCT", "ZTC", "CZT", "CTZ", "TZC", "TCZ"} {
		want, err := os.ReadFile(filepath.Join(root, order+".raw"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a.ome.tif", "c.ome.tif"} {
			copied := filepath.Join(t.TempDir(), "volume.raw")
			mustRun(t, "cp", "--quiet", filepath.Join(root, order, name), "1/volume.raw", copied)
			if got, err := os.ReadFile(copied); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s: got %d bytes, %v, expected %d others", order, name, len(got), err, len(want))
			}
		}
		if out := mustRun(t, "info", filepath.Join(root, order)); strings.Count(out, "/t0003\n") != 1 {
			t.Errorf("%s: got %s, expected one layer with times", order, out)
		}
	}
}
