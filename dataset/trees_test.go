package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// treesNML is an annotation with one tree and no volume.
const treesNML = `<?xml version="1.0" encoding="utf-8"?>
<things><parameters><experiment name="brain"/><scale x="10" y="10" z="20" unit="nanometer"/></parameters>
<thing id="1" name="axon"><nodes><node id="1" radius="20" x="100" y="10" z="1"/><node id="2" radius="30" x="200" y="0" z="2"/></nodes>
<edges><edge source="1" target="2"/></edges></thing></things>`

// zipped returns an archive with one file.
func zipped(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTreesWithoutVolumes opens annotations with trees and no volume: an NML file, an archive, a directory, and a file
// on a server. Each has no layer, the NML file, and the trees. What has no trees either is refused. A directory of
// another format is that, whatever lies in it.
func TestTreesWithoutVolumes(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write("trees.nml", []byte(treesNML))
	write("folder/trees.nml", []byte(treesNML))
	write("trees.zip", zipped(t, "trees.nml", treesNML))
	write("inner.zip", zipped(t, "top/trees.nml", treesNML))
	write("empty.nml", []byte("<things></things>"))
	write("empty.zip", zipped(t, "trees.nml", "<things></things>"))
	write("pictures/trees.nml", []byte(treesNML))
	write("pictures/a.nrrd", []byte("NRRD0004\ntype: uchar\ndimension: 3\nsizes: 1 1 2\nencoding: raw\n\n12"))
	write("parent/trees.nml", []byte(treesNML))
	write("parent/pictures/a.nrrd", []byte("NRRD0004\ntype: uchar\ndimension: 3\nsizes: 1 1 2\nencoding: raw\n\n12"))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, source := range []string{"trees.nml", "folder", "trees.zip", "inner.zip", server.URL + "/trees.nml",
		server.URL + "/trees.zip"} {
		path := source
		if !strings.HasPrefix(source, "http") {
			path = filepath.Join(dir, source)
		}
		d, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if names, err := d.Layers(); len(names) != 0 || err != nil {
			t.Errorf("%s: layers %v, %v", source, names, err)
		}
		if got, err := fs.ReadFile(d.Files(), "trees.nml"); err != nil || string(got) != treesNML {
			t.Errorf("%s: the NML file: %v", source, err)
		}
		want := "# unit: micrometers\n# id type x y z radius parent\n1 0 1 0.1 0.02 0.02 -1\n2 0 2 0 0.04 0.03 1\n"
		if got, err := fs.ReadFile(d.Files(), "skeletons/axon.swc"); err != nil ||
			!strings.HasSuffix(string(got), want) {
			t.Errorf("%s: the tree: %v, %q", source, err, got)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
	for source, want := range map[string]string{"empty.nml": "neither volumes nor trees", "empty.zip": "",
		"parent": "not a WKW"} {
		if _, err := Open(t.Context(), filepath.Join(dir, source), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", source, err)
		}
	}
	d, err := Open(t.Context(), filepath.Join(dir, "pictures"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if names, err := d.Layers(); !slices.Equal(names, []string{"a"}) || err != nil {
		t.Errorf("a folder of arrays with an NML file: layers %v, %v", names, err)
	}
}
