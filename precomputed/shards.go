package precomputed

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// shards is a scale whose chunks lie in shard files.
type shards struct {
	fsys    fs.FS
	dir     string
	scale   *scaleInfo
	spec    *sharding
	indexes *indexes

	mu      sync.Mutex
	found   positions
	err     error             // why found may not be all
	state   [sha256.Size]byte // of the files when they were listed
	checked time.Time         // when the state was last compared
}

// indexBudget is the memory for the minishard indexes of a scale, in bytes: those of
// 1.4 million chunks.
const indexBudget = 32 << 20

// obsoleteSuffix is that of the shard index when it was a file of its own.
const obsoleteSuffix = ".index"

func newShards(fsys fs.FS, dir string, scale *scaleInfo) *shards {
	return &shards{fsys: fsys, dir: dir, scale: scale, spec: scale.sharding, indexes: newIndexes(indexBudget)}
}

func (s *shards) path(shard uint64) string { return path.Join(s.dir, s.spec.stem(shard)+shardSuffix) }

func (s *shards) stat(c volume.Vec) (fs.FileInfo, error) {
	at := s.spec.locate(s.scale.lattice.morton(c))
	info, err := fs.Stat(s.fsys, s.path(at.shard))
	if err != nil {
		return nil, s.missing(at.shard, err)
	}
	index, known := s.indexes.get(indexKey{at, vfs.VersionOf(info)})
	if !known {
		opened, err := s.open(c)
		if err != nil {
			return nil, err
		}
		opened.file.Close() // read-only: nothing can be lost
		return opened.info, nil
	}
	e, err := s.entry(index, c, info)
	if err != nil {
		return nil, err
	}
	return s.chunkInfo(c, e, info), nil
}

func (s *shards) open(c volume.Vec) (*stored, error) {
	at := s.spec.locate(s.scale.lattice.morton(c))
	shard, err := openShard(s.fsys, s.path(at.shard), s.spec)
	if err != nil {
		return nil, s.missing(at.shard, err)
	}
	e, err := s.lookup(shard, at, c)
	if err != nil {
		shard.close()
		return nil, err
	}
	compression := plain
	if s.spec.gzipData {
		compression = gzipped
	}
	return &stored{shard.file, shard.name, shard.info, s.chunkInfo(c, e, shard.info), e.begin, e.size, compression}, nil
}

// lookup finds chunk c in its minishard.
func (s *shards) lookup(shard *shard, at place, c volume.Vec) (entry, error) {
	key := indexKey{at, vfs.VersionOf(shard.info)}
	index, known := s.indexes.get(key)
	if !known {
		var err error
		if index, err = shard.minishard(at.minishard); err != nil {
			return entry{}, fmt.Errorf("chunk %s: %w", s.scale.chunkName(c), err)
		}
		s.indexes.add(key, index)
	}
	return s.entry(index, c, shard.info)
}

// entry finds chunk c in the index of its minishard; the chunk must lie in the file.
func (s *shards) entry(index minishardIndex, c volume.Vec, shard fs.FileInfo) (entry, error) {
	id := s.scale.lattice.morton(c)
	e, ok := index.find(id)
	if !ok {
		return e, notExist("open", path.Join(s.dir, s.scale.chunkName(c)))
	}
	if e.begin+e.size > shard.Size() {
		return e, &FormatError{
			File: path.Join(s.dir, shard.Name()), What: fmt.Sprintf("chunk %s, number %d,", s.scale.chunkName(c), id), Offset: e.begin,
			Expected: fmt.Sprintf("%d bytes", e.size), Found: fmt.Sprintf("the end of the file at byte %d", shard.Size()),
		}
	}
	return e, nil
}

// missing returns the error that a shard's file gave. It says that there is no such
// file only where nothing else stands for the shard.
func (s *shards) missing(shard uint64, err error) error {
	if err = absent(s.fsys, s.path(shard), err); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	obsolete := path.Join(s.dir, s.spec.stem(shard)+obsoleteSuffix)
	if _, statErr := fs.Lstat(s.fsys, obsolete); statErr == nil {
		return fmt.Errorf("%s: the obsolete form of a shard, with its index in a file of its own, is not supported", obsolete)
	}
	return err
}

// chunkInfo describes chunk c, which lies in the shard.
func (s *shards) chunkInfo(c volume.Vec, e entry, shard fs.FileInfo) chunkInfo {
	version := vfs.VersionOf(shard)
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(version[:], e.id))
	return chunkInfo{shard, s.scale.chunkName(c), e.size, vfs.Version(sum[:16])}
}

// chunkInfo describes a chunk in a shard: a size and a version of its own, the rest
// from the shard's file. The version must be its own, because it is by version and
// place in the chunk that the cache tells blocks apart.
type chunkInfo struct {
	fs.FileInfo
	name    string
	size    int64
	version vfs.Version
}

func (i chunkInfo) Name() string { return i.name }
func (i chunkInfo) Size() int64  { return i.size }

// Stored implements vfs.StoredInfo.
func (i chunkInfo) Stored() int64 { return i.size }

// Version implements vfs.VersionedInfo.
func (i chunkInfo) Version() vfs.Version { return i.version }
