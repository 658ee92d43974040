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

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// shards stores chunks in shard files.
type shards struct {
	fsys    fs.FS
	dir     string
	scale   *scaleInfo
	spec    *sharding
	limit   int // of positions
	all     *lattice.Budget
	indexes *indexes

	mu      sync.Mutex
	found   lattice.Positions
	err     error             // why found may be incomplete
	passing bool              // found may be complete when it is listed again, although the state is the same
	state   [sha256.Size]byte // of the shard files, when they were listed
	checked time.Time         // when the state was last compared
}

// indexBudget limits the memory for the minishard indexes of all scales, in bytes. It is enough for 1.4 million chunks.
const indexBudget = 32 << 20

var allIndexes = lattice.NewIndexes[indexKey, entry](indexBudget)

type indexes = lattice.Indexes[indexKey, entry]

// indexKey names a minishard in one version of a shard file.
type indexKey struct {
	scale *scaleInfo
	minishardID
	version vfs.Version
}

func newShards(fsys fs.FS, dir string, scale *scaleInfo) *shards {
	return &shards{fsys: fsys, dir: dir, scale: scale, spec: scale.sharding, limit: lattice.MaxPositions,
		all: lattice.All, indexes: allIndexes}
}

func (s *shards) path(shard uint64) string { return path.Join(s.dir, s.spec.stem(shard)+shardSuffix) }

// Describe implements [lattice.Store]. The function describes each shard once, and keeps the minishard index that it
// used last: others may push a large one out of the cache between two chunks.
func (s *shards) Describe() func(c volume.Vec) (fs.FileInfo, error) {
	infos := map[uint64]fs.FileInfo{} // of shards
	var last indexKey
	var index minishardIndex
	return func(c volume.Vec) (fs.FileInfo, error) {
		at := s.spec.locate(s.scale.lattice.Morton(c))
		info, known := infos[at.shard]
		if !known {
			var err error
			if info, err = fs.Stat(s.fsys, s.path(at.shard)); err != nil {
				return nil, s.missing(at.shard, err)
			}
			infos[at.shard] = info
		}
		if key := (indexKey{s.scale, at, vfs.VersionOf(info)}); key != last {
			next, cached := s.indexes.Get(key)
			if !cached {
				shard, err := openShard(s.fsys, s.path(at.shard), s.spec)
				if err != nil {
					return nil, s.missing(at.shard, err)
				}
				defer shard.Close() // read-only: nothing can be lost
				if next, err = s.index(shard, at, c); err != nil {
					return nil, err
				}
				info, key = shard.Info, indexKey{s.scale, at, vfs.VersionOf(shard.Info)}
				infos[at.shard] = info
			}
			index, last = next, key
		}
		e, err := s.entry(index, c, info)
		if err != nil {
			return nil, err
		}
		return s.chunkInfo(c, e, info), nil
	}
}

func (s *shards) open(c volume.Vec) (*storedChunk, error) {
	at := s.spec.locate(s.scale.lattice.Morton(c))
	shard, err := openShard(s.fsys, s.path(at.shard), s.spec)
	if err != nil {
		return nil, s.missing(at.shard, err)
	}
	index, err := s.index(shard, at, c)
	var e entry
	if err == nil {
		e, err = s.entry(index, c, shard.Info)
	}
	if err != nil {
		shard.Close()
		return nil, err
	}
	compression := plain
	if s.spec.gzipData {
		compression = gzipped
	}
	return &storedChunk{shard.File, s.chunkInfo(c, e, shard.Info), e.offset, e.size, compression}, nil
}

// index returns the index of minishard at of the shard, in which chunk c is. It reads the index if it is not cached.
func (s *shards) index(shard *shard, at minishardID, c volume.Vec) (minishardIndex, error) {
	key := indexKey{s.scale, at, vfs.VersionOf(shard.Info)}
	if index, cached := s.indexes.Get(key); cached {
		return index, nil
	}
	index, err := shard.minishard(at.minishard)
	if err != nil {
		return nil, fmt.Errorf("chunk %s: %w", s.scale.chunkName(c), err)
	}
	s.indexes.Add(key, index)
	return index, nil
}

// entry returns the entry of chunk c in its minishard index. It checks that the chunk is within the file.
func (s *shards) entry(index minishardIndex, c volume.Vec, shard fs.FileInfo) (entry, error) {
	id := s.scale.lattice.Morton(c)
	e, ok := index.find(id)
	if !ok {
		return e, notExist("open", path.Join(s.dir, s.scale.chunkName(c)))
	}
	if e.offset+e.size > shard.Size() {
		return e, &volume.FormatError{
			File: path.Join(s.dir, shard.Name()), Part: fmt.Sprintf("chunk %s, ID %d,", s.scale.chunkName(c), id),
			Offset:   e.offset,
			Expected: fmt.Sprintf("%d bytes", e.size), Found: fmt.Sprintf("the end of the file at byte %d",
				shard.Size()),
		}
	}
	return e, nil
}

// missing returns the error for a shard file that cannot be opened. It is fs.ErrNotExist only if the shard is absent:
// no link has its name, and it does not exist in the obsolete version.
func (s *shards) missing(shard uint64, err error) error {
	if err = vfs.CheckAbsent(s.fsys, ".", s.path(shard), err); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	obsolete := path.Join(s.dir, s.spec.stem(shard)+obsoleteSuffix)
	if _, statErr := fs.Lstat(s.fsys, obsolete); statErr == nil {
		return fmt.Errorf("%s: shards in two files are obsolete and not read", obsolete)
	}
	return err
}

// chunkInfo describes chunk c, which is in the shard.
func (s *shards) chunkInfo(c volume.Vec, e entry, shard fs.FileInfo) chunkInfo {
	version := vfs.VersionOf(shard)
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(version[:], e.id))
	return chunkInfo{shard, s.scale.chunkName(c), e.size, vfs.Version(sum[:16])}
}

// chunkInfo describes a chunk in a shard. Size and version are those of the chunk, everything else is that of the
// shard file. The cache distinguishes blocks by version and index, so each chunk needs its own version.
type chunkInfo struct {
	fs.FileInfo
	name    string
	size    int64
	version vfs.Version
}

func (i chunkInfo) Name() string { return i.name }
func (i chunkInfo) Size() int64  { return i.size }

// Details implements [vfs.DetailedInfo]. The source is the shard.
func (i chunkInfo) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return i.version }, Stored: func() int64 { return i.size },
		Source: i.FileInfo}
}
