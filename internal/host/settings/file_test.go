package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSectionsOfOneSource: two sections that name one source by two paths are an error for that source, which names
// both. Other sources do not need them.
func TestSectionsOfOneSource(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	source, link, other := filepath.Join(dir, "cortex"), filepath.Join(dir, "latest"), filepath.Join(dir, "other")
	for _, err := range []error{os.Mkdir(source, 0o755), os.Mkdir(other, 0o755), os.Symlink("cortex", link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := parse("c.yaml",
		fmt.Appendf(nil, "uid: 3\nsources:\n  %s:\n    uid: 1\n  %s:\n    gid: 2\n  %s:\n    uid: 4\n", source, link,
			other))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("c.yaml:5: sources %q and %q, the latter on line 3, are the same: %s", link, source, source)
	for _, path := range []string{source, link} {
		if _, err := f.of(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %s", path, err, want)
		}
	}
	for path, want := range map[string]string{other: "4 3", filepath.Join(dir, "absent"): "3"} {
		var got []string
		entries, err := f.of(path)
		for _, e := range entries {
			got = append(got, e.value)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, error %v, expected %s", path, got, err, want)
		}
	}
}
