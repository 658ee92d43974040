package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/refdata"
)

// TestComposedGaps: check, info and mount tell of files that no mag reads, in an annotation and in the dataset below
// it.
func TestComposedGaps(t *testing.T) {
	source := tempDir(t)
	for _, name := range []string{"unpacked_both", "base_wkw"} {
		if err := os.CopyFS(filepath.Join(source, name),
			os.DirFS(filepath.Join(refdata.Dir(t, "annotations"), name))); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(file string) {
		file = filepath.Join(source, file)
		if err := os.Chmod(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file, strings.Replace(file, "/x", "/x0", 1)); err != nil {
			t.Fatal(err)
		}
	}
	over := "--over=" + filepath.Join(source, "base_wkw")
	tells := func(texts ...string) {
		t.Helper()
		annotation := filepath.Join(source, "unpacked_both")
		check, info := wkwfs(t, "check", over, annotation), wkwfs(t, "info", over, annotation)
		printed, _ := mountWarned(t, annotation, over)
		for command, out := range map[string]string{"check": check.stdout, "info": info.stdout, "mount": printed} {
			for _, text := range texts {
				if !strings.Contains(out, text) {
					t.Errorf("%s prints %q, expected %q", command, out, text)
				}
			}
			if len(texts) == 0 && strings.Contains(out, ": not read") {
				t.Errorf("%s tells of gaps: %q", command, out)
			}
		}
		if check.code != 0 || info.code != 0 {
			t.Errorf("exit codes %d and %d", check.code, info.code)
		}
	}
	tells()
	rename("unpacked_both/data_Volume/1/z0/y1/x3.wkw")
	rename("base_wkw/segmentation/1/z1/y1/x1.wkw")
	tells("in the annotation: data_Volume/1/z0/y1/x03.wkw", "in the layer below: segmentation/1/z1/y1/x01.wkw")
}
