package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/refdata"
	"github.com/wkwfs/wkwfs/internal/sample"
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
	for name, content := range map[string]string{"attributes.json": "{}", "zarr.json": `{"zarr_format":3,"node_type":"group"}`, ".zarray": "{"} {
		for _, part := range []string{"", "color", "color/1"} {
			file := filepath.Join(dir, part, name)
			if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := Open(filepath.Join(dir, part), Options{})
			if err != nil || s.Dataset == nil && part == "" || s.Layer == nil && part == "color" || s.Mag == nil && part == "color/1" {
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
		"v3_meta_json": "zarr.json: JSON", "v2_meta_dtype": ".zarray: unsupported dtype", "n5_meta_block_zero": "attributes.json: metadata: chunk",
	} {
		if _, err := Open(filepath.Join(root, "damaged", name), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %q", name, err, want)
		}
	}
}
