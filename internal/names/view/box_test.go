package view_test

import (
	"bytes"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/view"
)

// TestBoxIsLoadedOnce reads small boxes from start to end. Each of their blocks is loaded once. Closing the file frees
// the memory.
func TestBoxIsLoadedOnce(t *testing.T) {
	dir, plain := newMag(t)
	for _, c := range []struct {
		name  string
		loads uint64
	}{
		{"box/3-101_17-60_0-40.raw", 7 * 3 * 3},
		{"box/0-16_0-16_0-16.raw", 1},
		{"box/60-70_0-16_60-130.nii", 2*1*1 + 1*1*4}, // cube 0,0,1 is absent, and 64 is the end of cubes
	} {
		blocks := cache.New(64 << 20)
		defer blocks.Close()
		f, size := openSized(t, newTree(t, dir, view.Options{Cache: blocks}), c.name)
		g, _ := openSized(t, plain, c.name)
		for off := int64(0); off < size; off += 1000 {
			got, err := readPiece(f, off, 1000)
			want, wantErr := readPiece(g, off, 1000)
			if err != nil || wantErr != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: 1000 bytes at %d: not the expected bytes: %v, %v", c.name, off, err, wantErr)
			}
		}
		if got := blocks.Stats().Loads; got != c.loads {
			t.Errorf("%s: %d blocks loaded, expected %d", c.name, got, c.loads)
		}
		f.Close()
		g.Close()
		if held := blocks.Stats().HeldBytes; held != 0 {
			t.Errorf("%s: %d bytes are held after the file was closed", c.name, held)
		}
	}
}
