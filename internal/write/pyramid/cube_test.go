package pyramid

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestRenameUpdated: a cube that another process has updated, or has created, is not replaced.
func TestRenameUpdated(t *testing.T) {
	h := wkw.Header{BlockSide: 8, CubeBlocks: 1, BlockType: wkw.LZ4, Type: volume.Uint8, Channels: 1}
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "x0.wkw"), filepath.Join(dir, "temp")
	writeCube := func() {
		t.Helper()
		if err := wkw.WriteCube(t.Context(), path, wkw.LZ4, voxeltest.Source{Shape: h.Grid()}); err != nil {
			t.Fatal(err)
		}
	}
	m := &mag{Mag: Mag{Under: underMag{}}}
	if err := os.WriteFile(temp, []byte("new"), 0o666); err != nil {
		t.Fatal(err)
	}
	writeCube()
	if err := (&cube{m: m, path: path, temp: temp}).rename(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created: got %v, want %v", err, fs.ErrExist)
	}
	old, err := newOldCube(path, h)
	if err != nil {
		t.Fatal(err)
	}
	writeCube()
	if err := (&cube{m: m, path: path, temp: temp, old: old}).rename(); !errors.Is(err, volume.ErrChanged) {
		t.Errorf("updated: got %v, want %v", err, volume.ErrChanged)
	}
	if old, err = newOldCube(path, h); err != nil {
		t.Fatal(err)
	}
	if err := (&cube{m: m, path: path, temp: temp, old: old}).rename(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("the cube is not replaced: %v", err)
	}
}
