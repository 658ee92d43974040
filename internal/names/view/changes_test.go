package view_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// row is a mag of n positions in a row on x. cubes has the version of each cube, which is also its only voxel.
type row struct {
	cubes map[int]byte
	n     int
}

var errBroken = errors.New("broken")

// broken is the version of a cube that exists but cannot be read.
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

// version is an open cube of one voxel.
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

func openVolume(t *testing.T, fsys fs.FS) fs.File {
	t.Helper()
	f, err := fsys.Open("volume.raw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestSnapshotOfAll changes cubes that an open volume has not read. The open volume has the old voxels or fails. The
// next volume shows the change.
func TestSnapshotOfAll(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *row)
		next   []byte // the next volume; nil: an error
	}{
		{"another version", func(r *row) { r.cubes[2] = 9 }, []byte{1, 0, 9, 4}},
		{"a new cube", func(r *row) { r.cubes[1] = 7 }, []byte{1, 7, 3, 4}},
		{"a removed cube", func(r *row) { delete(r.cubes, 2) }, []byte{1, 0, 0, 4}},
		{"a cube that cannot be read", func(r *row) { r.cubes[2] = broken }, nil},
		{"a cube that was absent and cannot be read", func(r *row) { r.cubes[1] = broken }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &row{map[int]byte{0: 1, 2: 3, 3: 4}, 4}
			tree := view.New(volume.Root{Mag: r}, view.Options{})
			before := []byte{1, 0, 3, 4}
			old := openVolume(t, tree)
			first := make([]byte, 1)
			if _, err := old.(io.ReaderAt).ReadAt(first, 0); err != nil || first[0] != 1 {
				t.Fatalf("before: %v, %v", first, err)
			}
			c.change(r)
			if got, err := io.ReadAll(old); err == nil && !bytes.Equal(got, before) {
				t.Errorf("the open volume: got %v, expected %v or an error", got, before)
			} else if err != nil && !errors.Is(err, vfs.ErrChanged) && !errors.Is(err, errBroken) {
				t.Errorf("the open volume: %v", err)
			}
			got, err := io.ReadAll(openVolume(t, tree))
			if c.next == nil && !errors.Is(err, errBroken) ||
				c.next != nil && (err != nil || !bytes.Equal(got, c.next)) {
				t.Errorf("the next volume: got %v, %v; expected %v", got, err, c.next)
			}
		})
	}
}

// TestSnapshotOfMany opens a volume of more cubes than a snapshot knows. Each cube keeps the version in which it is
// first read. A volume that is opened a second later shows the current cubes.
func TestSnapshotOfMany(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	const n = 20_000 + 1 // a complete snapshot has at most 20,000 cubes
	r := &row{map[int]byte{}, n}
	tree := view.New(volume.Root{Mag: r}, view.Options{})
	for x := range n {
		r.cubes[x] = 1
	}
	old := openVolume(t, tree)
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
		t.Errorf("a cube that was not read yet: %v, %v; expected its current version", v, err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // until the survey expires
		v, err := at(openVolume(t, tree), 5)
		if v == 2 && err == nil {
			break
		}
		if v != 1 || err != nil || time.Now().After(deadline) {
			t.Fatalf("the next volume: %v, %v", v, err)
		}
	}
}
