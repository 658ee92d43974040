package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestCopyScripts runs what testdata/cp/*.txt shows of wkwfs cp.
func TestCopyScripts(t *testing.T) {
	damaged, err := filepath.Abs("../../testdata/damaged")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/cp",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DAMAGED", damaged)
			return nil
		},
	})
}

func TestSetPath(t *testing.T) {
	tests := []struct {
		text, path string // path empty: refused
		contents   bool
	}{
		{".", ".", true},
		{"./", ".", true},
		{"./.", ".", true},
		{"color/1", "color/1", false},
		{"./color/1/", "color/1", false},
		{"color/1/.", "color/1", true},
		{"", "", false},
		{"/color", "", false},
		{"../color", "", false},
		{"color/../x", "", false},
		{"color//1", "", false},
	}
	for _, test := range tests {
		var s copySettings
		err := s.setPath(test.text)
		if (err != nil) != (test.path == "") || err == nil && (s.path != test.path || s.contents != test.contents) {
			t.Errorf("%q: got %q, %v, %v", test.text, s.path, s.contents, err)
		}
	}
}

// TestLasting holds when the version of a file is another one.
func TestLasting(t *testing.T) {
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
		{"a cube, for the volume", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young }, "color/1/volume.raw", true, young},
		{"a cube, for a slice", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young }, "color/1/slices/z0.tif", true, young},
		{"a cube, for a chunk", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young }, "color/precomputed/1/0-8", true, young},
		{"a cube, for itself", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young }, "color/1/z0/y1/x0.raw", true, young},
		{"a cube, for another", func(m fstest.MapFS) { m["color/1/z0/y1/x0.raw"].ModTime = young }, "color/1/z0/y0/x0.raw", false, old},
		{"a cube less", func(m fstest.MapFS) { delete(m, "color/1/z0/y1/x0.raw") }, "color/1/volume.raw", true, old},
		{"the geometry", func(m fstest.MapFS) { m["color/1/volume.json"].Data = []byte("place") }, "color/1/volume.raw", true, old},
		{"metadata, for itself", func(m fstest.MapFS) { m["datasource-properties.json"].ModTime = young }, "datasource-properties.json", true, young},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before, err := fs.Stat(newLasting(tree(), 4), test.file)
			if err != nil {
				t.Fatal(err)
			}
			m := tree()
			test.change(m)
			f, err := newLasting(m, 4).Open(test.file)
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

func TestChoice(t *testing.T) {
	mag := fstest.MapFS{"volume.json": {}, "volume.raw": {}, "slices/a": {}, "box": {Mode: fs.ModeDir}, "z0/y0/x0.raw": {}}
	cubes := fstest.MapFS{"x0.raw": {}, "x0.blocks/z0": {}, "slices/a": {}, "volume.raw": {}}
	layer := fstest.MapFS{"1/a": {}, "2-2-1/a": {}, "precomputed/info": {}}
	dataset := fstest.MapFS{"color/1/a": {}, "precomputed/1/a": {}}
	tests := []struct {
		folder fs.FS
		choice choice
		want   []string
	}{
		{mag, choice{}, []string{"volume.json", "z0"}},
		{mag, choice{all: true}, []string{"box", "slices", "volume.json", "volume.raw", "z0"}},
		{layer, choice{}, []string{"1", "2-2-1"}},
		{layer, choice{all: true}, []string{"1", "2-2-1", "precomputed"}},
		{dataset, choice{}, []string{"color", "precomputed"}},
		{cubes, choice{}, []string{"slices", "volume.raw", "x0.raw"}},
		{cubes, choice{blocks: true}, []string{"slices", "volume.raw", "x0.blocks", "x0.raw"}},
	}
	for _, test := range tests {
		entries, err := fs.ReadDir(test.folder, ".")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range test.choice.entries(".", entries) {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %v, want %v", test.choice, got, test.want)
		}
	}
}

func TestFolderNote(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("ds", 0o777); err != nil {
		t.Fatal(err)
	}
	source, err := realPath("ds")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, dest string
		complete   bool
		want       string // the folder that is written to
	}{
		{"color/1", "out", false, "out"},
		{"color/1", "out", false, "out"}, // again, as the first one did not complete
		{"color/1", "out/", false, "out"},
		{"color/2", "out", false, "2"}, // something else: into it
		{"color/1", "whole", true, "whole"},
		{"color/1", "whole", true, "1"},
	}
	for _, test := range tests {
		s := copySettings{path: test.path, dest: test.dest}
		to, err := s.findTarget(source, true)
		if err != nil {
			t.Fatal(err)
		}
		to.close()
		if test.complete {
			if err := to.complete(); err != nil {
				t.Fatal(err)
			}
		}
		if got := filepath.Base(to.root.Name()); got != test.want {
			t.Errorf("%s to %s went to %s, want %s", test.path, test.dest, got, test.want)
		}
	}
}

// TestCopyReferenceData copies volumes that other programs wrote, and compares them
// with what those programs say is in them.
func TestCopyReferenceData(t *testing.T) {
	dir := os.Getenv("WKWFS_REFDATA")
	if dir == "" {
		dir = "../../../shared/refdata"
	}
	dir = filepath.Join(dir, "wkw")
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skipf("no reference data: %v (set WKWFS_REFDATA)", err)
	}
	var mags []struct {
		Dataset, Layer, Mag string
		Volume              struct{ SHA256 string }
	}
	if err := json.Unmarshal(text, &mags); err != nil {
		t.Fatal(err)
	}
	for _, m := range mags {
		t.Run(path.Join(m.Dataset, m.Layer, m.Mag), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "volume.raw")
			var stderr strings.Builder
			code := run([]string{"cp", "-q", filepath.Join(dir, m.Dataset), path.Join(m.Layer, m.Mag, "volume.raw"), out}, io.Discard, &stderr)
			if code != exitDone {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			voxels, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%x", sha256.Sum256(voxels)); got != m.Volume.SHA256 {
				t.Errorf("%d bytes of SHA-256 %s, want %s", len(voxels), got, m.Volume.SHA256)
			}
		})
	}
}
