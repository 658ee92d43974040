package view

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// row is a mag of n cubes of one voxel in a row on x, each in some version: its byte.
type row struct {
	cubes map[int]byte
	n     int
}

var errBroken = errors.New("broken")

// broken is the byte of a cube that is there and cannot be read.
const broken = 255

func (r *row) Stat() (fs.FileInfo, error) { return version(0).info(), nil }
func (r *row) About() volume.About        { return volume.About{} }

func (r *row) CubeGrid() (volume.Grid, error) {
	return volume.Grid{Size: volume.Cube(1), Block: volume.Cube(1), Type: volume.Uint8, Channels: 1}, nil
}

func (r *row) Bounds() (volume.Box, error) { return volume.Box{Max: volume.Vec{r.n, 1, 1}}, nil }

func (r *row) Cubes(zy ...int) ([]int, error) {
	if len(zy) < 2 {
		return []int{0}, nil
	}
	var xs []int
	for x := range r.n {
		if _, ok := r.cubes[x]; ok {
			xs = append(xs, x)
		}
	}
	return xs, nil
}

func (r *row) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if len(zyx) < 3 {
		return r.Stat()
	}
	c, err := r.OpenCube(volume.Vec{zyx[2], zyx[1], zyx[0]})
	if err != nil {
		return nil, err
	}
	return c.Info(), nil
}

func (r *row) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	switch v, ok := r.cubes[c[0]]; {
	case !ok || c[1] != 0 || c[2] != 0:
		return nil, fs.ErrNotExist
	case v == broken:
		return nil, errBroken
	default:
		return version(v), nil
	}
}

// version is a cube of one voxel.
type version byte

func (v version) Grid() volume.Grid { g, _ := (*row)(nil).CubeGrid(); return g }
func (v version) Close() error      { return nil }

func (v version) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		blocks[i].Voxels = memory(blocks[i].At)
		blocks[i].Voxels[0] = byte(v)
	}
}

func (v version) Version() vfs.Version { return vfs.VersionOf(v.info()) }
func (v version) Info() fs.FileInfo    { return v.info() }

func (v version) info() fs.FileInfo {
	f := fstest.MapFS{"x": {Data: []byte{byte(v)}, Mode: 0o755, ModTime: time.Unix(int64(v), 0)}}
	info, _ := f.Stat("x")
	return info
}

func volumeOf(t *testing.T, tree *tree, r *row) fs.File {
	t.Helper()
	f, err := magDir{tree, "1", r}.file(rawSuffix).open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestSnapshotOfAll changes cubes of which an open volume has read nothing yet: it is
// what it was as a whole, or fails, and the next one shows the change.
func TestSnapshotOfAll(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(r *row)
		now    []byte // nil: an error
	}{
		{"another version", func(r *row) { r.cubes[2] = 9 }, []byte{1, 0, 9, 4}},
		{"a new cube", func(r *row) { r.cubes[1] = 7 }, []byte{1, 7, 3, 4}},
		{"a cube that is gone", func(r *row) { delete(r.cubes, 2) }, []byte{1, 0, 0, 4}},
		{"a cube that cannot be read", func(r *row) { r.cubes[2] = broken }, nil},
		{"a cube that was absent and cannot be read", func(r *row) { r.cubes[1] = broken }, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			tree, r := newTree(Options{Cache: keepsNothing()}), &row{map[int]byte{0: 1, 2: 3, 3: 4}, 4}
			before := []byte{1, 0, 3, 4}
			old := volumeOf(t, tree, r)
			first := make([]byte, 1)
			if _, err := old.(io.ReaderAt).ReadAt(first, 0); err != nil || first[0] != 1 {
				t.Fatalf("before: %v, %v", first, err)
			}
			c.change(r)
			if got, err := io.ReadAll(old); err == nil && !bytes.Equal(got, before) {
				t.Errorf("the open volume: %v, want %v or an error", got, before)
			} else if err != nil && !errors.Is(err, vfs.ErrChanged) && !errors.Is(err, errBroken) {
				t.Errorf("the open volume: %v", err)
			}
			got, err := io.ReadAll(volumeOf(t, tree, r))
			if c.now == nil && !errors.Is(err, errBroken) || c.now != nil && (err != nil || !bytes.Equal(got, c.now)) {
				t.Errorf("the next volume: %v, %v; want %v", got, err, c.now)
			}
		})
	}
}

// TestSnapshotOfMany holds that in a mag of more cubes than are looked at in one go, each
// is of one version as long as a volume is open, and that one that is opened a second later shows what is then.
func TestSnapshotOfMany(t *testing.T) {
	const n = 20_000 + 1 // a complete snapshot has 20,000 cubes at most
	tree, r := newTree(Options{Cache: keepsNothing()}), &row{map[int]byte{}, n}
	for x := range n {
		r.cubes[x] = 1
	}
	old := volumeOf(t, tree, r)
	at := func(f fs.File, x int64) (byte, error) {
		p := make([]byte, 1)
		_, err := f.(io.ReaderAt).ReadAt(p, x)
		return p[0], err
	}
	if v, err := at(old, 5); v != 1 || err != nil {
		t.Fatalf("before: %v, %v", v, err)
	}
	r.cubes[5], r.cubes[6] = 2, 2
	if v, err := at(old, 5); v != 1 && !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("a cube that was read: %v, %v", v, err)
	}
	if v, err := at(old, 6); v != 2 || err != nil {
		t.Errorf("a cube that was not read yet: %v, %v; want what it is when it is needed", v, err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // until a survey is believed no more
		v, err := at(volumeOf(t, tree, r), 5)
		if v == 2 && err == nil {
			break
		}
		if v != 1 || err != nil || time.Now().After(deadline) {
			t.Fatalf("the next volume: %v, %v", v, err)
		}
	}
}
