package copier

import (
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestStable lists which changes of the source change the version of a file.
func TestStable(t *testing.T) {
	old, young := time.Unix(1e9, 0), time.Unix(2e9, 0)
	tree := func() fstest.MapFS {
		return fstest.MapFS{
			"color/1/volume.json":        {Data: []byte("shape"), ModTime: old},
			"color/1/volume.raw":         {Data: []byte("voxels"), ModTime: old},
			"color/1/slices/z0.tif":      {Data: []byte("plane"), ModTime: old},
			"color/precomputed/1/0-8":    {Data: []byte("chunk"), ModTime: old},
			"color/1/z0/y0/x0.raw":       {Data: []byte("vox"), ModTime: old},
			"color/1/z0/y1/x0.raw":       {Data: []byte("els"), ModTime: old},
			"datasource-properties.json": {Data: []byte("{}"), ModTime: old},
		}
	}
	tests := []struct {
		name    string
		change  func(fstest.MapFS)
		file    string
		changed bool
		time    time.Time
	}{
		{"nothing", func(fstest.MapFS) {}, "color/1/volume.raw", false, old},
		{"a cube, for the volume", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young },
			"color/1/volume.raw", true, young},
		{"a cube, for a slice", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young },
			"color/1/slices/z0.tif", true, young},
		{"a cube, for a chunk", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young },
			"color/precomputed/1/0-8", true, young},
		{"a cube, for itself", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young },
			"color/1/z0/y1/x0.raw", true, young},
		{"a cube, for another", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young },
			"color/1/z0/y0/x0.raw", false, old},
		{"a cube less", func(m fstest.MapFS) { delete(m, "color/1/z0/y1/x0.raw") }, "color/1/volume.raw", true, old},
		{"the geometry", func(m fstest.MapFS) { m["color/1/volume.json"].Data = []byte("place") }, "color/1/volume.raw",
			true, old},
		{"metadata, for itself", func(m fstest.MapFS) { m["datasource-properties.json"].ModTime = young },
			"datasource-properties.json", true, young},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before, err := fs.Stat(Stable(tree(), 4), test.file)
			if err != nil {
				t.Fatal(err)
			}
			m := tree()
			test.change(m)
			f, err := Stable(m, 4).Open(test.file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			after, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if changed := vfs.VersionOf(before) != vfs.VersionOf(after); changed != test.changed {
				t.Errorf("changed: %v", changed)
			}
			if !after.ModTime().Equal(test.time) {
				t.Errorf("time %v", after.ModTime())
			}
		})
	}
}
