package precomputed

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// compression says whether the bytes of a chunk are gzip-ed.
type compression int

const (
	plain    compression = iota
	gzipped              // by its name, or by what the info file says of its shard
	unstated             // to be seen in the bytes
)

// stored is where a chunk lies in an open file.
type stored struct {
	file        fs.File
	name        string      // of the file
	opened      fs.FileInfo // the file, when it was opened
	info        fs.FileInfo // the chunk: the file, or its part of a shard
	offset      int64       // bytes
	size        int64       // bytes
	compression compression
}

// recheck is for how long a listing of chunks is believed without a look at the
// source: to go through 100,000 rows of chunks should not stat it 100,000 times.
const recheck = time.Second

// chunkStore is where the chunks of a scale are. A chunk is given by its position,
// which is in the lattice. Errors for what is absent are fs.ErrNotExist.
type chunkStore interface {
	// positions lists the chunks that are there, whether they can be read or not. What
	// was found within the time of recheck will do unless fresh.
	positions(fresh bool) (positions, error)
	stat(c volume.Vec) (fs.FileInfo, error)
	open(c volume.Vec) (*stored, error)
}

// checkUnchanged fails if the open file is no longer what it was.
func (s *stored) checkUnchanged() error {
	if err := vfs.Unchanged(s.file, s.opened); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// openFile opens a regular file.
func openFile(fsys fs.FS, name string) (fs.File, fs.FileInfo, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notExist("open", name)
	}
	if err != nil {
		f.Close() // nothing was written: err is what matters
		return nil, nil, err
	}
	return f, info, nil
}
