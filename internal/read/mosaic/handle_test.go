package mosaic

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// oneCube is a mag of one cube of one voxel. open opens the cube.
type oneCube struct {
	volume.Mag
	open func() (volume.CubeFile, error)
}

var cubeInfo = func() fs.FileInfo {
	info, _ := fstest.MapFS{"x": {Mode: 0o644}}.Stat("x")
	return info
}()

func (oneCube) Stat() (fs.FileInfo, error)            { return cubeInfo, nil }
func (oneCube) StatCubes(...int) (fs.FileInfo, error) { return cubeInfo, nil }
func (oneCube) Cubes(...int) ([]int, error)           { return []int{0}, nil }
func (oneCube) Bounds() (volume.Box, error)           { return volume.Box{Max: volume.Cube(1)}, nil }
func (oneCube) CubeGrid() (volume.Grid, error) {
	return volume.Grid{Size: volume.Cube(1), Block: volume.Cube(1), Type: volume.Uint8, Channels: 1}, nil
}
func (m oneCube) OpenCube(volume.Vec) (volume.CubeFile, error) { return m.open() }

// seven is a cube whose only voxel is 7.
type seven struct{ oneCube }

func (seven) Grid() volume.Grid    { g, _ := oneCube{}.CubeGrid(); return g }
func (seven) Version() vfs.Version { return vfs.VersionOf(cubeInfo) }
func (seven) Info() fs.FileInfo    { return cubeInfo }
func (seven) Close() error         { return nil }
func (seven) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		blocks[i].Voxels = append(memory(blocks[i].At)[:0], 7)
	}
}

// TestOpenPanics checks that a cube is not treated as absent if opening it panics, and that it can be opened later.
func TestOpenPanics(t *testing.T) {
	broken := true
	m, err := New(oneCube{open: func() (volume.CubeFile, error) {
		if broken {
			panic("ouch")
		}
		return seven{}, nil
	}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := volume.ReadBlock(t.Context(), m, volume.Vec{}); !guard.Is(err) {
			t.Errorf("got %v, %v, expected a panic", got, err)
		}
	}
	broken = false
	if got, err := volume.ReadBlock(t.Context(), m, volume.Vec{}); err != nil || len(got) != 1 || got[0] != 7 {
		t.Errorf("after the panic: got %v, %v, expected 7", got, err)
	}
}

// TestCancelWhileOpenFails cancels a reader while opening the cube fails. The mosaic must not keep the handle.
func TestCancelWhileOpenFails(t *testing.T) {
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		m, err := New(oneCube{open: func() (volume.CubeFile, error) {
			cancel()
			return nil, errors.New("cannot be opened")
		}}, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := volume.ReadBlock(ctx, m, volume.Vec{}); err == nil {
			t.Fatal("no error")
		}
		m.CloseIdle()
		if len(m.handles) != 0 || m.idle.Len() != 0 {
			t.Fatalf("%d handles, %d of them idle", len(m.handles), m.idle.Len())
		}
	}
}

// crowd is a mag of more cubes than a survey keeps the versions of.
type crowd struct{ oneCube }

func (crowd) Cubes(zy ...int) ([]int, error) {
	if len(zy) < 2 {
		return []int{0}, nil
	}
	all := make([]int, usual.complete+1)
	for i := range all {
		all[i] = i
	}
	return all, nil
}

// private is a cube that only its owner may read.
type private struct{ seven }

func (private) Info() fs.FileInfo {
	info, _ := fstest.MapFS{"x": {Mode: 0o600}}.Stat("x")
	return info
}

// TestCubeOfFewerUsers reads a cube that has fewer permissions than the survey says. The snapshot does not have its
// version. If other users have files of the mosaic open, they must not get its voxels.
func TestCubeOfFewerUsers(t *testing.T) {
	for _, c := range []struct {
		cube   volume.CubeFile
		shared bool
		want   error
	}{{private{}, true, vfs.ErrChanged}, {private{}, false, nil}, {seven{}, true, nil}} {
		m, err := New(crowd{oneCube{open: func() (volume.CubeFile, error) { return c.cube, nil }}}, c.shared)
		if err != nil {
			t.Fatal(err)
		}
		if m.snapshot.complete() {
			t.Fatal("the snapshot has the versions of all cubes")
		}
		if _, err := volume.ReadBlock(t.Context(), m, volume.Vec{}); !errors.Is(err, c.want) {
			t.Errorf("%T, shared %v: got %v, expected %v", c.cube, c.shared, err, c.want)
		}
		if m.outdated.Load() != (c.want != nil) {
			t.Errorf("%T, shared %v: outdated: %v", c.cube, c.shared, m.outdated.Load())
		}
	}
}
