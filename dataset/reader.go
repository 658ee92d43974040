package dataset

import (
	"context"
	"fmt"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/mosaic"
	"github.com/wkwfs/wkwfs/volume"
)

// Reader reads boxes of a mag through a [cache.Cache]. A block that is in the cache is neither read nor decoded again,
// whichever Reader has read it. A Reader keeps some cubes open. It may be used by many goroutines at once.
//
// A Reader shows the mag as it was when the Reader was made. If a cube that a read needs has changed since then, the
// error is [volume.ErrChanged]. So a box never has voxels of two versions of a cube. A new Reader has the new version,
// and shares with the old one what has not changed.
type Reader struct {
	mag    *mosaic.Mosaic
	blocks *cache.Source
}

// NewReader returns a reader of a mag of any format. It lists the cubes of the mag. c is closed after the Reader.
func NewReader(m volume.Mag, c *cache.Cache) (*Reader, error) {
	all, err := mosaic.New(m, false)
	if err != nil {
		return nil, err
	}
	all.Open()
	return &Reader{all, c.Source(all)}, nil
}

// Bounds returns the bounding box of the layer, in voxels of the mag.
func (r *Reader) Bounds() volume.Box { return r.mag.Bounds() }

// Grid returns the geometry of a cube of the mag: the type of its voxels, and the size of blocks, which are read as a
// whole.
func (r *Reader) Grid() volume.Grid { return r.mag.Cube() }

// ReadBox returns the voxels of a box, in Fortran order with the channels of a voxel adjacent. The box is in voxels of
// the mag, in the coordinates of Bounds. Voxels outside of the bounds are 0, and so are those that were never written.
// It fails if the box is empty, or if any block that it needs cannot be read.
func (r *Reader) ReadBox(ctx context.Context, box volume.Box) ([]byte, error) {
	size, err := r.bytes(box)
	if err != nil {
		return nil, err
	}
	voxels := make([]byte, size)
	return voxels, r.fill(ctx, box, voxels)
}

// ReadBoxInto is ReadBox into memory of the caller, which must have the bytes of the box. After an error its content is
// undefined.
func (r *Reader) ReadBoxInto(ctx context.Context, box volume.Box, voxels []byte) error {
	size, err := r.bytes(box)
	if err == nil && int64(len(voxels)) != size {
		err = fmt.Errorf("memory for box %v: expected %d bytes, found %d", box, size, len(voxels))
	}
	if err != nil {
		return err
	}
	return r.fill(ctx, box, voxels)
}

// bytes returns the size of a box in bytes.
func (r *Reader) bytes(box volume.Box) (int64, error) {
	g := r.mag.Cube()
	g.Origin, g.Size = box.Min, box.Size()
	return g.Bytes(), g.Validate()
}

func (r *Reader) fill(ctx context.Context, box volume.Box, voxels []byte) error {
	return r.mag.Flat(box).Fill(voxels, 0, func(blocks []volume.Vec, copyBlock func(volume.Vec, []byte)) error {
		return r.blocks.Read(ctx, blocks, cache.Always, copyBlock)
	})
}

// Close closes the cubes that are open. No read may be in progress.
func (r *Reader) Close() {
	r.mag.Close()
	r.mag.CloseIdle()
}
