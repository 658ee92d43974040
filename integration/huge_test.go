package integration

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHugeLayer mounts a layer of 100,000 × 100,000 × 10,000 voxels with one cube, and a layer that is too
// large for a file.
func TestHugeLayer(t *testing.T) {
	m := model{blockLog: 5, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1} // cubes of 64³
	source := t.TempDir()
	m.write(t, filepath.Join(source, "color/1"), 1500, 1400, 150)
	m.write(t, filepath.Join(source, "vast/1"), 0, 0, 0)
	writeFile(t, filepath.Join(source, "datasource-properties.json"), []byte(`{"scale":[4,4,40],"dataLayers":[
		{"name":"color","boundingBox":{"topLeft":[0,0,0],"width":100000,"height":100000,"depth":10000}},
		{"name":"vast","boundingBox":{"topLeft":[0,0,0],"width":3000000,"height":3000000,"depth":3000000}}]}`))
	start := time.Now()
	dir := mount(t, source)
	entries, err := os.ReadDir(filepath.Join(dir, "color/1"))
	if err != nil || len(entries) != 12 {
		t.Errorf("the mag lists %v, error %v; want 12 entries", entries, err)
	}
	if took := time.Since(start); took > deadline { // what depends on the size takes hours
		t.Errorf("mounting and listing took %v", took)
	}
	x, y, z := int64(1500*64+7), int64(1400*64+33), int64(150*64+63)
	start = time.Now()
	for name, header := range map[string]int64{"volume.raw": 0, "volume.npy": 4096, "volume.nrrd": 4096,
		"volume.tif": 4096} {
		f, err := os.Open(filepath.Join(dir, "color/1", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p := make([]byte, 2)
		for _, at := range []struct {
			off  int64
			want byte
		}{{x + 100000*(y+100000*z), m.byteAt(7, 33, 63, 0)}, {0, 0}, {100000*100000*10000 - 2, 0}} {
			if _, err := f.ReadAt(p, header+at.off); err != nil || p[0] != at.want {
				t.Errorf("%s at %d: %d, want %d; %v", name, at.off, p[0], at.want, err)
			}
		}
	}
	if took := time.Since(start); took > deadline {
		t.Errorf("reading twelve voxels took %v", took)
	}
	for _, name := range []string{"volume.raw", "volume.npy", "volume.nii"} {
		if _, err := os.Stat(filepath.Join(dir, "vast/1", name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of a layer that is too large: %v, want ENOENT", name, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "vast/1/volume.json"))
	if err != nil || !bytes.Contains(b, []byte("more than 2^63")) {
		t.Errorf("volume.json of a layer that is too large: %s, %v", b, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "vast/1/box/7-9_33-34_63-64.raw")); err != nil ||
		!bytes.Equal(got, []byte{m.byteAt(7, 33, 63, 0), m.byteAt(8, 33, 63, 0)}) {
		t.Errorf("a box of a layer that is too large: %v, %v", got, err)
	}
}
