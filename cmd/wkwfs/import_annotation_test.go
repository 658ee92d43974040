package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// writable returns a copy of a directory of the reference data.
func writable(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, map[bool]fs.FileMode{false: 0o644, true: 0o755}[d.IsDir()])
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// TestImportAnnotation merges annotations of the reference data into their dataset. Mag 1 is then what --over shows,
// byte for byte, and nothing of the annotation is left over it.
func TestImportAnnotation(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	base := filepath.Join(dir, "base_wkw")
	for _, test := range []struct {
		annotation, layer string
		args              []string
	}{
		{"wkw.zip", "segmentation=Volume", nil},
		{"unpacked_both", "segmentation=Volume", nil},
		{"unpacked_outer", "segmentation=Volume", nil},
		{"z2.zip", "segmentation=Volume", nil},
		{"zl.zip", "segmentation=Volume", nil},
		{"noheader.zip", "segmentation=Volume", nil},
		{"outside.zip", "segmentation=Volume", nil},
		{"samename.zip", "segmentation", nil},
		{"nofallback.zip", "", []string{"--layer", "segmentation"}},
	} {
		t.Run(test.annotation, func(t *testing.T) {
			copied, annotation := writable(t, base), filepath.Join(dir, test.annotation)
			var stdout, stderr bytes.Buffer
			if code := run(append([]string{"import", "--update", annotation, copied}, test.args...), &stdout,
				&stderr); code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			if strings.HasPrefix(test.annotation, "outside") != strings.Contains(stderr.String(),
				"are outside of the box") {
				t.Errorf("got %s", stderr.String())
			}
			runDiff(t, 1, base, copied, "--layer", "segmentation", "--mag", "1")
			runDiff(t, 0, base, copied, "--layer", "color")
			if test.layer != "" {
				runDiff(t, 0, copied, annotation, "--over", base, "--layer", test.layer, "--mag", "1")
				runDiff(t, 0, copied, annotation, "--over", copied, "--layer", test.layer, "--mag", "1")
			}
		})
	}
}

// TestImportAnnotationErrors: these updates are refused, with the reason, and the dataset stays as it is.
func TestImportAnnotationErrors(t *testing.T) {
	dir := refdata.Dir(t, "annotations")
	copied := writable(t, filepath.Join(dir, "base_wkw"))
	for _, test := range []struct {
		annotation string
		args       []string
		code       int
		want       string
	}{
		{"two_layers.zip", nil, 2, "expected one volume"},
		{"emptyzip.zip", nil, 1, "nothing was painted"},
		{"lostdata.zip", nil, 1, "data_Volume.zip: file does not exist"},
		{"othertype.zip", nil, 1, "expected voxels of 1 × uint32"},
		{"colorfallback.zip", nil, 1, "expected voxels of"},
		{"wkw.zip", []string{"--offset", "0,0,0"}, 2, "--offset is not for an annotation"},
		{"wkw.zip", []string{"--layer", "color"}, 1, "expected voxels of 1 × uint8"},
		{"wkw.zip", []string{"--layer", "nothing"}, 1, "an update needs an existing layer"},
		{"cutbucket.zip", nil, 1, "z2/y1/x1.wkw"},
		{"badnml.zip", nil, 1, "NML"},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"import", "--update", filepath.Join(dir, test.annotation), copied}, test.args...)
		if code := run(args, &stdout, &stderr); code != test.code || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%s: exit code %d, want %d and %q: %s", test.annotation, code, test.code, test.want,
				stderr.String())
		}
		runDiff(t, 0, filepath.Join(dir, "base_wkw"), copied)
	}
}
