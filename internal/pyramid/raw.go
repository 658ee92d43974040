package pyramid

import (
	"os"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// writeRawRow writes a row of blocks to a cube that is not compressed: their places are known. Blocks of zeros become holes.
func (m *mag) writeRawRow(k *worker, c *cube, t tile, row volume.Box) (err error) {
	size := m.grid.BlockBytes()
	first := c.at.Mul(m.grid.Blocks())
	var f *os.File
	defer func() {
		if f != nil {
			f.Close()
		}
	}()
	k.out = grow(&k.out, 2*size)        // in Morton order at most two blocks of a row are next to each other
	pending, at := k.out[:0], uint64(0) // blocks that are next to each other in the file, and the index of the first
	write := func() error {
		if len(pending) == 0 {
			return nil
		}
		if f == nil {
			if f, err = c.create(); err != nil {
				return err
			}
		}
		offset := int64(m.Header.DataOffset) + int64(at)*int64(size)
		_, err := f.WriteAt(pending, offset)
		pending = pending[:0]
		return err
	}
	for x := row.Min[0]; x < row.Max[0]; x++ {
		b := volume.Vec{x, row.Min[1], row.Min[2]}
		i := wkw.MortonIndex(b.Sub(first))
		if i != at+uint64(len(pending)/size) {
			if err := write(); err != nil {
				return err
			}
		}
		voxels := m.cutTo(pending[len(pending):][:size], t, b)
		if voxels == nil && c.old != nil {
			voxels = m.zero // over what the block was
		}
		if voxels == nil {
			continue
		}
		if len(pending) == 0 {
			at = i
		}
		pending = append(pending, voxels...)
	}
	return write()
}
