package mosaic

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// oneCube is a mag of one cube of one voxel, which is opened by a function.
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

// seven is a cube of one voxel.
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

// TestOpeningThatPanics holds that a cube whose opening ends in a panic does not pass for one that is absent, and that others
// read on.
func TestOpeningThatPanics(t *testing.T) {
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
	read := func() (voxels []byte, err error) {
		defer func() {
			if p := recover(); p != nil {
				voxels = []byte("panic")
			}
		}()
		return volume.ReadBlock(t.Context(), m, volume.Vec{})
	}
	if got, err := read(); string(got) != "panic" {
		t.Errorf("first reader: %v, %v", got, err)
	}
	if got, err := read(); err == nil && string(got) != "panic" {
		t.Errorf("second reader: %v, which is no error", got)
	}
	broken = false
	read() // it may meet the tile of the panic
	if got, err := read(); err != nil || len(got) != 1 || got[0] != 7 {
		t.Errorf("after the panic: %v, %v", got, err)
	}
}
