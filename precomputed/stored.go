package precomputed

import (
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// storedChunk is a chunk in an open file.
type storedChunk struct {
	file        fs.File
	name        string      // of the file
	opened      fs.FileInfo // of the file, when it was opened
	info        fs.FileInfo // of the chunk: the file, or a part of a shard
	offset      int64       // in the file, in bytes
	size        int64       // in bytes
	compression compression
}

// chunkStore finds the stored chunks of a scale. Positions of chunks are in the lattice. The error for an absent
// chunk is fs.ErrNotExist.
type chunkStore interface {
	// positions lists the chunks that exist, even if they cannot be read. The listing may be ttl.Least old unless
	// fresh is set. If there are more than lattice.MaxPositions, the error is a lattice.TooManyError.
	positions(fresh bool) (lattice.Positions, error)
	// walk yields the chunks that exist, in any order, and errors of listing. It holds only some of them in memory.
	walk(yield func(volume.Vec, error) bool)
	stat(c volume.Vec) (fs.FileInfo, error)
	// statSome returns a function that is stat for chunks that are described one after the other, at about the same time.
	statSome() func(c volume.Vec) (fs.FileInfo, error)
	open(c volume.Vec) (*storedChunk, error)
}

// checkUnchanged fails with volume.ErrChanged if the file changed since it was opened.
func (s *storedChunk) checkUnchanged() error {
	if err := vfs.Unchanged(s.file, s.opened); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}
