package prefetch

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/volume"
)

// portion is a part of an array that is decoded before a reader needs it. A slab has up to as many planes of the array
// as a block has, and a reader of the whole array needs each block for each of these planes. With portions, each block
// is decoded once, and replies are gathered from the blocks. That takes a third of the time of copying each block to
// where its rows belong, because then the processor has to load the memory that it is about to overwrite.
type portion struct {
	part
	hold   *cache.Hold
	pushed <-chan struct{} // closed when the portion is pushed; nil if it is not pushed. Protected by mu of the Reader.
}

// load starts to decode the blocks of a part. ahead says that one core is left to the reader until it waits for them.
// That is for readers of many small files: they wait for a reply several times for each file.
func (l *limits) load(src *cache.Source, s part, keep cache.Keep, ahead bool) (*portion, error) {
	blocks := slices.Collect(s.blocks.All())
	o := cache.HoldOptions{Keep: keep, Ahead: ahead}
	if speed := src.Speed(); speed.Long > 0 && !speed.Near {
		o.BatchOf = cells(blocks, l.cell)
	} else {
		o.BatchSize = batchSize(s.blocks.Size(), l.leastBlocks(src))
	}
	hold, err := src.Hold(blocks, o)
	if err != nil {
		return nil, err
	}
	return &portion{part: s, hold: hold}, nil
}

// leastBlocks returns the least number of blocks that are loaded at once.
func (l *limits) leastBlocks(src *cache.Source) int {
	least := l.leastBatch
	if speed := src.Speed(); speed.Late && !speed.Near {
		least = speed.Long // if it is 0, all requests are sent at once
	}
	return least / src.Grid().BlockBytes()
}

// cells returns the number of the cell of each block, in the order in which the list first reaches them.
func cells(blocks []volume.Vec, cell volume.Vec) []int32 {
	numbers := map[volume.Vec]int32{}
	of := make([]int32, len(blocks))
	for i, b := range blocks {
		at := b.Div(cell)
		n, ok := numbers[at]
		if !ok {
			n = int32(len(numbers))
			numbers[at] = n
		}
		of[i] = n
	}
	return of
}

// batchSize returns the number of blocks of a portion that are loaded at once, which is least or more. It is two rows
// of blocks, because in Morton order groups of four of these blocks are neighbours in the file. It is less if there
// would be fewer than four batches for each core.
func batchSize(size volume.Vec, least int) int {
	const batchesPerCore = 4
	return max(min(2*size[0], size[0]*size[1]*size[2]/(batchesPerCore*runtime.GOMAXPROCS(0))), least, 1)
}

// readWhole reads all of a small array that is read once. It needs no portion: the goroutine that decodes some blocks
// copies their rows. The blocks are in the cache of its core then, and their memory is used for the next ones.
func (l *limits) readWhole(ctx context.Context, a Array, p []byte) error {
	size, atOnce := batchSize(a.Blocks().Size(), l.leastBlocks(a.Source)), runtime.GOMAXPROCS(0)
	if a.Source.Speed().Late {
		atOnce = parallel.Lookups
	}
	return a.Fill(p, 0, func(blocks []volume.Vec, copyBlock func(at volume.Vec, voxels []byte)) error {
		batches := slices.Collect(slices.Chunk(blocks, size))
		errs := make([]error, len(batches))
		together(atOnce, len(batches), func(i int) bool {
			errs[i] = errUnfinished // unless the source ends this goroutine
			errs[i] = a.Source.Read(ctx, batches[i], cache.IfSeen, copyBlock)
			return errs[i] == nil
		})
		return cmp.Or(errs...)
	})
}

var errUnfinished = errors.New("the source ended the goroutine that called it")

// together calls f with the numbers below n, in up to atOnce goroutines, one of which is that of the caller. It ends
// early if f returns false, and returns when all calls have returned. It repeats a panic of f.
func together(atOnce, n int, f func(i int) bool) {
	var next atomic.Int64
	var group sync.WaitGroup
	var relay guard.Relay
	defer relay.Repeat()
	defer group.Wait()
	work := relay.Func("prefetch.together", func() {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			guard.Pass("prefetch.together")
			if !f(int(i)) {
				next.Store(int64(n))
			}
		}
	})
	for range min(atOnce, n) - 1 {
		group.Go(work)
	}
	work()
}

// read copies bytes of the array to p, from off on, and returns how many. It stops at the end of p, at the first byte
// outside of the portion, and at a block that cannot be read. It waits until the blocks are decoded.
func (s *portion) read(ctx context.Context, p []byte, off int64) int {
	n := 0
	for n < len(p) {
		_, rest := s.runAt(off + int64(n))
		run := rest.To(off + int64(len(p)))
		if run.Empty() {
			break
		}
		first, last := s.blocksOf(run)
		if s.hold.Wait(ctx, first, last) != nil {
			break
		}
		s.array.Gather(p[n:][:run.Len()], run.Start(), s.blocks, s.hold.Voxels())
		n += int(run.Len())
	}
	return n
}

// readAndRelease is read, and removes a user of the portion.
func (s *portion) readAndRelease(ctx context.Context, p []byte, off int64) int {
	defer s.hold.Release()
	return s.read(ctx, p, off)
}
