package precomputed

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// chunk is an open chunk. It is a cube file with one block.
type chunk struct {
	*storedChunk
	scale *scaleInfo
	at    volume.Vec // position in the scale, in chunks
}

var (
	_ volume.CubeFile = (*chunk)(nil)
	_ volume.Sized    = (*chunk)(nil)
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

// Late implements [vfs.LateReporter].
func (c *chunk) Late() bool { return vfs.IsLate(c.file) }

// Near implements [vfs.NearReporter].
func (c *chunk) Near() bool { return vfs.IsNear(c.file) }

// AnswersAtOnce implements [vfs.AtOnceReporter].
func (c *chunk) AnswersAtOnce() bool { return vfs.AnswersAtOnce(c.file) }

// Close closes the file.
func (c *chunk) Close() error { return c.file.Close() }

// Fill reads and decodes the block, and sets its Voxels or Err. Err is a *volume.FormatError if the chunk is damaged, and
// volume.ErrChanged if the file changed since it was opened.
func (c *chunk) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Err = c.block(ctx, b.At, memory)
	}
}

func (c *chunk) block(ctx context.Context, at volume.Vec, memory func(at volume.Vec) []byte) ([]byte, error) {
	if at != (volume.Vec{}) {
		return nil, fmt.Errorf("%s: block %v: a chunk has one block, 0,0,0", c.name, at)
	}
	data, err := c.read(ctx)
	// If the file changed during the read, data and err are not valid.
	if changed := c.checkUnchanged(); changed != nil {
		return nil, changed
	}
	if err != nil {
		return nil, err
	}
	return c.decode(data, memory)
}

// StoredSize returns the bytes that the chunk takes in its file.
func (c *chunk) StoredSize(volume.Vec) (int64, error) { return c.size, c.checkUnchanged() }

// box returns the absolute voxels of the chunk, clipped to the bounds of the scale.
func (c *chunk) box() volume.Box { return c.scale.chunkBox(c.at) }

// read returns the stored bytes of the chunk.
func (c *chunk) read(ctx context.Context) ([]byte, error) {
	// Gzip makes incompressible data slightly longer.
	limit := int64(c.scale.maxEncoded(c.box().Size()))
	if limit += limit/64 + 1<<16; c.size > limit {
		return nil, c.broken(fmt.Sprintf("at most %d bytes", limit), fmt.Sprint(c.size))
	}
	b := make([]byte, c.size)
	if err := vfs.ReadFull(ctx, c.file, b, c.offset); err != nil {
		return nil, fmt.Errorf("%s: chunk %v at byte %d: %w", c.name, c.box(), c.offset, err)
	}
	return b, nil
}

// decode decodes the stored bytes of the chunk into memory.
func (c *chunk) decode(data []byte, memory func(at volume.Vec) []byte) ([]byte, error) {
	s, size := c.scale, c.box().Size()
	if c.isCompressed(data) {
		var err error
		if data, err = gunzip(data, s.maxEncoded(size)); err != nil {
			return nil, c.undecodable(err)
		}
	}
	grid, n, planar := s.grid(), s.voxelBytes(size), s.encoding.planar
	switch {
	case s.encoding.decode != nil && isLaidOut(size, grid, planar):
		block := memory(volume.Vec{})
		if err := s.encoding.decode(s, data, size, block); err != nil {
			return nil, c.undecodable(err)
		}
		return block, nil
	case s.encoding.decode != nil:
		voxels := make([]byte, n)
		if err := s.encoding.decode(s, data, size, voxels); err != nil {
			return nil, c.undecodable(err)
		}
		data = voxels
	case len(data) != n:
		return nil, c.broken(fmt.Sprintf("%d bytes", n), fmt.Sprint(len(data)))
	}
	block := memory(volume.Vec{})
	layOut(block, data, size, grid, planar)
	return block, nil
}

// isCompressed reports whether data is gzip. If neither the info file nor the file name declares it, the first bytes
// decide. Raw voxels may start with the same bytes: data of the length of the raw voxels is not gzip.
func (c *chunk) isCompressed(data []byte) bool {
	if c.compression != undeclared {
		return c.compression == gzipped
	}
	raw := c.scale.encoding.decode == nil && len(data) == c.scale.voxelBytes(c.box().Size())
	return isGzip(data) && !raw
}

func (c *chunk) broken(expected, found string) error {
	return &volume.FormatError{File: c.name, Part: "chunk " + c.box().String(), Offset: c.offset, Expected: expected, Found: found}
}

func (c *chunk) undecodable(err error) error {
	return &volume.FormatError{File: c.name, Part: "chunk " + c.box().String(), Offset: c.offset, Err: err}
}
