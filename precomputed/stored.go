package precomputed

import (
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/volume"
)

// storedChunk is a chunk in an open file.
type storedChunk struct {
	file        lattice.File
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
