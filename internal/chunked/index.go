package chunked

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/wkwfs/wkwfs/internal/codec"
	"github.com/wkwfs/wkwfs/internal/lru"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	entryBytes = 16 // of an entry of a shard index: offset and size

	// indexBudget limits the memory for the shard indexes of a mag, in bytes: 64 shards of 1024³ voxels in inner chunks
	// of 32³.
	indexBudget = 32 << 20
)

// shardIndex has the offset and size of each inner chunk, from the start of the shard.
type shardIndex struct {
	words  []byte
	order  binary.ByteOrder
	stored int // bytes of the index in the shard
}

func (x *shardIndex) entry(n int) entry {
	return entry{x.order.Uint64(x.words[entryBytes*n:]), x.order.Uint64(x.words[entryBytes*n+8:])}
}

// indexAt returns the offset of an index of stored bytes in a shard.
func (s Shard) indexAt(shard int64, stored int) int64 {
	if s.AtStart {
		return 0
	}
	return shard - int64(stored)
}

// indexKey names a shard in one version of a file. An inner shard may start where the outer one does.
type indexKey struct {
	version vfs.Version
	offset  int64
	level   int // 0 is the outer shard
}

// indexes keeps the most recently used shard indexes within a budget of bytes.
type indexes struct {
	mu   sync.Mutex
	kept *lru.Cache[indexKey, *shardIndex]
}

func newIndexes(budget int64) *indexes {
	return &indexes{kept: lru.New[indexKey, *shardIndex](budget)}
}

func (x *indexes) get(key indexKey) *shardIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	index, _ := x.kept.Get(key)
	return index
}

func (x *indexes) add(key indexKey, index *shardIndex) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept.Put(key, index, int64(cap(index.words))+256)
}

// index returns the index of the shard that has a level and lies at the extent of p. outer is the size of the shard in elements.
// One goroutine at a time reads an index of the cube. Others wait for it.
func (c *cube) index(ctx context.Context, p piece, level int, outer []int) (*shardIndex, error) {
	key := indexKey{vfs.VersionOf(c.parts[p.part].info), p.offset, level}
	if index := c.indexes.get(key); index != nil {
		return index, nil
	}
	select {
	case c.loading <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.loading }()
	if index := c.indexes.get(key); index != nil {
		return index, nil
	}
	index, err := c.readIndex(ctx, p, c.array.Shards[level], outer)
	if err != nil {
		return nil, err
	}
	if err := c.checkUnchanged(); err != nil { // the index may be of another version
		return nil, err
	}
	c.indexes.add(key, index)
	return index, nil
}

// readIndex reads and decodes the index of a shard (Zarr v3, "sharding codec", "Binary shard format").
func (c *cube) readIndex(ctx context.Context, p piece, s Shard, outer []int) (*shardIndex, error) {
	n := entryBytes
	for axis := range outer {
		n *= outer[axis] / s.Inner[axis]
	}
	stored := s.Codecs.Bound(n) // exact: all codecs of an index add a fixed number of bytes
	file := c.parts[p.part]
	at := p.offset + s.indexAt(p.size, stored)
	if int64(stored) > p.size {
		return nil, &volume.FormatError{File: file.name, Part: "shard index", Offset: p.offset, Expected: fmt.Sprintf("%d bytes", stored), Found: fmt.Sprintf("a shard of %d", p.size)}
	}
	b := make([]byte, stored)
	if err := vfs.ReadFull(ctx, file.file, b, at); err != nil {
		return nil, fmt.Errorf("%s: shard index at byte %d: %w", file.name, at, err)
	}
	index := &shardIndex{words: b, order: binary.LittleEndian, stored: stored}
	if s.Big {
		index.order = binary.BigEndian
	}
	if len(s.Codecs) > 0 {
		index.words = make([]byte, n)
		if err := codec.DecodeInto(s.Codecs, index.words, b); err != nil {
			return nil, &volume.FormatError{File: file.name, Part: "shard index", Offset: at, Err: err}
		}
	}
	return index, nil
}
