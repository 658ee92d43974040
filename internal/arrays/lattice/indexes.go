package lattice

import (
	"sync"
	"unsafe"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// Indexes keeps the most recently used parts of shard indexes within a budget of bytes. A part has elements of type E.
// Its key has the version of the file. It is safe for concurrent use.
type Indexes[K comparable, E any] struct {
	mu   sync.Mutex
	kept *lru.Cache[K, []E]
}

// NewIndexes returns a cache with a budget in bytes.
func NewIndexes[K comparable, E any](budget int64) *Indexes[K, E] {
	return &Indexes[K, E]{kept: lru.New[K, []E](budget)}
}

// Get returns the part with a key. It must not be changed.
func (x *Indexes[K, E]) Get(key K) ([]E, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept.Get(key)
}

// Add keeps a part. The cache takes ownership of it.
func (x *Indexes[K, E]) Add(key K, part []E) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var e E
	x.kept.Put(key, part, int64(cap(part))*int64(unsafe.Sizeof(e))+keyBytes)
}

// keyBytes is about what a part takes in memory besides its elements.
const keyBytes = 256

// Used returns how many parts are kept, and the bytes that they take.
func (x *Indexes[K, E]) Used() (parts int, bytes int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept.Len(), x.kept.Cost()
}
