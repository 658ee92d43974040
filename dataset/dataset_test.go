package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/volume"
)

// TestDirectories: a source has one store for each directory, and counts the requests to it.
func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	if err := sample.Write(t.Context(), dir, smallSample()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), filepath.Join(dir, "color"), Options{FollowLinks: true, Depth: 7})
	if err != nil {
		t.Fatal(err)
	}
	before := s.Stats()
	if before.Lookups.Count == 0 || before.MostInFlight < 1 || before.MostInFlight > 7 || before.InFlight != 0 {
		t.Errorf("after it was opened: %+v", before)
	}
	open := s.outside(dir)
	for _, path := range []string{"segmentation", filepath.Join(dir, "segmentation"),
		"file://" + dir + "/segmentation/"} {
		fsys, err := open(path)
		if err != nil || fsys == nil {
			t.Fatalf("%s: %v, %v", path, fsys, err)
		}
	}
	if len(s.opened) != 2 {
		t.Errorf("there are %d directories", len(s.opened))
	}
	for _, path := range []string{"nothing", "ftp://example.org/segmentation"} {
		if fsys, err := open(path); err == nil || fsys != nil {
			t.Errorf("%s: %v, %v", path, fsys, err)
		}
	}
	mag, err := s.Root.Layer.Mag("1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mag.CubeGrid(); err != nil {
		t.Fatal(err)
	}
	if after := s.Stats(); after.Lookups.Count <= before.Lookups.Count || after.Reads.Count <= before.Reads.Count ||
		after.Bytes <= before.Bytes || after.Lookups.P99 <= 0 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if s.AnswersAtOnce() {
		t.Error("links may lead to another machine, which does not answer at once")
	}
}

// smallSample is a sample that is written quickly.
func smallSample() sample.Options {
	o := sample.Defaults()
	o.Box = volume.Box{Min: volume.Vec{35, 20, 10}, Max: volume.Vec{75, 50, 30}}
	o.Block, o.CubeSide, o.Mags, o.Unrecorded = 16, 32, []int{1}, volume.Box{}
	return o
}

// TestFilePathOnce: the error of a file that cannot be a source has its path once, and the errors of its cause.
func TestFilePathOnce(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"text.wkw":  `magic at byte 0: expected "WKW", found "hel"`,
		"empty.wkw": "header at byte 0: expected 16 bytes, found 0",
		"text.txt":  `magic at byte 0: expected "WKW", found "hel"`,
		"text.zip":  "",
	} {
		content := []byte("hello")
		if name == "empty.wkw" {
			content = nil
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), path, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), path+": "+want) || strings.Count(err.Error(), name) != 1 {
			t.Errorf("got %v", err)
		}
		if _, ok := errors.AsType[*volume.FormatError](err); !ok && want != "" {
			t.Errorf("%s: got a %T", name, err)
		}
	}
}
