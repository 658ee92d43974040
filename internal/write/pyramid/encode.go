package pyramid

import (
	"context"
	"encoding/binary"
	"runtime"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/volume"
)

// maxRun returns the most bytes of a run.
func (m *mag) maxRun() int {
	n := m.Header.CubeBlocks
	return n * (4 + m.bound)
}

// encode encodes the blocks of part of a tile: whole rows of blocks.
func (m *mag) encode(ctx context.Context, k *worker, t tile, part volume.Box) error {
	block := m.grid.Block
	blocks := volume.Box{Min: part.Min.Div(block), Max: part.Max.Div(block)} // from voxel 0,0,0 of the mag
	if m.raw() {
		return m.writeRaw(ctx, k, t, blocks)
	}
	perCube := m.Header.CubeBlocks
	for z := blocks.Min[2]; z < blocks.Max[2]; z++ {
		for y := blocks.Min[1]; y < blocks.Max[1]; y++ {
			for x := blocks.Min[0]; x < blocks.Max[0]; {
				if err := ctx.Err(); err != nil {
					return err
				}
				end := min((x/perCube+1)*perCube, blocks.Max[0])
				row := volume.Box{Min: volume.Vec{x, y, z}, Max: volume.Vec{end, y + 1, z + 1}}
				if err := m.encodeRow(k, t, row); err != nil {
					return err
				}
				x = end
			}
		}
	}
	return nil
}

// encodeRow encodes a row of blocks of one cube.
func (m *mag) encodeRow(k *worker, t tile, row volume.Box) error {
	c := m.cubes.of(row.Min.Div(m.grid.Blocks()))
	if c.kept {
		return m.observe(k, t, row)
	}
	n := m.Header.CubeBlocks
	room, err := m.writer.spool.room(k, m.maxRun())
	if err != nil {
		return err
	}
	b := room[:4*n]
	clear(b)
	encoder, empty := k.encoder(m), true
	for x := row.Min[0]; x < row.Max[0]; x++ {
		runtime.Gosched() // else a goroutine whose write has ended waits for a processor, up to 10 ms
		voxels := m.cut(k, t, volume.Vec{x, row.Min[1], row.Min[2]})
		if voxels == nil {
			continue
		}
		empty = false
		before := len(b)
		if b, err = encoder.Encode(b, voxels); err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(b[4*(x%n):], uint32(len(b)-before))
	}
	if !empty {
		c.keep(row.Min, m.writer.spool.commit(k, len(b), m.parts()))
	}
	return nil
}

// observe calls Observe with blocks of a cube that is kept.
func (m *mag) observe(k *worker, t tile, blocks volume.Box) error {
	if m.writer.layer.Observe == nil || m.planes != nil {
		return nil
	}
	for b := range blocks.All() {
		m.cut(k, t, b)
	}
	return nil
}

// cut returns the voxels of block b of a tile, or nil if all are 0. b is in blocks, from voxel 0,0,0 of the mag. The
// result is valid until the next call with the same worker. cut calls Observe if the mag is the first.
func (m *mag) cut(k *worker, t tile, b volume.Vec) []byte {
	k.block = grow(&k.block, m.grid.BlockBytes())
	return m.cutTo(k.block, t, b)
}

// cutTo is cut with memory for the result: block has the bytes of a block.
func (m *mag) cutTo(block []byte, t tile, b volume.Vec) []byte {
	size, side := t.box.Size(), m.grid.Block[0]
	n := side * m.voxel
	from := t.voxels[b.Mul(m.grid.Block).Sub(t.box.Min).Index(size)*m.voxel:]
	row, plane := size[0]*m.voxel, size[0]*size[1]*m.voxel
	for z := range side {
		flat.CopyRows(block[z*side*n:], from[z*plane:], n, side, n, row, plane)
	}
	if allZero(block) {
		return nil
	}
	if m.writer.layer.Observe != nil && m.planes == nil {
		m.writer.layer.Observe(block)
	}
	return block
}

// allZero reports whether all bytes are 0.
func allZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
