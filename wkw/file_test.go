package wkw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestFile writes and reads cubes of all types, channels, block types and geometries, and compares each voxel.
func TestFile(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	sides := []int{1, 2, 4, 8, 16, 32, 64}
	if testing.Short() {
		sides = []int{1, 8, 32}
	}
	for _, blockSide := range sides {
		for _, cubeBlocks := range []int{1, 2, 4, 8} {
			side := blockSide * cubeBlocks
			for _, voxel := range voxelsFor(side) {
				for bt := Raw; bt <= LZ4HC; bt++ {
					src := cubeOf(voxel.Type, voxel.Channels, blockSide, cubeBlocks)
					name := fmt.Sprintf("%v/b%d/f%d/%d×%v", bt, blockSide, cubeBlocks, voxel.Channels, voxel.Type)
					t.Run(name, func(t *testing.T) { checkFlat(t, writeCube(t, bt, src), src) })
				}
			}
		}
	}
}

// voxelsFor returns all types and several channels for small cubes, and one of each for large cubes.
func voxelsFor(side int) []volume.Grid {
	switch {
	case side > 64:
		return nil
	case side > 8:
		return []volume.Grid{{Type: volume.Uint16, Channels: 3}}
	}
	var all []volume.Grid
	for _, t := range volume.Types() {
		for channels := 1; channels <= 3; channels++ {
			if testing.Short() && channels > 1 && t != volume.Uint16 {
				continue
			}
			all = append(all, volume.Grid{Type: t, Channels: channels})
		}
	}
	return all
}

func TestFileDataOffset(t *testing.T) {
	src := cubeOf(volume.Uint16, 1, 8, 2)
	for _, offset := range []int{80, 81, 4096} {
		checkBytes(t, literalCube(src, offset), src)
	}
	for _, offset := range []int{16, 17, 80, 4096} {
		checkBytes(t, rawCube(src, offset), src)
	}
}

func checkBytes(t *testing.T, file []byte, src coordinates) {
	t.Helper()
	f, err := openBytes(file)
	if err != nil {
		t.Fatal(err)
	}
	checkFlat(t, f, src)
}

func TestStoredSize(t *testing.T) {
	src := cubeOf(volume.Uint16, 1, 8, 2)
	for _, c := range []struct {
		file []byte
		want int64
	}{{rawCube(src, 16), 1024}, {literalCube(src, 80), storedBlock}} {
		f, err := openBytes(c.file)
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint64(8) {
			if size, err := f.StoredSize(MortonBlock(n)); size != c.want || err != nil {
				t.Errorf("block %d: got %d, %v; expected %d", n, size, err, c.want)
			}
		}
	}
}

func TestBlockOutside(t *testing.T) {
	f, err := openBytes(literalCube(damagedCube, 80))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []volume.Vec{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {-1, 0, 0}, {0, 0, 1 << 60}} {
		_, err := volume.ReadBlock(t.Context(), f, b)
		if want := fmt.Sprintf("x0.wkw: block %v: the cube has 2,2,2 blocks", b); err == nil || err.Error() != want {
			t.Errorf("got %v\nexpected %s", err, want)
		}
	}
}

func TestBlockCanceled(t *testing.T) {
	f, err := openBytes(literalCube(damagedCube, 80))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := volume.ReadBlock(ctx, f, volume.Vec{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x1.wkw"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(os.DirFS(dir), "x0.wkw"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: got %v", err)
	}
	if _, err := OpenFile(os.DirFS(dir), "x1.wkw"); err == nil ||
		err.Error() != "x1.wkw: expected a regular file, found a directory" {
		t.Errorf("directory: got %v", err)
	}
}

// file is an open file with a replaceable reader. It records whether it was closed.
type file struct {
	fs.File
	io.ReaderAt
	closed bool
}

func (f *file) Close() error { f.closed = true; return f.File.Close() }

// inMemory opens a file in memory.
func inMemory(t *testing.T, content []byte) *file {
	t.Helper()
	f, err := fstest.MapFS{"x0.wkw": {Data: content}}.Open("x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	return &file{File: f, ReaderAt: f.(io.ReaderAt)}
}

func TestNewFileOwnsFile(t *testing.T) {
	bad := inMemory(t, []byte("no cube, but long enough for one"))
	if _, err := NewFile(bad, "x0.wkw"); err == nil || !bad.closed {
		t.Errorf("after %v: closed %v", err, bad.closed)
	}
	good := inMemory(t, literalCube(damagedCube, 80))
	f, err := NewFile(good, "x0.wkw")
	if err != nil || good.closed {
		t.Fatalf("closed %v, %v", good.closed, err)
	}
	if err := f.Close(); err != nil || !good.closed {
		t.Errorf("closed %v, %v", good.closed, err)
	}
}

// readerFunc is an io.ReaderAt.
type readerFunc func(p []byte, offset int64) (int, error)

func (r readerFunc) ReadAt(p []byte, offset int64) (int, error) { return r(p, offset) }

// TestReadErrors shows that the errors of the store name the block and wrap their cause.
func TestReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, c := range []struct {
		name  string
		at    int64 // first byte that cannot be read
		n     int
		err   error
		want  string
		cause error
	}{
		{"table", 16, 0, broken, "x0.wkw: block 1,1,1 at byte 64: disk on fire", broken},
		{"data", 80, 0, broken, "x0.wkw: block 1,1,1 at byte 7283: disk on fire", broken},
		{"early end", 80, 5, io.EOF, "x0.wkw: block 1,1,1 at byte 7283: unexpected EOF", io.ErrUnexpectedEOF},
		{"silent end", 80, 5, nil, "x0.wkw: block 1,1,1 at byte 7283: unexpected EOF", io.ErrUnexpectedEOF},
		{"end after the bytes", 80, storedBlock, io.EOF, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			below := inMemory(t, literalCube(damagedCube, 80))
			good := below.ReaderAt
			below.ReaderAt = readerFunc(func(p []byte, offset int64) (int, error) {
				if offset+int64(len(p)) <= c.at {
					return good.ReadAt(p, offset)
				}
				good.ReadAt(p[:c.n], offset)
				return c.n, c.err
			})
			f, err := NewFile(below, "x0.wkw")
			if err != nil {
				t.Fatal(err)
			}
			_, err = volume.ReadBlock(t.Context(), f, volume.Cube(1))
			if c.want == "" && err == nil {
				return
			}
			if err == nil || err.Error() != c.want || !errors.Is(err, c.cause) {
				t.Errorf("got %v\nexpected %s", err, c.want)
			}
		})
	}
}

func TestFileChanged(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(path string) error
		changed bool
	}{
		{"nothing", func(string) error { return nil }, false},
		{"cut off", func(path string) error { return os.Truncate(path, 16) }, true},
		{"longer", func(path string) error { return os.Truncate(path, 1<<20) }, true},
		{"times", func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 1)) }, true},
		{"removed", os.Remove, false},
		{"permissions", func(path string) error { return os.Chmod(path, 0o444) }, false},
		{"replaced", func(path string) error {
			return WriteCube(context.Background(), path, Raw, cubeOf(volume.Uint8, 1, 4, 2))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x0.wkw")
			if err := os.WriteFile(path, literalCube(damagedCube, 80), 0o666); err != nil {
				t.Fatal(err)
			}
			f := openPath(t, path)
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			if !c.changed {
				checkFlat(t, f, damagedCube)
				return
			}
			block, err := volume.ReadBlock(t.Context(), f, volume.Vec{1, 0, 0})
			want := "x0.wkw: block 1,0,0: the file changed while it was open"
			if !errors.Is(err, vfs.ErrChanged) || err.Error() != want || block != nil {
				t.Errorf("Block: got %v", err)
			}
			if _, err := f.StoredSize(volume.Vec{1, 0, 0}); !errors.Is(err, vfs.ErrChanged) || err.Error() != want {
				t.Errorf("StoredSize: got %v", err)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x0.wkw")
	if err := WriteCube(t.Context(), path, LZ4, damagedCube); err != nil {
		t.Fatal(err)
	}
	f, again := openPath(t, path), openPath(t, path)
	if f.Version() != again.Version() || f.Version() != vfs.VersionOf(f.Info()) {
		t.Error("the same file has two versions")
	}
	if err := WriteCube(t.Context(), path, Raw, damagedCube); err != nil {
		t.Fatal(err)
	}
	if openPath(t, path).Version() == f.Version() {
		t.Error("another file has the same version")
	}
}

func TestBlockParallel(t *testing.T) {
	src := cubeOf(volume.Uint16, 1, 8, 4)
	f := writeCube(t, LZ4, src)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			checkFlat(t, f, src)
		})
	}
}

// unreadable fails to read bytes from an offset on.
type unreadable struct {
	io.ReaderAt
	from int64
}

func (u unreadable) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > u.from {
		return 0, syscall.EIO
	}
	return u.ReaderAt.ReadAt(p, off)
}

// TestLateStart opens a cube of a source that answers late: its header is read together with what comes after it. If a
// block cannot be read, that costs only the block.
func TestLateStart(t *testing.T) {
	content := literalCube(damagedCube, 80)
	f := inMemory(t, content)
	f.ReaderAt = unreadable{f.ReaderAt, int64(len(content)) - 1}
	opened, err := NewFile(late{f}, "x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	first := volume.Box{Max: volume.Cube(1)}
	checkFill(t, opened, damagedCube.blocks(), first, nil)
}
