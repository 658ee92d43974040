package preview

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
)

// model is a mag whose values encode their coordinates. It counts what is read of it.
type model struct {
	volume.Mag
	grid     volume.Grid // of cube 0,0,0
	bounds   volume.Box
	category string
	factor   volume.Factor
	absent   map[volume.Vec]bool                     // cubes
	closed   map[volume.Vec]bool                     // cubes that cannot be opened
	damaged  map[volume.Vec]bool                     // blocks of the mag
	never    map[volume.Vec]bool                     // blocks of the mag that were never written
	value    func(v volume.Vec, channel int) float64 // nil: all are 0

	read *atomic.Int64 // bytes
}

// valueAt is different for voxels near each other, and fits int8.
func valueAt(v volume.Vec, channel int) float64 {
	return float64(1 + (v[0]*7+v[1]*31+v[2]*101+channel*53)%120)
}

func (m model) About() volume.About {
	return volume.About{Category: m.category, Factor: m.factor}
}
func (m model) CubeGrid() (volume.Grid, error) { return m.grid, nil }
func (m model) Bounds() (volume.Box, error)    { return m.bounds, nil }

func (m model) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if m.absent[c] {
		return nil, fs.ErrNotExist
	}
	if m.closed[c] {
		return nil, fmt.Errorf("cube %v: expected a regular file, found a FIFO", c)
	}
	g := m.grid
	g.Origin = g.Origin.Add(c.Mul(g.Size))
	return modelCube{model: m, grid: g}, nil
}

type modelCube struct {
	volume.CubeFile
	model
	grid volume.Grid
}

func (c modelCube) Grid() volume.Grid { return c.grid }
func (c modelCube) Close() error      { return nil }

func (c modelCube) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		first := c.grid.Origin.Add(b.At.Mul(c.grid.Block))
		at := first.Div(c.grid.Block)
		switch {
		case c.damaged[at]:
			b.Err = errors.New("block is damaged")
		case !c.never[at]:
			b.Voxels = memory(b.At)
			c.read.Add(int64(len(b.Voxels)))
			if c.value == nil {
				continue
			}
			b.Voxels = b.Voxels[:0]
			for v := range (volume.Box{Min: first, Max: first.Add(c.grid.Block)}).All() {
				for channel := range c.grid.Channels {
					b.Voxels = appendValue(b.Voxels, c.grid.Type, c.value(v, channel))
				}
			}
		}
	}
}

func appendValue(b []byte, t volume.Type, v float64) []byte {
	le := binary.LittleEndian
	switch t {
	case volume.Float32:
		return le.AppendUint32(b, math.Float32bits(float32(v)))
	case volume.Float64:
		return le.AppendUint64(b, math.Float64bits(v))
	}
	var wide [8]byte
	n := uint64(int64(v))
	if v >= 1<<63 {
		n = uint64(v)
	}
	le.PutUint64(wide[:], n)
	return append(b, wide[:t.Size()]...)
}

// newModel returns a mag of cubes of 2 × 2 × 2 blocks that starts in the middle of a block.
func newModel(t volume.Type, channels int) model {
	return model{
		grid:   volume.Grid{Size: volume.Vec{16, 8, 8}, Block: volume.Vec{8, 4, 4}, Type: t, Channels: channels},
		bounds: volume.Box{Min: volume.Vec{3, 5, 6}, Max: volume.Vec{40, 27, 13}},
		factor: volume.Factor{1, 1, 1}, category: "color", value: valueAt, read: new(atomic.Int64),
	}
}

// voxel returns a value as a reader of the mag must see it.
func (m model) voxel(v volume.Vec, channel int) float64 {
	if m.absent[v.Div(m.grid.Size)] || m.never[v.Div(m.grid.Block)] {
		return 0
	}
	return m.value(v, channel)
}

func (m model) isDamaged(v volume.Vec) bool {
	c := v.Div(m.grid.Size)
	return m.closed[c] || !m.absent[c] && m.damaged[v.Div(m.grid.Block)]
}
