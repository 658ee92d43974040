package precomputed

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// chunk is an open chunk: a cube file of one block.
type chunk struct {
	*stored
	scale *scaleInfo
	at    volume.Vec // among the chunks of the scale
}

var (
	_ volume.CubeFile = (*chunk)(nil)
	_ volume.Sized    = (*chunk)(nil)
)

// Grid is the geometry of a whole chunk, also where this one is clipped.
func (c *chunk) Grid() volume.Grid {
	g := c.scale.grid()
	g.Origin = g.Origin.Add(c.at.Mul(c.scale.chunk))
	return g
}

// Info describes the chunk as it was when it was opened.
func (c *chunk) Info() fs.FileInfo { return c.info }

// Version names the voxels of the chunk as it was when it was opened.
func (c *chunk) Version() vfs.Version { return vfs.VersionOf(c.info) }

// Late implements vfs.Later.
func (c *chunk) Late() bool { return vfs.IsLate(c.file) }

// Close closes the file.
func (c *chunk) Close() error { return c.file.Close() }

// Fill reads and decodes the one block. A damaged chunk is a *FormatError. A file that changed since it
// was opened is an error that is vfs.ErrChanged.
func (c *chunk) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Err = c.block(ctx, b.At, memory)
	}
}

func (c *chunk) block(ctx context.Context, at volume.Vec, memory func(at volume.Vec) []byte) ([]byte, error) {
	if at != (volume.Vec{}) {
		return nil, fmt.Errorf("%s: block %v of a chunk, which has one", c.name, at)
	}
	data, err := c.read(ctx)
	// As in a shard: what was read counts only if the file is still the same.
	if changed := c.checkUnchanged(); changed != nil {
		return nil, changed
	}
	if err != nil {
		return nil, err
	}
	return c.decode(data, memory)
}

// StoredSize returns how many bytes the chunk takes where it is stored.
func (c *chunk) StoredSize(volume.Vec) (int64, error) { return c.size, c.checkUnchanged() }

// voxels is the box of the chunk in absolute voxels, clipped.
func (c *chunk) voxels() volume.Box { return c.scale.chunkBox(c.at) }

// read returns the chunk as it is stored.
func (c *chunk) read(ctx context.Context) ([]byte, error) {
	// What cannot be compressed becomes a little longer by gzip.
	most := int64(c.scale.maxEncoded(c.voxels().Size()))
	if most += most/64 + 1<<16; c.size > most {
		return nil, c.broken(fmt.Sprintf("at most %d bytes", most), fmt.Sprint(c.size))
	}
	b := make([]byte, c.size)
	if err := vfs.ReadFull(ctx, c.file, b, c.offset); err != nil {
		return nil, fmt.Errorf("%s: chunk %v at byte %d: %w", c.name, c.voxels(), c.offset, err)
	}
	return b, nil
}

// decode decodes data, the chunk as it is stored, into memory.
func (c *chunk) decode(data []byte, memory func(at volume.Vec) []byte) ([]byte, error) {
	s, size := c.scale, c.voxels().Size()
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

// isCompressed reports whether data is gzip. A file that says nothing of it is where
// it begins like one; but raw voxels can do that too, and have the right length.
func (c *chunk) isCompressed(data []byte) bool {
	if c.compression != unstated {
		return c.compression == gzipped
	}
	raw := c.scale.encoding.decode == nil && len(data) == c.scale.voxelBytes(c.voxels().Size())
	return isGzip(data) && !raw
}

func (c *chunk) broken(expected, found string) error {
	return &FormatError{File: c.name, What: "chunk " + c.voxels().String(), Offset: c.offset, Expected: expected, Found: found}
}

func (c *chunk) undecodable(err error) error {
	return &FormatError{File: c.name, What: "chunk " + c.voxels().String(), Offset: c.offset, Err: err}
}
