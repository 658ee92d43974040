package fsnode

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// BenchmarkAsk measures what it costs that a request can be left, of a source that answers at once.
func BenchmarkAsk(b *testing.B) {
	dir := b.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o755); err != nil {
		b.Fatal(err)
	}
	source := os.DirFS(dir)
	stat := func() (fs.FileInfo, error) { return fs.Stat(source, "dir") }
	b.Run("cannot be left", func(b *testing.B) {
		for b.Loop() {
			if _, err := stat(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("can be left", func(b *testing.B) {
		c, ctx := newCalls(nil, nil), &fuse.Context{Cancel: make(chan struct{})}
		for b.Loop() {
			if _, err := ask(ctx, c, stat, nothing); err != nil {
				b.Fatal(err)
			}
		}
	})
}
