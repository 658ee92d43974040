//go:build linux

package mounts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckApart(t *testing.T) {
	dir := tempDir(t)
	mkdir(t, dir+"/data/color/1")
	mkdir(t, dir+"/data2")
	if err := os.WriteFile(dir+"/data/x0.wkw", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		mountpoint, source string
		want               string // part of the error; "" = none
	}{
		{"/data2", "/data", ""},
		{"/data", "/data2", ""},
		{"/data", "/data", "would hide the source"},
		{"/data", "/data/color", "would hide the source"},
		{"/data", "/data/x0.wkw", "would hide the source"},
		{"/data/color", "/data/x0.wkw", ""},
		{"", "/data", "would hide the source"},
		{"/data/color", "/data", "is inside the source"},
		{"/data/color/1", "/data", "is inside the source"},
		{"/data2", "/absent", "no such file"},
	}
	for _, test := range tests {
		err := checkApart(dir+test.mountpoint, dir+test.source)
		if test.want == "" && err != nil || test.want != "" && (err == nil ||
			!strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q on %q: got %v, want %q", test.source, test.mountpoint, err, test.want)
		}
	}
}

// tempDir is t.TempDir without symbolic links in its own path.
func tempDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
