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

// chunkStore is a store of chunks that can be opened. Its positions may be ttl.Least old.
type chunkStore interface {
	lattice.Store
	open(c volume.Vec) (*storedChunk, error)
}

// checkUnchanged fails with volume.ErrChanged if the file changed since it was opened.
func (s *storedChunk) checkUnchanged() error {
	if err := vfs.Unchanged(s.file, s.opened); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}
