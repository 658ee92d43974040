package view_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"testing"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/internal/view"
)

// TestLend reads boxes with and without a head from start to end. The pieces after the first ones are lent.
func TestLend(t *testing.T) {
	dir, plain := newMag(t)
	blocks := cache.New(64 << 20)
	defer blocks.Close()
	tree := newTree(t, dir, view.Options{Cache: blocks})
	const piece, box = 300 << 10, "box/0-128_0-64_0-128"                         // 2 MiB of voxels
	for suffix, most := range map[string]int{".raw": 1, ".nrrd": 2, ".npy": 2} { // pieces that are not lent
		want, err := fs.ReadFile(plain, box+suffix)
		if err != nil {
			t.Fatal(err)
		}
		f, err := tree.Open(box + suffix)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		read := 0
		for off := 0; off < len(want); off += piece {
			end := min(off+piece, len(want))
			p, release := f.(vfs.Lender).Lend(context.Background(), piece, int64(off))
			if p == nil {
				read++
				p, release = make([]byte, end-off), func() {}
				if _, err := vfs.ReadAt(context.Background(), f, p, int64(off)); err != nil && err != io.EOF {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(p, want[off:end]) {
				t.Errorf("%s: wrong bytes at %d", suffix, off)
			}
			release()
		}
		if read > most {
			t.Errorf("%s: %d pieces are not lent, expected at most %d", suffix, read, most)
		}
	}
}
