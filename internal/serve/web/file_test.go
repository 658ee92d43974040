package web

import "testing"

func TestContentType(t *testing.T) {
	for name, want := range map[string]string{
		"color/1/volume.json": "application/json", "color/precomputed/info": "application/json",
		"color/1/volume.raw":     "application/octet-stream",
		"color/ome.zarr/.zattrs": "application/json", "color/ome.zarr/.zgroup": "application/json",
		"color/ome.zarr/.zmetadata": "application/json",
		"color/ome.zarr/1/.zarray":  "application/json", "color/ome.zarr/1/0/0/0": "application/octet-stream",
		"color/ome-v3.zarr/zarr.json": "application/json", "color/1/slices/z0000000.tif": "image/tiff",
	} {
		if got := contentType(name); got != want {
			t.Errorf("%s: got %s, expected %s", name, got, want)
		}
	}
}
