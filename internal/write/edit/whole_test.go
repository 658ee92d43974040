package edit

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestWholeBlocks: blocks with files are not read if all of their voxels in the layer are written at once, also with
// zeros. Blocks of which a part is written are.
func TestWholeBlocks(t *testing.T) {
	dir := t.TempDir()
	v, p := openTest(t, dir, 1<<30, osDisk{})
	box := volume.Box{Min: volume.Vec{30, 40, 32}, Max: volume.Vec{75, 70, 64}} // x from 32 on is whole
	if err := v.Write(t.Context(), box, bytes.Repeat([]byte{1, 2}, volumeOf(box)), 0); err != nil {
		t.Fatal(err)
	}
	if err := v.syncAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for x := range 3 {
		file := filepath.Join(dir, "1", nameOf(volume.Vec{x, 1, 1}))
		if err := os.WriteFile(file, []byte("damaged"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	v, _ = openTest(t, dir, 1<<30, osDisk{})
	if err := v.Write(t.Context(), box, make([]byte, 2*volumeOf(box)), 0); err == nil {
		t.Error("a part of a block was written without reading it")
	}
	whole := volume.Box{Min: volume.Vec{32, 38, 32}, Max: volume.Vec{75, 70, 64}}
	zeros := make([]byte, 2*volumeOf(whole))
	if err := v.Write(t.Context(), whole, zeros, 0); err != nil {
		t.Fatal(err)
	}
	if err := v.syncAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, _ = openTest(t, dir, 1<<30, osDisk{})
	if got := read(t, v, newModel(p), whole, 0, len(zeros)); !bytes.Equal(got, zeros) {
		t.Error("the blocks do not have what was written")
	}
}
