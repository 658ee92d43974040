package cache

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Source lends the blocks of a [volume.Source]. Many goroutines may use it at once.
type Source struct {
	cache   *Cache
	src     volume.Source
	keyed   volume.Keyed // nil: all blocks have version
	version vfs.Version
	grid    volume.Grid
	blocks  volume.Vec
	bytes   int // size of a block
	voxels  int // bytes of memory that its voxels take
	work    int // bytes of memory that decoding a block takes besides; 0 if a load has them anyway
	memory  int // both

	mute atomic.Bool // announcements are dropped: one has panicked
}

// Keep is what the cache does with the blocks that a request loads.
type Keep int

const (
	Never     Keep = iota // do not keep blocks
	IfSeen                // keep blocks that were requested before, and only for the short term if that was just now
	ShortTerm             // keep blocks while the next reads probably need them
	Always                // keep blocks
)

// Source adds a source to the cache.
//
// Sources share blocks with the same [volume.Key]. If src is a [volume.Keyed], it returns the keys. If it is a
// [volume.Versioned], its version and the index of a block make a key. The blocks of any other source are not shared,
// not even if it is added again.
//
// The cache does not close src. A load may call Fill even after its request was canceled. If src is closed by then,
// Fill must return errors, as files do. When Fill has returned or panicked, none of its goroutines may use the memory
// that was lent to it.
func (c *Cache) Source(src volume.Source) *Source {
	grid := src.Grid()
	s := &Source{cache: c, src: src, grid: grid, blocks: grid.Blocks(), bytes: grid.BlockBytes()}
	s.voxels, s.work = c.memoryOf(src, grid)
	s.memory = s.voxels + s.work
	s.keyed, _ = src.(volume.Keyed)
	if v, ok := src.(volume.Versioned); ok {
		s.version = s.versionForSize(v.Version())
	} else {
		rand.Read(s.version[:])
	}
	return s
}

// memoryOf returns how many bytes a block takes while it is loaded: those of its voxels, and what decoding it takes
// besides.
func (c *Cache) memoryOf(src any, g volume.Grid) (voxels, work int) {
	voxels = max(bufferSize(g.BlockBytes()), overhead)
	if work = volume.WorkMemory(src, g); work <= c.limits.work {
		work = 0
	}
	return voxels, work
}

// InFlight returns how many bytes a block of a mag or a cube takes while it is loaded, and how many it may take: larger
// blocks exceed the budget. It knows from the geometry and from what of reports ([volume.MemoryReporter]).
func (c *Cache) InFlight(of any, g volume.Grid) (bytes, most int64) {
	voxels, work := c.memoryOf(of, g)
	return int64(voxels + work), c.flights.most()
}

// Grid returns the geometry of the source.
func (s *Source) Grid() volume.Grid { return s.grid }

// Speed returns how the source answers. It implements [vfs.SpeedReporter].
func (s *Source) Speed() vfs.Speed { return vfs.SpeedOf(s.src) }

// Read calls use for each of the blocks, in any order. It passes the voxels of the block, Grid().BlockBytes() bytes, or
// nil if the block was never written. The voxels are lent until use returns. If a block cannot be read, Read returns
// its error, and may skip other blocks. If ctx is done, Read returns ctx.Err(): soon, or when blocks that it loads
// itself are loaded, if the source answers at once. Other loads continue if other requests wait for them.
//
// use should do little more than copy, and must not read from the same cache. While it runs, the blocks that were
// loaded together with this one count as in flight, and other requests may wait for that memory.
func (s *Source) Read(ctx context.Context, blocks []volume.Vec, keep Keep,
	use func(at volume.Vec, voxels []byte)) error {
	r := s.newRequest(ctx, blocks, keep, s.blocksIn(s.cache.limits.load))
	defer r.recycle()
	r.use = use
	return r.read()
}

// Announce lets the source fetch the stored blocks of a box, in the background, until ctx is done. It does nothing if
// the source is no [volume.Announcer], or has panicked in an announcement.
func (s *Source) Announce(ctx context.Context, box volume.Box) {
	a, ok := s.src.(volume.Announcer)
	if !ok || box.Empty() || s.mute.Load() || !s.cache.tryStart() {
		return
	}
	defer s.cache.running.Done()
	s.cache.running.Go(guard.FuncElse("cache.announce", func() {
		guard.Pass("cache.announce")
		a.Announce(ctx, box)
	}, func(err error) {
		s.mute.Store(true)
		guard.Report(err)
	}))
}

// key returns the key of a block, or false if the source must resolve it first.
func (s *Source) key(at volume.Vec) (volume.Key, bool) {
	if s.keyed != nil {
		k, known := s.keyed.Key(at)
		if k.Version != absent {
			k.Version = s.versionForSize(k.Version)
		}
		return k, known
	}
	return volume.Key{Version: s.version, Index: uint64(at.Index(s.blocks))}, true
}

// versionForSize combines a version with the block size of the source. Sources with different block sizes may contain
// the same file: a chunk can be a hard link to a chunk of another volume.
func (s *Source) versionForSize(v vfs.Version) vfs.Version {
	binary.LittleEndian.PutUint64(v[8:], binary.LittleEndian.Uint64(v[8:])^uint64(s.bytes))
	return v
}

// resolve lets the source find out the key of a block, in a goroutine that the request need not wait for.
func (s *Source) resolve(ctx context.Context, at volume.Vec) error {
	c := s.cache
	if !c.tryStart() {
		return ErrClosed
	}
	defer c.running.Done()
	done := make(chan error, 1)
	c.running.Go(guard.Func("cache.resolve", func() {
		err := fmt.Errorf("block %v: %w", at, errGoexit)
		defer func() { done <- err }()
		defer guard.Recover("cache.resolve", func(e error) { err = fmt.Errorf("block %v: %w", at, e) })
		guard.Pass("cache.resolve")
		err = s.keyed.Resolve(ctx, at)
	}))
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	// loadBytes bounds the decoded bytes of a load, which one goroutine runs.
	loadBytes = 512 << 10
	// ownBytes bounds the decoded bytes that the goroutine of a request loads alone, if its source answers at once. A
	// read of a page takes 0.2 to 0.4 ms of one core for 1 or 2 MiB of blocks. A second goroutine is awake too late to
	// help, and to wake it costs as much as decoding some blocks.
	ownBytes = 2 << 20
	// roundBytes bounds the decoded bytes of the loads that a request starts before it uses the blocks.
	roundBytes = 8 << 20
	// loadBlocks bounds the blocks of a load. A load searches the list of its blocks for each of them.
	loadBlocks = 64
	// leastWork is the least memory for decoding a block that counts. A load takes less than that for batches of small
	// blocks anyway.
	leastWork = 2 << 20
	// maxLateLoads bounds the loads that wait for slow sources. Each has memory for a batch of stored blocks, about 1
	// MiB.
	maxLateLoads = 32
	// maxLongLoads is the same for sources whose requests should be long: 1 MiB for each 50 ms in flight is 20 MB/s.
	maxLongLoads = 2 * maxLateLoads
)

// blocksIn returns how many blocks a load of n bytes has.
func (s *Source) blocksIn(n int) int { return min(max(n/s.bytes, 1), s.cache.limits.blocks) }

// roundSize returns the number of blocks in a round.
func (s *Source) roundSize() int { return max(s.cache.limits.round/s.memory, 1) }

// inFlight returns how many bytes a round of n blocks takes: without their voxels if those are reserved. Many loads of
// a source whose requests should be long wait at a time, each with memory for as many stored bytes, and half as much of
// them as garbage.
func (s *Source) inFlight(n int, reserved bool) int64 {
	voxels, work := int64(n*s.voxels), int64(n*s.work)
	switch {
	case reserved:
		return work
	case s.Speed().Long > 0:
		work = max(work, voxels+voxels/2)
	}
	return voxels + work
}

// workers returns the number of goroutines that run the loads of a request: one for each core, or more if they wait
// for the source most of the time.
func (s *Source) workers() int {
	switch {
	case s.Speed().Long > 0:
		return maxLongLoads
	case vfs.SpeedOf(s.src).Late:
		return maxLateLoads
	}
	return cores
}

// lateShare returns how many of the maxLongLoads shares of Cache.lateLoads a load of n blocks takes while it waits for
// a late source. It is usually two, so that maxLateLoads loads wait at a time: one share for the stored bytes, and one
// for the voxels. If requests should be long, it is one for two kinds of loads, so that twice as many wait: those of at
// most half of limits.load, which have less of both, and slabs, which are longer than limits.load. The budget has the
// voxels of slabs.
func (s *Source) lateShare(n int) int64 {
	bytes, most, speed := n*s.bytes, s.cache.limits.load, s.Speed()
	share := int64(maxLongLoads / maxLateLoads)
	if speed.Long > 0 && (bytes <= most/2 || bytes > most) {
		share = 1
	}
	if speed.Doubled {
		share *= 2
	}
	return share
}
