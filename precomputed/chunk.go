package precomputed

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/vfs"
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

// Close closes the file.
func (c *chunk) Close() error { return c.file.Close() }

// Block reads and decodes the one block. The slice is new and belongs to the caller; it
// is never nil. A damaged chunk is a *FormatError, a file that changed since it was
// opened an error that is vfs.ErrChanged.
func (c *chunk) Block(ctx context.Context, b volume.Vec) ([]byte, error) {
	if b != (volume.Vec{}) {
		return nil, fmt.Errorf("%s: block %v of a chunk, which has one", c.name, b)
	}
	data, err := c.read(ctx)
	// As in a shard: what was read counts only if the file is still the same.
	if changed := c.checkUnchanged(); changed != nil {
		return nil, changed
	}
	if err != nil {
		return nil, err
	}
	return c.decode(data)
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
	if err := readFull(ctx, c.file, b, c.offset); err != nil {
		return nil, fmt.Errorf("%s: chunk %v at byte %d: %w", c.name, c.voxels(), c.offset, err)
	}
	return b, nil
}

// decode returns the block of a chunk as it was read.
func (c *chunk) decode(data []byte) ([]byte, error) {
	s, size := c.scale, c.voxels().Size()
	if c.isCompressed(data) {
		var err error
		if data, err = gunzip(data, s.maxEncoded(size)); err != nil {
			return nil, c.undecodable(err)
		}
	}
	voxels := data
	if s.encoding.decode != nil {
		voxels = make([]byte, s.voxelBytes(size))
		if err := s.encoding.decode(s, data, size, voxels); err != nil {
			return nil, c.undecodable(err)
		}
	}
	if len(voxels) != s.voxelBytes(size) {
		return nil, c.broken(fmt.Sprintf("%d bytes", s.voxelBytes(size)), fmt.Sprint(len(voxels)))
	}
	return layOut(voxels, size, s.grid(), s.encoding.planar), nil
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
