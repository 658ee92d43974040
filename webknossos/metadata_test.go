package webknossos

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// TestCheckMetadata shows that missing and damaged metadata are distinguished, and that the layer is found without it.
func TestCheckMetadata(t *testing.T) {
	cube := &fstest.MapFile{Data: soundCube}
	for _, c := range []struct {
		name        string
		files       fstest.MapFS
		dataset     string // the error of the dataset, and that of the mag
		mag         string
		magNotExist bool
	}{
		{"no header.wkw, no metadata", fstest.MapFS{}, "", "open color/1/header.wkw: file does not exist", true},
		{"sound", fstest.MapFS{
			PropertiesFile: {Data: []byte(
				`{"scale": [4, 4, 40], "dataLayers": [{"name": "color", "mags": [{"mag": 1}]}]}`)},
			"color/1/header.wkw": {Data: soundHeader},
		}, "", "", false},
		{"damaged", fstest.MapFS{
			PropertiesFile:       {Data: []byte("{")},
			"color/1/header.wkw": {Data: []byte("WKW\x01")},
		}, "datasource-properties.json: unexpected end of JSON input",
			"color/1/header.wkw: header at byte 0: expected 16 bytes, found 4", false},
	} {
		c.files["color/1/z0/y0/x0.wkw"] = cube
		root, err := Recognise(c.files, ".", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := checkMetadata(root.Dataset); textOf(got) != c.dataset {
			t.Errorf("%s: dataset: got %v, expected %q", c.name, got, c.dataset)
		}
		l, err := root.Dataset.Layer("color")
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Mag("1")
		if err != nil {
			t.Fatal(err)
		}
		if got := checkMetadata(m); textOf(got) != c.mag || errors.Is(got, fs.ErrNotExist) != c.magNotExist {
			t.Errorf("%s: mag: got %v, expected %q", c.name, got, c.mag)
		}
	}
}

func checkMetadata(of any) error { return errors.Join(of.(volume.MetadataChecker).CheckMetadata()...) }

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
