package hdf5

import (
	"errors"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// errLarge ends reading an index as a whole: it is too large to be in memory.
var errLarge = errors.New("HDF5: an index with too many chunks to be in memory")

// part says which part of an index is read: the one that has a position.
type part struct {
	wanted []uint64                   // nil: all of the index
	has    func(scaled []uint64) bool // reports whether a position lies in what was read
}

// wants reports whether what has the positions of has must be read. Parts in it are asked later, so that the last one
// is the smallest.
func (p *part) wants(has func(scaled []uint64) bool) bool {
	if p.wanted == nil {
		return true
	}
	if !has(p.wanted) {
		return false
	}
	p.has = has
	return true
}

// whole reports whether the whole index is to be in memory.
func (x *ChunkIndex) whole() bool { return x.wanted == nil && x.each == nil }

// tooLarge returns errLarge if n chunks are too many to be in memory.
func (x *ChunkIndex) tooLarge(n uint64) error {
	if x.whole() && n > uint64(x.d.file.limit.chunks) {
		return errLarge
	}
	return nil
}

// parts are those parts of an index that were used last: nodes of a tree, or pages of an array. Each is an index of its
// own.
type parts struct {
	mu    sync.Mutex
	cache *lru.Cache[*ChunkIndex, *ChunkIndex] // costs are chunks
}

func newParts(chunks int) *parts {
	return &parts{cache: lru.New[*ChunkIndex, *ChunkIndex](int64(chunks))}
}

// perPart is what a part costs besides its entries, in chunks: then parts are few, and found one by one.
const perPart = 256

// find returns the part that has a position, or nil.
func (p *parts) find(scaled []uint64) *ChunkIndex {
	p.mu.Lock()
	defer p.mu.Unlock()
	for x := range p.cache.Values() {
		if x.has(scaled) {
			p.cache.Get(x)
			return x
		}
	}
	return nil
}

func (p *parts) keep(x *ChunkIndex) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.Put(x, x, int64(len(x.entries)+perPart))
}

// partOf returns the part of the index that has a position. It is read if it is not in memory.
func (x *ChunkIndex) partOf(scaled []uint64) (*ChunkIndex, error) {
	if p := x.parts.find(scaled); p != nil {
		return p, nil
	}
	wanted := slices.Clone(scaled)
	p := &ChunkIndex{d: x.d, grid: x.grid, most: x.most}
	p.part = part{wanted, func(other []uint64) bool { return slices.Equal(other, wanted) }}
	if err := p.walk(); err != nil {
		return nil, err
	}
	p.finish()
	x.parts.keep(p)
	return p, nil
}

// errStop ends a walk whose chunks nobody wants.
var errStop = errors.New("HDF5: stopped")

// allParts is All for an index that is not in memory.
func (x *ChunkIndex) allParts(yield func(scaled []uint64, c Chunk) bool) error {
	var failed error
	walk := &ChunkIndex{d: x.d, grid: x.grid, most: x.most}
	walk.each = func(scaled []uint64, e entry) error {
		c, err := x.place(e, scaled)
		switch {
		case err != nil && failed == nil:
			failed = err
		case err == nil && !yield(scaled, c):
			return errStop
		}
		return nil
	}
	switch err := walk.walk(); {
	case errors.Is(err, errStop):
	case err != nil:
		return named(x.d.path, err)
	case len(walk.missing) > 0:
		return walk.missing[0].err
	}
	return failed
}
