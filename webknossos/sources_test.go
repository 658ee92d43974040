package webknossos

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
	"github.com/wkwfs/wkwfs/wkw"
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

// smallCube is the header of the cube in these sources: one block of 2³ voxels.
var smallCube = wkw.Header{BlockSide: 2, CubeBlocks: 1, BlockType: wkw.Raw, Type: volume.Uint8, Channels: 1,
	DataOffset: wkw.HeaderSize}

var (
	soundCube = rawCube(smallCube)
	otherCube = rawCube(wkw.Header{BlockSide: 4, CubeBlocks: 2, BlockType: wkw.Raw, Type: volume.Uint16, Channels: 1,
		DataOffset: wkw.HeaderSize})
	badCube     = content("not a cube at all")
	soundHeader = content(header(0x01, 1, 1, 1, 0))
)

// header returns a header of version 1 in its stored form.
func header(perDimLog2, blockType, voxelType, voxelSize byte, dataOffset byte) []byte {
	return []byte{'W', 'K', 'W', 1, perDimLog2, blockType, voxelType, voxelSize, dataOffset, 0, 0, 0, 0, 0, 0, 0}
}

// rawCube returns a raw cube with the header h. Its voxels are bytes that count.
func rawCube(h wkw.Header) content {
	b, err := h.MarshalBinary()
	if err != nil {
		panic(err)
	}
	for n := range h.Grid().Size[0] * h.Grid().Size[1] * h.Grid().Size[2] * h.Grid().VoxelBytes() {
		b = append(b, byte(n))
	}
	return b
}

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
