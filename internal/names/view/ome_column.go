package view

import (
	"context"
	"slices"

	"github.com/wkwfs/wkwfs/internal/names/omezarr"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/volume"
)

// columnOf returns the extent of a chunk of OME-Zarr in voxels: a chunk of [chunkOf], or a power of two of them, one
// after the other on z. In C order, the voxels of such a column are those of its blocks, one after the other. No chunk
// has voxels of two cubes.
func columnOf(g volume.Grid, most columnLimits) volume.Vec {
	chunk := chunkOf(g)
	bytes := g.Type.Size() * chunk[0] * chunk[1] * chunk[2]
	for n := 2; g.Size[2]%(2*chunk[2]) == 0; n *= 2 {
		if n*bytes > most.bytes && (n > most.wideBlocks || n*bytes > most.wideBytes) {
			break
		}
		chunk[2] *= 2
	}
	return chunk
}

// column is a chunk in the container of Blosc: blocks of a cube that follow one another on z.
type column struct {
	first      volume.Vec // position of the first block, in blocks of the snapshot
	blockBytes int        // of a decoded block
	value      int        // bytes of a value
	forms      []blockForm
	sizes      []int64 // of the blocks in the container, in bytes
}

// blockForm is the form of a block in a container.
type blockForm int

const (
	zeros   blockForm = iota // the block is outside of the layer
	stored                   // the LZ4 block as it is in the cube
	decoded                  // the voxels
)

// newColumn finds the forms and the sizes of the blocks of a box, in absolute voxels of the mag. It reads the jump
// table of the cube, but no block.
func newColumn(ctx context.Context, snap *snapshot, box volume.Box) (*column, error) {
	g, bounds := snap.Cube(), snap.Bounds()
	n := box.Size()[2] / g.Block[2]
	c := &column{first: snap.Local(box).Min.Div(g.Block), blockBytes: g.BlockBytes(), value: g.Type.Size(),
		forms: make([]blockForm, n), sizes: make([]int64, n)}
	for i := range c.forms {
		block := box
		block.Min[2] += i * g.Block[2]
		block.Max[2] = block.Min[2] + g.Block[2]
		switch {
		case block.Intersect(bounds).Empty():
			c.forms[i], c.sizes[i] = zeros, int64(len(omezarr.Zeros(c.blockBytes)))
		case block.Min.Max(bounds.Min) == block.Min:
			c.forms[i] = stored
		default: // voxels before the start of the layer are zeros, whatever the block has
			c.forms[i], c.sizes[i] = decoded, int64(c.blockBytes)
		}
	}
	return c, c.findStored(ctx, snap)
}

// findStored sets the sizes of stored blocks. Blocks that the container cannot have as they are stored will be decoded:
// blocks of a raw cube, and those that readers take for voxels, because they are as long.
func (c *column) findStored(ctx context.Context, snap *snapshot) error {
	at := c.positions(stored)
	if len(at) == 0 {
		return nil
	}
	sizes, err := snap.LZ4Sizes(ctx, at)
	if err != nil {
		return err
	}
	for n, at := range at {
		i := at[2] - c.first[2]
		if sizes == nil || sizes[n] == int64(c.blockBytes) {
			c.forms[i], c.sizes[i] = decoded, int64(c.blockBytes)
		} else {
			c.sizes[i] = sizes[n]
		}
	}
	return nil
}

// positions returns the positions of the blocks of a form, in blocks of the snapshot.
func (c *column) positions(form blockForm) (at []volume.Vec) {
	for i, f := range c.forms {
		if f == form {
			at = append(at, c.first.Add(volume.Vec{0, 0, i}))
		}
	}
	return at
}

// stored returns the length of all stored blocks in the cube, in bytes. ok is false if others are decoded.
func (c *column) stored() (n int64, ok bool) {
	ok = true
	for i, form := range c.forms {
		switch form {
		case stored:
			n += c.sizes[i]
		case decoded:
			ok = false
		}
	}
	return n, ok
}

// read fills content with the container. A damaged block is an error. A reader of newReader reads the voxels of the
// chunk.
func (c *column) read(ctx context.Context, content []byte, snap *snapshot, newReader func() *prefetch.Reader) error {
	blocks := omezarr.LayContainer(content, c.blockBytes, c.value, c.sizes)
	if slices.Contains(c.forms, decoded) {
		r := newReader()
		defer r.Close()
		for i, form := range c.forms {
			if form != decoded {
				continue
			}
			if _, err := r.ReadAt(ctx, blocks[i], int64(i)*int64(c.blockBytes)); err != nil {
				return err
			}
		}
	}
	for i, form := range c.forms {
		if form == zeros {
			copy(blocks[i], omezarr.Zeros(c.blockBytes))
		}
	}
	if at := c.positions(stored); len(at) > 0 {
		return snap.FillLZ4(ctx, at, func(at volume.Vec) []byte { return blocks[at[2]-c.first[2]] })
	}
	return nil
}
