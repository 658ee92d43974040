//go:build linux

package fsnode

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// BenchmarkCallSource measures the cost of a call that can be abandoned, to a source that answers at once.
func BenchmarkCallSource(b *testing.B) {
	dir := b.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o755); err != nil {
		b.Fatal(err)
	}
	source := os.DirFS(dir)
	stat := func() (fs.FileInfo, error) { return fs.Stat(source, "dir") }
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			if _, err := stat(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("abandonable", func(b *testing.B) {
		c, ctx := newSourceCalls(nil), &fuse.Context{Cancel: make(chan struct{})}
		for b.Loop() {
			if _, err := callSource(ctx, c, stat, noDiscard); err != nil {
				b.Fatal(err)
			}
		}
	})
}
