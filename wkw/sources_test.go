package wkw

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/volume"
)

// The entries of a source: a string or content is a file, link is the target of a symbolic link.
type (
	content []byte
	link    string
	folder  struct{}
	fifo    struct{}
)

// entries holds the entries of a source by their paths.
type entries map[string]any

// smallCube is the cube in these sources: one block of 2³ voxels.
var smallCube = cubeOf(volume.Uint8, 1, 2, 1)

var (
	soundCube   = content(rawCube(smallCube, HeaderSize))
	otherCube   = content(rawCube(cubeOf(volume.Uint16, 1, 4, 2), HeaderSize))
	badCube     = content("not a cube at all")
	soundHeader = content(header(0x01, 1, 1, 1, 0))
)

// source writes entries to a new directory and opens it.
func source(t *testing.T, all ...entries) fs.FS {
	t.Helper()
	return openDir(t, sourceDir(t, all...))
}

// sourceDir writes the entries and returns their directory.
func sourceDir(t *testing.T, all ...entries) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "source")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, some := range all {
		for name, entry := range some {
			if err := writeEntry(filepath.Join(dir, name), entry); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// openDir opens a directory until the end of the test.
func openDir(t *testing.T, dir string) fs.FS {
	t.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// writeEntry writes one entry, and the directories above it.
func writeEntry(path string, entry any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch entry := entry.(type) {
	case content:
		return os.WriteFile(path, entry, 0o644)
	case string:
		return os.WriteFile(path, []byte(entry), 0o644)
	case link:
		return os.Symlink(string(entry), path)
	case fifo:
		return syscall.Mkfifo(path, 0o644)
	case folder:
		return os.MkdirAll(path, 0o755)
	}
	return fmt.Errorf("%s: cannot write a %T", path, entry)
}

// warnings collects the lines of a log.
type warnings struct{ bytes.Buffer }

func (w *warnings) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func (w *warnings) lines() []string {
	return slices.Collect(strings.Lines(w.String()))
}
