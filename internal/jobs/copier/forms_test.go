package copier

import (
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

func TestForms(t *testing.T) {
	mag := fstest.MapFS{"volume.json": {}, "volume.raw": {}, "slices/a": {}, "box": {Mode: fs.ModeDir},
		"z0/y0/x0.raw": {}}
	cubes := fstest.MapFS{"x0.raw": {}, "x0.blocks/z0": {}, "slices/a": {}, "volume.raw": {}}
	layer := fstest.MapFS{"1/a": {}, "2-2-1/a": {}, "precomputed/info": {}, "ome.zarr/.zattrs": {},
		"ome-v3.zarr/zarr.json": {}}
	named := fstest.MapFS{"s0/a": {}, "ome.zarr/.zattrs": {}}
	dataset := fstest.MapFS{"1color/1/a": {}, "precomputed/1/a": {}, "ome.zarr/1/a": {}}
	movie := fstest.MapFS{"t0000/1/a": {}, "t0001/1/a": {}, "1/volume.json": {}, "1/volume.nii": {},
		"2/volume.json": {}, "2/slices/a": {}, "3/a": {}}
	tests := []struct {
		dir   fs.FS
		forms Forms
		want  []string
	}{
		{mag, Forms{}, []string{"volume.json", "z0"}},
		{mag, Forms{All: true}, []string{"box", "slices", "volume.json", "volume.raw", "z0"}},
		{layer, Forms{}, []string{"1", "2-2-1"}},
		{layer, Forms{All: true}, []string{"1", "2-2-1", "ome-v3.zarr", "ome.zarr", "precomputed"}},
		{named, Forms{}, []string{"s0"}},
		{movie, Forms{}, []string{"2", "3", "t0000", "t0001"}},
		{movie, Forms{All: true}, []string{"1", "2", "3", "t0000", "t0001"}},
		{dataset, Forms{}, []string{"1color", "ome.zarr", "precomputed"}},
		{cubes, Forms{}, []string{"slices", "volume.raw", "x0.raw"}},
		{cubes, Forms{Blocks: true}, []string{"slices", "volume.raw", "x0.blocks", "x0.raw"}},
	}
	for _, test := range tests {
		entries, err := fs.ReadDir(test.dir, ".")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		test.forms.FS = test.dir
		for _, e := range test.forms.Select(".", entries) {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %v, want %v", test.forms, got, test.want)
		}
	}
}
