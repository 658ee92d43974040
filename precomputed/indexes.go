package precomputed

import (
	"container/list"
	"sync"
	"unsafe"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// indexKey names a minishard of one version of a shard file.
type indexKey struct {
	place
	version vfs.Version
}

// indexes keeps the minishard indexes that were used last, within a budget of bytes.
// It always keeps one, however long.
type indexes struct {
	mu     sync.Mutex
	budget int
	bytes  int
	byKey  map[indexKey]*list.Element
	used   list.List // of keptIndex, the longest unused first
}

type keptIndex struct {
	key   indexKey
	index minishardIndex
}

// bytes is what it takes in memory, its place in the map and the list included.
func (k keptIndex) bytes() int { return cap(k.index)*int(unsafe.Sizeof(entry{})) + 256 }

func newIndexes(budget int) *indexes {
	return &indexes{budget: budget, byKey: map[indexKey]*list.Element{}}
}

func (x *indexes) get(key indexKey) (minishardIndex, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, ok := x.byKey[key]
	if !ok {
		return nil, false
	}
	x.used.MoveToBack(e)
	return e.Value.(keptIndex).index, true
}

func (x *indexes) add(key indexKey, index minishardIndex) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.byKey[key]; ok { // somebody else was quicker
		return
	}
	kept := keptIndex{key, index}
	x.byKey[key] = x.used.PushBack(kept)
	x.bytes += kept.bytes()
	for x.bytes > x.budget && x.used.Len() > 1 {
		oldest := x.used.Remove(x.used.Front()).(keptIndex)
		delete(x.byKey, oldest.key)
		x.bytes -= oldest.bytes()
	}
}
