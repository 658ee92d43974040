package view_test

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/store"
	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/view"
	"github.com/wkwfs/wkwfs/wkw"
)

func TestZZ(t *testing.T) {
	budget := int64(1 << 30)
	if os.Getenv("LIMIT") != "" {
		debug.SetMemoryLimit(budget + 64<<20)
	}
	piece, _ := strconv.Atoi(os.Getenv("PIECE"))
	blocks := cache.New(budget)
	fsys, _ := store.Open("/tmp/bench/E/1")
	root, _ := wkw.Recognise(fsys, ".", wkw.Options{Name: "1"})
	tree := view.New(root, view.Options{Wrap: blocks.Wrap})
	for range 3 {
		f, err := tree.Open("z0/y0/x0.raw")
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, piece)
		start := time.Now()
		off := int64(0)
		for {
			n, err := vfs.ReadAt(context.Background(), f, p, off)
			off += int64(n)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%.0f MB/s, loads %d", float64(off)/1e6/time.Since(start).Seconds(), blocks.Stats().Loads)
		f.Close()
	}
}
