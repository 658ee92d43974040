package precomputed

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// chunk is an open chunk. It is a cube file whose first block has all of its voxels.
type chunk struct {
	*storedChunk
	scale *scaleInfo
	at    volume.Vec // position in the scale, in chunks
}

var (
	_ volume.CubeFile = (*chunk)(nil)
)

// Grid returns the geometry of a whole chunk, even if this one is clipped.
func (c *chunk) Grid() volume.Grid {
	g := c.scale.grid()
	g.Origin = g.Origin.Add(c.at.Mul(c.scale.chunk))
	return g
}

// Info returns the attributes that the chunk had when it was opened.
func (c *chunk) Info() fs.FileInfo { return c.info }

// Version returns the version that the chunk had when it was opened.
func (c *chunk) Version() vfs.Version { return vfs.VersionOf(c.info) }

// Speed implements [vfs.SpeedReporter].
func (c *chunk) Speed() vfs.Speed { return vfs.SpeedOf(c.file.File).OfChunks() }

// WorkMemory implements [volume.MemoryReporter].
func (c *chunk) WorkMemory(g volume.Grid) int { return c.scale.WorkMemory(g) }

// Close closes the file.
func (c *chunk) Close() error { return c.file.Close() }

// Fill reads and decodes the block, and sets its Voxels or Err. Err is a *volume.FormatError if the chunk is damaged,
// and volume.ErrChanged if the file changed since it was opened.
func (c *chunk) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Err = c.block(ctx, b.At, memory)
	}
}

func (c *chunk) block(ctx context.Context, at volume.Vec, memory func(at volume.Vec) []byte) ([]byte, error) {
	switch n := c.Grid().Blocks(); {
	case !at.In(n):
		return nil, fmt.Errorf("%s: block %v: a chunk has %v blocks", c.file.Name, at, n)
	case at != (volume.Vec{}):
		return nil, nil // it is outside of the bounds
	}
	voxels, err := c.decode(ctx, memory)
	// If the file changed during the read, voxels and err are not valid.
	if changed := c.file.CheckUnchanged(); changed != nil {
		return nil, changed
	}
	return voxels, err
}

// box returns the absolute voxels of the chunk, clipped to the bounds of the scale.
func (c *chunk) box() volume.Box { return c.scale.chunkBox(c.at) }

// decode decodes the chunk into memory.
func (c *chunk) decode(ctx context.Context, memory func(at volume.Vec) []byte) ([]byte, error) {
	s, size := c.scale, c.box().Size()
	if limit := int64(s.maxStored(size)); c.size > limit {
		return nil, c.broken(fmt.Sprintf("at most %d bytes", limit), fmt.Sprint(c.size))
	}
	if s.encoding.decode != nil {
		encoded, err := c.encoded(ctx, size)
		if err != nil {
			return nil, err
		}
		defer scratch.Put(encoded)
		return c.layOut(size, memory, func(dst []byte) error {
			return c.undecodable(s.encoding.decode(s, *encoded, size, dst))
		})
	}
	if n := s.voxelBytes(size); c.size == int64(n) && c.compression <= undeclared { // raw voxels may start as gzip does
		return c.layOut(size, memory, func(dst []byte) error { return c.reader(ctx).readFull(dst) })
	}
	in := c.reader(ctx)
	by, err := c.compressedBy(in)
	switch n := s.voxelBytes(size); {
	case err != nil:
		return nil, err
	case by == plain:
		return nil, c.broken(fmt.Sprintf("%d bytes", n), fmt.Sprint(c.size))
	case by == gzipped && int64(n) > maxRatio*c.size: // the memory is only for what can be there
		return nil, c.undecodable(fmt.Errorf("decompressing: %w", io.ErrUnexpectedEOF))
	}
	return c.layOut(size, memory, func(dst []byte) error {
		n, err := c.unpack(by, in, dst)
		if err == nil && n != len(dst) {
			err = c.broken(fmt.Sprintf("%d bytes", len(dst)), fmt.Sprint(n))
		}
		return err
	})
}

// encoded returns the encoded bytes of the chunk, in memory of scratch.
func (c *chunk) encoded(ctx context.Context, size volume.Vec) (*[]byte, error) {
	in := c.reader(ctx)
	by, err := c.compressedBy(in)
	if err != nil {
		return nil, err
	}
	n := int(c.size)
	switch by {
	case plain:
	case gzipped:
		n = min(c.scale.maxEncoded(size), maxRatio*n) // pages that are not written take no memory
	default:
		n = c.scale.maxEncoded(size)
	}
	buf := scratch.Get(n)
	if by != plain {
		n, err = c.unpack(by, in, *buf)
	} else {
		err = in.readFull(*buf)
	}
	if err != nil {
		scratch.Put(buf)
		return nil, err
	}
	*buf = (*buf)[:n]
	return buf, nil
}

// layOut returns the block of the chunk. decode gets memory for its voxels as they are encoded: the start of the block,
// unless their channels are in another order.
func (c *chunk) layOut(size volume.Vec, memory func(at volume.Vec) []byte, decode func(dst []byte) error) ([]byte,
	error) {
	grid, n := c.scale.grid(), c.scale.voxelBytes(size)
	block := memory(volume.Vec{})
	if !c.scale.interleaves() {
		if err := decode(block[:n:n]); err != nil {
			return nil, err
		}
	} else {
		planar := scratch.Get(n)
		defer scratch.Put(planar)
		if err := decode(*planar); err != nil {
			return nil, err
		}
		interleave(block, *planar, grid.Channels, grid.Type.Size())
	}
	spread(block, size, grid)
	return block, nil
}

// compressedBy returns the compression of the chunk. If neither the info file nor the file name declares it, the first
// bytes decide.
func (c *chunk) compressedBy(in *chunkReader) (compression, error) {
	if c.compression != undeclared {
		return c.compression, nil
	}
	if isGzip, err := in.startsAsGzip(); err != nil || isGzip {
		return gzipped, err
	}
	return plain, nil
}

func (c *chunk) broken(expected, found string) error {
	return c.file.Broken("chunk "+c.box().String(), c.offset, expected, found)
}

// undecodable returns the error for that of a decoder, or nil.
func (c *chunk) undecodable(err error) error {
	if err == nil {
		return nil
	}
	return c.file.Undecodable("chunk "+c.box().String(), c.offset, err)
}
