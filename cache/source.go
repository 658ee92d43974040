package cache

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

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
	_ volume.Batcher   = (*source)(nil)
	_ volume.Keeper    = versioned{}
	_ volume.Batcher   = versioned{}
	_ volume.Versioned = versioned{}
)

// Version implements [volume.Versioned].
func (s versioned) Version() vfs.Version { return s.version }

// Grid implements [volume.Source].
func (s *source) Grid() volume.Grid { return s.grid }

// Block implements [volume.Source]. It returns ctx.Err() as soon as ctx is done,
// though the load goes on if others wait for it.
func (s *source) Block(ctx context.Context, b volume.Vec) (block []byte, err error) {
	if !b.In(s.blocks) {
		return nil, s.outside(b)
	}
	r := s.request(b)
	if e := s.cache.lookup(r.hash, r.key); e != nil {
		return e.data, nil
	}
	err = s.cache.loader.do(ctx, []request{r}, func(_ volume.Vec, loaded []byte) { block = loaded })
	return block, err
}

// Blocks implements [volume.Batcher]. Blocks that are not kept are loaded together, if the source
// that is wrapped is a Batcher too.
func (s *source) Blocks(ctx context.Context, bs []volume.Vec, use func(b volume.Vec, block []byte)) error {
	var missing []request
	for _, b := range bs {
		if !b.In(s.blocks) {
			return s.outside(b)
		}
		r := s.request(b)
		if e := s.cache.lookup(r.hash, r.key); e != nil {
			use(b, e.data)
		} else {
			missing = append(missing, r)
		}
	}
	return s.cache.loader.do(ctx, missing, use)
}

// outside is the error for a block that is not in the grid. Its index would be that of
// another block.
func (s *source) outside(b volume.Vec) error {
	return fmt.Errorf("block %v of a grid of %v blocks", b, s.blocks)
}

func (s *source) request(b volume.Vec) request {
	k := key{s.version, uint64(b.Index(s.blocks))}
	return request{source: s, block: b, key: k, hash: s.cache.hash(k)}
}

// together returns how many blocks may be loaded as one.
func (s *source) together() int {
	if _, ok := s.src.(volume.Batcher); !ok {
		return 1
	}
	return max(maxTogether/s.bytes, 1)
}

// loadAll reads blocks, by their numbers, from the source that is wrapped. Those of another
// length than they should have are left out.
func (s *source) loadAll(ctx context.Context, wants []request, use func(i int, data []byte)) error {
	bs := make([]volume.Vec, len(wants))
	for i, r := range wants {
		bs[i] = r.block
	}
	return s.src.(volume.Batcher).Blocks(ctx, bs, func(b volume.Vec, data []byte) {
		if data == nil || len(data) == s.bytes {
			use(slices.Index(bs, b), data)
		}
	})
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

// entry returns what the cache keeps of the block.
func (r request) entry(data []byte) *entry { return &entry{key: r.key, hash: r.hash, data: data} }
