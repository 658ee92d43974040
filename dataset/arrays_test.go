package dataset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// TestStrayMetadata: WKW is recognised beside metadata of other formats that describe no array.
func TestStrayMetadata(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "datasource-properties.json")); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"attributes.json": "{}",
		"zarr.json": `{"zarr_format":3,"node_type":"group"}`, ".zarray": "{"} {
		for _, part := range []string{"", "color", "color/1"} {
			file := filepath.Join(dir, part, name)
			if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), filepath.Join(dir, part), Options{})
			if err != nil || s.Root.Dataset == nil && part == "" || s.Root.Layer == nil && part == "color" ||
				s.Root.Mag == nil && part == "color/1" {
				t.Errorf("%q with %s: got %+v, %v", part, name, s, err)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestBrokenArray: the error of an array or group that cannot be read names its metadata, not those of WKW.
func TestBrokenArray(t *testing.T) {
	root := refdata.Dir(t, "zarr")
	for name, want := range map[string]string{
		"v3_meta_json": "zarr.json: JSON", "v2_meta_dtype": ".zarray: unsupported dtype",
		"n5_meta_block_zero": "attributes.json: metadata: chunk",
	} {
		if _, err := Open(t.Context(), filepath.Join(root, "damaged", name), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %q", name, err, want)
		}
	}
}

// TestWindow: mags of all formats have the window that the metadata of their dataset gives the layer.
func TestWindow(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(refdata.Dir(t, "zarr/wk_mixed"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, webknossos.PropertiesFile)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var properties map[string]any
	if err := json.Unmarshal(b, &properties); err != nil {
		t.Fatal(err)
	}
	for _, l := range properties["dataLayers"].([]any) {
		l.(map[string]any)["defaultViewConfiguration"] = map[string]any{"intensityRange": []float64{3, 4.5}}
	}
	if b, err = json.Marshal(properties); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"wkw_rgb", "zarr3_rgb", "zarr2_u16", "n5_seg"} {
		l, err := s.Layer(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Mag("1")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := m.About().Window, (volume.Window{Low: 3, High: 4.5}); got != want {
			t.Errorf("%s: got %v, expected %v", name, got, want)
		}
	}
}
