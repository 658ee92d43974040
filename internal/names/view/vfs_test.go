package view_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
	"github.com/wkwfs/wkwfs/webknossos"
)

// TestFileSystem: the tree of a dataset is a file system. TestAllFiles reads all ranges of all forms of files.
func TestFileSystem(t *testing.T) {
	dir, _ := writeDataset(t)
	properties := filepath.Join(dir, webknossos.PropertiesFile)
	b, err := os.ReadFile(properties)
	if err == nil { // there is a hole after the last cube
		err = os.WriteFile(properties, bytes.Replace(b, []byte(`"depth":8`), []byte(`"depth":24`), 1), 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
	vfstest.Test(t, open(t, dir, "."), vfstest.Expect{
		Files: map[string][]byte{
			"color/1/z0/y0/x0.raw": nil, "color/1/z0/y1/x3.blocks/z1/y0/x1.raw": nil, "color/1/volume.npy": nil,
			"color/1/volume.json":         nil,
			"color/1/slices/z0000002.tif": nil, "datasource-properties.json": nil,
		},
		Some: true,
		Has: "tree.Stat tree.ReadDir tree.List file.ReadAtContext file.SeekData file.SeekHole file.ReadOnce file.Push file.Seek" +
			" info.Version info.Stored info.Source info.Attributes",
	})
}
