package wkw

import (
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// tableBytes bounds the memory of the jump tables of all open cubes, in bytes: the tables of 60 cubes of 32³ blocks.
// With more cubes, parts of tables are read again.
const tableBytes = 16 << 20

// tables holds the jump tables of all files.
var tables = newTableBudget(tableBytes)

// tableBudget bounds the memory of jump tables: the least recently read ones lose their chunks. Lookups do not use it.
type tableBudget struct {
	mu    sync.Mutex
	files *lru.Cache[*File, jumpTable] // files that have chunks
}

func newTableBudget(budget int64) *tableBudget {
	return &tableBudget{files: lru.New[*File, jumpTable](budget)}
}

// keep stores a chunk in its slot of the file's table. Other files lose their chunks if the tables exceed the budget.
func (k *tableBudget) keep(f *File, c *tableChunk) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f.closed {
		return
	}
	f.table[c.number%uint64(len(f.table))].Store(c)
	for _, evicted := range k.files.Put(f, f.table, f.table.memory()) {
		evicted.clear()
	}
}

// close drops the chunks of a file. Later calls of keep for the file do nothing.
func (k *tableBudget) close(f *File) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f.closed = true
	k.files.Remove(f)
	f.table.clear()
}

// memory returns the bytes of all chunks in the table.
func (t jumpTable) memory() (n int64) {
	for i := range t {
		if c := t[i].Load(); c != nil {
			n += int64(len(c.entries))
		}
	}
	return n
}

func (t jumpTable) clear() {
	for i := range t {
		t[i].Store(nil)
	}
}
