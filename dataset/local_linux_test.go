package dataset

import (
	"path/filepath"
	"testing"
)

// TestIsLocal: unknown file systems are not local.
func TestIsLocal(t *testing.T) {
	for _, dir := range []string{"/proc", filepath.Join(t.TempDir(), "nothing")} {
		if isLocal(dir) {
			t.Errorf("%s is local", dir)
		}
	}
}

// TestMayHang: a directory may hang if a server may be mounted below it, or if it is an overlay.
func TestMayHang(t *testing.T) {
	for _, dir := range []string{"/", "/proc", filepath.Join(t.TempDir(), "nothing")} { // / has /proc
		if !mayHang(dir) {
			t.Errorf("%s never hangs", dir)
		}
	}
	if dir := t.TempDir(); !isLocal(dir) || isOverlay(dir) {
		t.Skip("no local directory for temporary files: only the others were tried")
	} else if mayHang(dir) {
		t.Errorf("%s may hang", dir)
	}
}
