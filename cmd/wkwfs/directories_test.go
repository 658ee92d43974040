package main

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/sample"
)

// TestDirectories: what a source is read from is one directory for each path, and it is known what was asked of it.
func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	s, err := openSource(filepath.Join(dir, "color"), sourceFlags{followLinks: true, ioDepth: 7}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	before := s.status()
	if before.Looks == 0 || before.MostUnderWay < 1 || before.MostUnderWay > 7 || before.UnderWay != 0 {
		t.Errorf("after it was opened: %+v", before)
	}
	open := s.outside(dir)
	for _, path := range []string{"segmentation", filepath.Join(dir, "segmentation"), "file://" + dir + "/segmentation/"} {
		fsys, err := open(path)
		if err != nil || fsys == nil {
			t.Fatalf("%s: %v, %v", path, fsys, err)
		}
	}
	if len(s.opened) != 2 {
		t.Errorf("there are %d directories", len(s.opened))
	}
	for _, path := range []string{"nothing", "https://example.org/segmentation"} {
		if fsys, err := open(path); err == nil || fsys != nil {
			t.Errorf("%s: %v, %v", path, fsys, err)
		}
	}
	mag, err := s.Layer.Mag("1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mag.CubeGrid(); err != nil {
		t.Fatal(err)
	}
	if after := s.status(); after.Looks <= before.Looks || after.Reads <= before.Reads || after.ReadBytes <= before.ReadBytes || after.LookLatency.P99 <= 0 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if s.prompt() {
		t.Error("links that may lead to another machine are not expected to hang")
	}
}

// TestIsLocal: what is not known as a file system of disks may hang.
func TestIsLocal(t *testing.T) {
	for _, dir := range []string{"/proc", filepath.Join(t.TempDir(), "nothing")} {
		if isLocal(dir) {
			t.Errorf("%s is local", dir)
		}
	}
}
