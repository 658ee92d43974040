package hdf5

import (
	"fmt"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// globalHeaps caches global heap collections (III.E).
type globalHeaps struct {
	mu    *sync.Mutex
	cache *lru.Cache[uint64, map[uint16][]byte]
}

func newGlobalHeaps() globalHeaps {
	return globalHeaps{mu: new(sync.Mutex), cache: lru.New[uint64, map[uint16][]byte](cachedBytes)}
}

func (g *globalHeaps) get(addr uint64) (map[uint16][]byte, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cache.Get(addr)
}

// put caches a collection of size bytes.
func (g *globalHeaps) put(addr uint64, all map[uint16][]byte, size int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cache.Put(addr, all, int64(size+100*len(all)))
}

// maxCollection is the most bytes of a collection.
const maxCollection = 16 << 20

// globalObject returns an object of a collection. It is shared.
func (f *File) globalObject(addr uint64, index uint32) ([]byte, error) {
	all, ok := f.heaps.get(addr)
	if !ok {
		var err error
		var size int
		if all, size, err = f.collection(addr); err != nil {
			return nil, err
		}
		f.heaps.put(addr, all, size)
	}
	if index < 1<<16 {
		if b, ok := all[uint16(index)]; ok {
			return b, nil
		}
	}
	return nil, &FormatError{Address: addr, Field: "global heap", Expected: fmt.Sprintf("an object %d", index),
		Found: "none"}
}

// collection reads a collection of size bytes.
func (f *File) collection(addr uint64) (all map[uint16][]byte, size int, err error) {
	c, err := f.at("global heap", addr, uint64(8+f.l))
	if err != nil {
		return nil, 0, err
	}
	c.signature("GCOL")
	c.expect("version", 1)
	c.skip(3)
	head := uint64(c.at)
	n := c.length("size")
	if c.err == nil && (n > maxCollection || n < head) {
		c.bad("size", fmt.Sprintf("at most %d", maxCollection), n)
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	if c, err = f.at("global heap", addr, n); err != nil {
		return nil, 0, err
	}
	c.skip(8 + f.l)
	all = map[uint16][]byte{}
	for c.err == nil && c.left() >= 8+f.l {
		index := c.u16("index")
		if index == 0 { // the rest is free
			break
		}
		c.skip(2 + 4)
		length := c.length("size of an object")
		if c.err == nil && length > uint64(c.left()) {
			c.bad("size of an object", fmt.Sprintf("at most %d", c.left()), length)
		}
		all[index] = c.take(int(length), "object")
		c.skip(min(c.left(), -int(length)&7))
	}
	return all, int(n), c.err
}
