package cache

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Source lends the blocks of a source. It is safe for use by many goroutines.
type Source struct {
	cache   *Cache
	src     volume.Source
	keyed   volume.Keyed // nil: version is that of all blocks
	version vfs.Version
	grid    volume.Grid
	blocks  volume.Vec
	bytes   int // of a block
	weight  int // bytes of memory that a block takes while it is loaded
}

// Keep says what becomes of blocks that a reader has loaded.
type Keep int

const (
	Never   Keep = iota // they go when nobody uses them any more
	IfSeen              // those that were asked for before are kept: briefly if that was just now
	Briefly             // they are kept while the next reads are likely to need them
	Always              // they are kept
)

// Source returns a source whose blocks are kept in c, as far as the budget and readers wish.
//
// Sources share blocks with the same [volume.Key]: src says which if it is [volume.Keyed]; if it is
// [volume.Versioned], its version and the index of the block make one. Any other source shares with none, not even
// with itself wrapped again. The cache does not close src. A load for a reader that gave up may still ask it
// for a block; after it is closed, it must answer with an error, as files do. When Fill has returned or panicked, none of
// its goroutines may use the memory that was lent.
func (c *Cache) Source(src volume.Source) *Source {
	grid := src.Grid()
	s := &Source{cache: c, src: src, grid: grid, blocks: grid.Blocks(), bytes: grid.BlockBytes()}
	s.weight = max(bufferSize(s.bytes), overhead)
	s.keyed, _ = src.(volume.Keyed)
	if v, ok := src.(volume.Versioned); ok {
		s.version = s.shaped(v.Version())
	} else {
		rand.Read(s.version[:])
	}
	return s
}

// Grid returns the geometry of the source.
func (s *Source) Grid() volume.Grid { return s.grid }

// key returns the key of a block; false if the source has to find out first.
func (s *Source) key(at volume.Vec) (volume.Key, bool) {
	if s.keyed != nil {
		k, known := s.keyed.Key(at)
		if k.Version != absent {
			k.Version = s.shaped(k.Version)
		}
		return k, known
	}
	return volume.Key{Version: s.version, Index: uint64(at.Index(s.blocks))}, true
}

// shaped returns the version of blocks of the source's size. Sources of different block sizes may have the same file, such as a
// chunk that is a hard link to one of another volume.
func (s *Source) shaped(v vfs.Version) vfs.Version {
	binary.LittleEndian.PutUint64(v[8:], binary.LittleEndian.Uint64(v[8:])^uint64(s.bytes))
	return v
}

// lateLoads is how many loads wait for sources that answer late. Each has memory for a batch of stored blocks, about 1 MiB.
const lateLoads = 32

// Late implements vfs.Later.
func (s *Source) Late() bool { return vfs.IsLate(s.src) }

// workers returns how many goroutines load blocks for one reader: as many as there are cores, or more if most of the time they
// wait for the source.
func (s *Source) workers() int {
	if vfs.IsLate(s.src) {
		return lateLoads
	}
	return cores
}

// resolve has the source find out the key of a block, in a goroutine that the reader can leave.
func (s *Source) resolve(ctx context.Context, at volume.Vec) error {
	c := s.cache
	if !c.enter() {
		return ErrClosed
	}
	defer c.running.Done()
	done := make(chan error, 1)
	c.running.Go(func() {
		err := fmt.Errorf("block %v: %w", at, errEnded)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("block %v: %w", at, panicError(p))
			}
			done <- err
		}()
		err = s.keyed.Resolve(ctx, at)
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read calls use for each of the blocks, in any order, with its voxels, Grid().BlockBytes() long, or nil if the block was never
// written. The voxels are lent until use returns. If a block cannot be read, Read returns its error, and may not have shown
// others. Read returns ctx.Err() soon after ctx is done, though a load goes on if others wait for it.
//
// The function use should do little more than copy, and must not read from the cache: while it runs, the blocks that were
// loaded with this one keep their place in flight, for which other readers wait.
func (s *Source) Read(ctx context.Context, blocks []volume.Vec, keep Keep, use func(at volume.Vec, voxels []byte)) error {
	r := requests.Get().(*request)
	defer r.put()
	r.source, r.ctx, r.keep, r.chunk = s, ctx, keep, s.chunk()
	r.blocks, r.use = blocks, use
	return r.read()
}

const (
	// chunkBytes is how many decoded bytes a reader has loaded at once by one goroutine.
	chunkBytes = 512 << 10
	// roundBytes is how many decoded bytes a reader has loaded before it uses them.
	roundBytes = 8 << 20
	// chunkBlocks bounds the blocks of a chunk, which a load looks through for each of them.
	chunkBlocks = 64
)

// chunk returns how many blocks one goroutine loads at once.
func (s *Source) chunk() int { return min(max(chunkBytes/s.bytes, 1), chunkBlocks) }

// round returns how many blocks are loaded before they are used.
func (s *Source) round() int { return max(roundBytes/s.weight, 1) }
