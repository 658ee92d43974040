package wkw

import (
	"container/list"
	"sync"
)

// tableBytes is how much memory the jump tables of all open cubes take at most: those of 60 cubes of 32³ blocks. If there
// are more, some are read again.
const tableBytes = 16 << 20

// tables is which files have kept chunks of their jump tables.
var tables = tableKeeper{limit: tableBytes}

// tableKeeper bounds the memory of jump tables. Lookups do not ask it.
type tableKeeper struct {
	limit int

	mu    sync.Mutex
	bytes int
	files list.List // of *File: the first one has kept no chunk for the longest time
}

// keep keeps a chunk, in the place of the one that has its slot. If there is too much memory in use, other files lose their chunks.
func (k *tableKeeper) keep(f *File, c *tableChunk) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case f.closed:
		return
	case f.place == nil:
		f.place = k.files.PushBack(f)
	default:
		k.files.MoveToBack(f.place)
	}
	k.bytes += len(c.entries) - f.table[c.number%uint64(len(f.table))].Swap(c).size()
	for k.bytes > k.limit && k.files.Front() != f.place {
		k.drop(k.files.Front().Value.(*File))
	}
}

// close drops the chunks of a file, which keeps none any more.
func (k *tableKeeper) close(f *File) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f.closed = true
	k.drop(f)
}

// drop drops the chunks of a file. It is called with mu held.
func (k *tableKeeper) drop(f *File) {
	if f.place == nil {
		return
	}
	k.files.Remove(f.place)
	f.place = nil
	for i := range f.table {
		k.bytes -= f.table[i].Swap(nil).size()
	}
}

// size returns the memory of a chunk, in bytes; 0 if it is nil.
func (c *tableChunk) size() int {
	if c == nil {
		return 0
	}
	return len(c.entries)
}
