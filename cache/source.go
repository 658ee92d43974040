package cache

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Wrap returns a source with the voxels of src that keeps its blocks in c, except for
// those that are scanned. The result is a [volume.Keeper], and a [volume.Versioned] if src is one.
//
// What src says of its version when it is wrapped decides which blocks it shares:
// those of all sources with the same version, which must have the same blocks in the
// same places. A source without a version shares with nobody, not even with itself
// wrapped again. Blocks that were never written are kept as well, as nothing but the
// knowledge of it; errors are not kept. The cache does not close src; a load for a reader
// who gave up may still ask it for a block, and so it must answer with an error, as
// files do, when it is closed.
func (c *Cache) Wrap(src volume.Source) volume.Source {
	grid := src.Grid()
	s := &source{cache: c, src: src, grid: grid, blocks: grid.Blocks(), bytes: grid.BlockBytes()}
	if v, ok := src.(volume.Versioned); ok {
		s.version = v.Version()
		return versioned{s}
	}
	rand.Read(s.version[:])
	return s
}

// source is a wrapped source without a version of its own.
type source struct {
	cache   *Cache
	src     volume.Source
	grid    volume.Grid
	blocks  volume.Vec
	bytes   int // of a block
	version vfs.Version
}

// versioned is a wrapped source that has one.
type versioned struct{ *source }

var (
	_ volume.Keeper    = (*source)(nil)
	_ volume.Keeper    = versioned{}
	_ volume.Versioned = versioned{}
)

// Version implements [volume.Versioned].
func (s versioned) Version() vfs.Version { return s.version }

// Grid implements [volume.Source].
func (s *source) Grid() volume.Grid { return s.grid }

// Block implements [volume.Source]. It returns ctx.Err() as soon as ctx is done,
// though the load goes on if others wait for it.
func (s *source) Block(ctx context.Context, b volume.Vec) ([]byte, error) {
	if !b.In(s.blocks) {
		// The index of b would be that of another block.
		return nil, fmt.Errorf("block %v of a grid of %v blocks", b, s.blocks)
	}
	k := key{s.version, uint64(b.Index(s.blocks))}
	r := request{source: s, block: b, key: k, hash: s.cache.hash(k)}
	if e := s.cache.lookup(r.hash, k); e != nil {
		return e.data, nil
	}
	return s.cache.loader.do(ctx, r)
}

// request is a block that a reader wants.
type request struct {
	source *source
	block  volume.Vec
	key    key
	hash   uint64
}

// load reads the block from the source that is wrapped.
func (r request) load(ctx context.Context) ([]byte, error) {
	data, err := r.source.src.Block(ctx, r.block)
	if err != nil {
		return nil, err
	}
	if data != nil && len(data) != r.source.bytes {
		return nil, fmt.Errorf("block %v: %d bytes, expected %d", r.block, len(data), r.source.bytes)
	}
	return data, nil
}

// found returns the entry of the block if it was kept just now, or nil.
func (r request) found() *entry { return r.source.cache.window.get(r.hash, r.key) }

// keep lets the cache have the block.
func (r request) keep(data []byte) {
	r.source.cache.window.add(&entry{key: r.key, hash: r.hash, data: data})
}
