package paths

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCutArchive(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "odd.zip!b.zip")
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"a.zip":                         "a.zip",
		"a.zip!b.zip":                   "a.zip|b.zip",
		"/data!/a.ZIP!b/c.ozx!d/e":      "/data!/a.ZIP|b/c.ozx|d/e",
		"/data!/a":                      "/data!/a",
		"a.zip!":                        "a.zip|",
		"https://h/a.zip!b.zip?k=1!2":   "https://h/a.zip?k=1!2|b.zip",
		"s3://b/a.ozx!x":                "s3://b/a.ozx|x",
		"https://h/a?k=.zip!b":          "https://h/a?k=.zip!b",
		name:                            name,
		filepath.Join(dir, "x.zip!b/c"): filepath.Join(dir, "x.zip") + "|b/c",
	} {
		archive, inside := CutArchive(source)
		if got := strings.Join(append([]string{archive}, inside...), "|"); got != want {
			t.Errorf("%s: got %s, expected %s", source, got, want)
		}
	}
}
