package wkw

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Fill implements [volume.Source]. It sorts the blocks into Morton order, which is their order in the file. It
// reads adjacent blocks together, and decodes them in the calling goroutine, two at a time.
//
// The error of a damaged block is a [*volume.FormatError]. If the file changed since it was opened, the error of
// all blocks is [volume.ErrChanged]. When ctx is done, the error of all blocks that were not read is ctx.Err().
func (f *File) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	if len(blocks) == 0 {
		return
	}
	f.fill(ctx, newFiller(), blocks, memory)
}

// fill is Fill by a new filler, which it releases.
func (f *File) fill(ctx context.Context, s *filler, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	s.fill(ctx, f, f.inside(blocks), memory)
	s.release()
	// If the file changed, the voxels may be from the old file, the new file or both. So may be an error.
	if err := f.checkUnchanged(); err != nil {
		for i := range blocks {
			blocks[i].Voxels, blocks[i].Err = nil, f.changedError(blocks[i].At, err)
		}
	}
}

// inside returns the blocks that are in the cube. It moves the others to the end of the slice and sets their errors.
func (f *File) inside(blocks []volume.Block) []volume.Block {
	size, n := f.grid.Blocks(), len(blocks)
	for i := 0; i < n; {
		at := blocks[i].At
		if at.In(size) {
			i++
			continue
		}
		n--
		blocks[i], blocks[n] = blocks[n], volume.Block{At: at, Err: f.outsideError(at)}
	}
	return blocks[:n]
}

// filler is the state of one Fill. Fillers are reused, so that Fill allocates nothing.
type filler struct {
	ctx    context.Context
	file   *File
	memory func(at volume.Vec) []byte
	disk   vfs.Advisor // nil if the file takes no advice

	blocks  []volume.Block // in Morton order
	numbers []uint64       // Morton indices of the blocks
	extents []extent       // of the blocks; a block with an error has size 0
	starts  []int          // offsets of the blocks in the batch
	chunks  []*tableChunk  // of the jump table, with the entries of the blocks
	most    int64          // bytes that are read before they are decoded
	batch   []byte         // stored bytes of some blocks
	large   *[]byte        // the memory of batch, if it is more than is kept
	ranges  []vfs.Range    // that are read together
	runs    [][2]int       // first block and end of each range

	announced int // end of the blocks that were announced to the disk

	asStored func(at volume.Vec) []byte // memory of blocks as they are stored; nil: their voxels are wanted
	dropped  [2][]byte                  // voxels that are decoded to find damage only
}

// idle holds fillers for the next Fill. A sync.Pool would lose their memory at each garbage collection.
var idle = make(chan *filler, 8)

// idleLate holds the others, until a garbage collection: a source that answers late has 32 loads at a time. Without it,
// most of them would clear a new MiB each.
var idleLate sync.Pool

// maxKept is the largest batch that is kept for the next Fill, in bytes.
const maxKept = maxBatch + maxBatch/8

func newFiller() *filler {
	select {
	case s := <-idle:
		return s
	default:
	}
	if s, ok := idleLate.Get().(*filler); ok {
		return s
	}
	return new(filler)
}

// release keeps the filler for the next Fill.
func (s *filler) release() {
	s.asStored = nil
	s.dropLarge()
	for _, memory := range []*[]byte{&s.batch, &s.dropped[0], &s.dropped[1]} {
		if cap(*memory) > maxKept {
			*memory = nil
		}
	}
	select {
	case idle <- s:
	default:
		idleLate.Put(s)
	}
}

// reserve makes room for a batch of n bytes. It takes more than that, so that the next batch fits, but no more than is
// kept. Up to 64 fillers read from an object store at a time, so it takes little more.
func (s *filler) reserve(n int) {
	if cap(s.batch) >= n {
		return
	}
	s.dropLarge()
	if n > maxKept {
		s.large = scratch.Get(n)
		s.batch = *s.large
		return
	}
	step := max(1<<bits.Len(uint(n-1))/8, 1)
	s.batch = make([]byte, 0, min((n+step-1)/step*step, maxKept))
}

// dropLarge gives back the memory of a batch that is not kept.
func (s *filler) dropLarge() {
	if s.large != nil {
		scratch.Put(s.large)
		s.large, s.batch = nil, nil
	}
}

// WorkMemory implements [volume.MemoryReporter]: the stored bytes of a block that is larger than a batch.
func (f *File) WorkMemory(g volume.Grid) int {
	if f.header.BlockType == Raw {
		return 0
	}
	return WorkMemory(g)
}

// WorkMemory returns the most that WorkMemory of a [File] with the grid g returns: that of one whose blocks are LZ4.
func WorkMemory(g volume.Grid) int {
	n := g.BlockBytes()
	if n <= maxBatch {
		return 0
	}
	return n + n/255 + 16
}

func (s *filler) fill(ctx context.Context, f *File, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	s.ctx, s.file, s.memory, s.blocks = ctx, f, memory, blocks
	s.disk, _ = f.file.(vfs.Advisor)
	s.announced, s.most = 0, s.maxBatch()
	s.sort()
	s.locate()
	if f.header.BlockType == Raw && f.grid.BlockBytes() >= directBytes {
		s.readDirectly()
	} else {
		s.readBatches()
	}
	s.ctx, s.file, s.memory, s.blocks, s.disk = nil, nil, nil, nil, nil
	clear(s.chunks)
	clear(s.ranges)
}

// sort sorts the blocks into Morton order and clears their results.
func (s *filler) sort() {
	s.numbers = resized(s.numbers, len(s.blocks))
	for i := range s.blocks {
		s.numbers[i] = MortonIndex(s.blocks[i].At)
	}
	sorted := slices.IsSorted(s.numbers)
	if !sorted {
		slices.Sort(s.numbers)
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		b.Voxels, b.Err = nil, nil
		if !sorted {
			b.At = MortonBlock(s.numbers[i])
		}
	}
}

// fail sets the error of block i. After that, the block is not read or decoded.
func (s *filler) fail(i int, err error) { s.blocks[i].Err, s.extents[i] = err, extent{} }

// stop reports whether the context is done. If so, it sets the error of all blocks from i on that have none.
func (s *filler) stop(i int) bool {
	err := s.ctx.Err()
	if err == nil {
		return false
	}
	for ; i < len(s.blocks); i++ {
		if s.blocks[i].Err == nil {
			s.fail(i, err)
		}
	}
	return true
}

// resized returns p with length n, in new memory if the capacity of p is too small.
func resized[T any](p []T, n int) []T { return slices.Grow(p[:0], n)[:n] }
