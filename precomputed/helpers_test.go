package precomputed

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// cubes returns the positions of all listed chunks.
func cubes(t testing.TB, mag volume.Mag) []volume.Vec {
	t.Helper()
	var all []volume.Vec
	for c, err := range volume.AllCubes(mag) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func versionOf(info fs.FileInfo) vfs.Version { return vfs.VersionOf(info) }

func wantNotExist(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, expected an error that is fs.ErrNotExist", err)
	}
}

// wantError expects an error that has all parts and is not fs.ErrNotExist.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, expected an error with %q", err, parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %q, expected it to have %q", err, part)
		}
	}
}

// readBlock reads a block of a chunk into memory that is not zero.
func readBlock(ctx context.Context, f volume.CubeFile, at volume.Vec) ([]byte, error) {
	blocks := []volume.Block{{At: at}}
	f.Fill(ctx, blocks, func(volume.Vec) []byte { return bytes.Repeat([]byte{0xEE}, f.Grid().BlockBytes()) })
	return blocks[0].Voxels, blocks[0].Err
}

// readError opens and reads a chunk, and returns the first error.
func readError(t testing.TB, mag volume.Mag, c volume.Vec) error {
	t.Helper()
	f, err := mag.OpenCube(c)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = readBlock(t.Context(), f, volume.Vec{})
	return err
}

// writeFiles writes files to a new directory.
func writeFiles(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		writeFile(t, dir, name, b)
	}
	return dir
}

func writeFile(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func gzipOf(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// voxelsOf returns the raw voxels of chunk c, of uint8. A voxel encodes its position.
func voxelsOf(s *scaleInfo, c volume.Vec) []byte {
	var b []byte
	for p := range s.chunkBox(c).All() {
		b = append(b, byte(p[0]+7*p[1]+31*p[2]))
	}
	return b
}

// checkVoxels compares a chunk with voxelsOf.
func checkVoxels(t testing.TB, mag volume.Mag, c volume.Vec) {
	t.Helper()
	f, err := mag.OpenCube(c)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	block, err := readBlock(t.Context(), f, volume.Vec{})
	if err != nil {
		t.Error(err)
		return
	}
	s := mag.(*scale).scaleInfo
	want := make([]byte, f.Grid().BlockBytes())
	interleave(want, voxelsOf(s, c), f.Grid().Channels, f.Grid().Type.Size())
	spread(want, s.chunkBox(c).Size(), f.Grid())
	if !bytes.Equal(block, want) {
		t.Errorf("chunk %v has wrong voxels", c)
	}
}

// infoFor returns goodInfo with old replaced by new, and its first scale.
func infoFor(t testing.TB, old, new string) ([]byte, *scaleInfo) {
	t.Helper()
	b := []byte(changed(t, old, new))
	i, err := parseInfo(b)
	if err != nil || len(i.omitted) > 0 {
		t.Fatal(i, err)
	}
	return b, i.scales[0]
}
