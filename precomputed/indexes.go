package precomputed

import (
	"sync"
	"unsafe"

	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// indexKey names a minishard in one version of a shard file.
type indexKey struct {
	scale *scaleInfo
	minishardID
	version vfs.Version
}

// indexes keeps the most recently used minishard indexes within a budget of bytes.
type indexes struct {
	mu   sync.Mutex
	kept *lru.Cache[indexKey, minishardIndex]
}

func newIndexes(budget int64) *indexes {
	return &indexes{kept: lru.New[indexKey, minishardIndex](budget)}
}

func (x *indexes) get(key indexKey) (minishardIndex, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept.Get(key)
}

func (x *indexes) add(key indexKey, index minishardIndex) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept.Put(key, index, index.memory())
}

// memory returns the bytes that the index takes in memory, with its key.
func (x minishardIndex) memory() int64 { return int64(cap(x))*int64(unsafe.Sizeof(entry{})) + 256 }
