package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestCopyScripts runs testdata/cp/*.txt, which show wkwfs cp.
func TestCopyScripts(t *testing.T) {
	damaged, err := filepath.Abs("../../testdata/damaged")
	if err != nil {
		t.Fatal(err)
	}
	cortex := writeSmall(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/cp",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("CORTEX", cortex)
			e.Setenv("DAMAGED", damaged)
			e.Setenv("SPARSE", refdata.Dir(t, "wkw/sparse"))
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

// TestCopyReferenceData copies volumes that other programs wrote, and compares them with the
// checksums of those programs.
func TestCopyReferenceData(t *testing.T) {
	dir := refdata.Dir(t, "wkw")
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
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
			code := run([]string{"cp", "-q", filepath.Join(dir, m.Dataset), path.Join(m.Layer, m.Mag, "volume.raw"),
				out}, io.Discard, &stderr)
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
