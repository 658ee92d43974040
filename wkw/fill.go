package wkw

import (
	"context"
	"slices"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Fill implements [volume.Source]. It sorts the blocks into Morton order, which is their order in the
// file. It reads blocks that follow each other in the file at once, and decodes two blocks at a time.
//
// The error of a damaged block is a *FormatError. If the file changed since it was opened, the error of
// all blocks is vfs.ErrChanged. Once ctx is done, the error of all blocks that were not read is ctx.Err().
func (f *File) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	if len(blocks) == 0 {
		return
	}
	s := idleFiller()
	s.fill(ctx, f, f.inside(blocks), memory)
	s.rest()
	// What was read may be of the old file, of the new file or of both. So may be an error in it.
	if err := f.checkUnchanged(); err != nil {
		for i := range blocks {
			blocks[i].Voxels, blocks[i].Err = nil, f.changed(blocks[i].At, err)
		}
	}
}

// inside moves the blocks that are not in the cube to the end and gives them an error. It returns the
// other blocks.
func (f *File) inside(blocks []volume.Block) []volume.Block {
	size, n := f.grid.Blocks(), len(blocks)
	for i := 0; i < n; {
		at := blocks[i].At
		if at.In(size) {
			i++
			continue
		}
		n--
		blocks[i], blocks[n] = blocks[n], volume.Block{At: at, Err: f.outside(at)}
	}
	return blocks[:n]
}

// filler is the state of one call of Fill. Fillers are used again, so that Fill needs no new memory.
type filler struct {
	ctx    context.Context
	file   *File
	memory func(at volume.Vec) []byte
	disk   vfs.Advisor // nil if the file takes no advice

	blocks  []volume.Block // in Morton order
	numbers []uint64       // Morton indices of the blocks
	extents []extent       // of the blocks; a block with an error has size 0
	starts  []int          // offsets of the blocks in the batch
	chunks  []*tableChunk  // of the jump table, that the blocks have entries in
	batch   []byte         // some of the blocks, as they are stored
	ranges  []vfs.Range    // that are read at once
	runs    [][2]int       // first and end of the blocks of each range

	announced int // end of the blocks that were announced
}

// idle is fillers that nobody uses. A sync.Pool would lose their memory at each garbage collection.
var idle = make(chan *filler, 8)

// maxKept is the largest batch that is kept for the next Fill, in bytes.
const maxKept = maxBatch + maxBatch/8

func idleFiller() *filler {
	select {
	case s := <-idle:
		return s
	default:
		return new(filler)
	}
}

// rest keeps the filler for the next Fill.
func (s *filler) rest() {
	if cap(s.batch) > maxKept {
		s.batch = nil
	}
	select {
	case idle <- s:
	default:
	}
}

func (s *filler) fill(ctx context.Context, f *File, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	s.ctx, s.file, s.memory, s.blocks = ctx, f, memory, blocks
	s.disk, _ = f.file.(vfs.Advisor)
	s.announced = 0
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

// sort brings the blocks into Morton order, and clears their results.
func (s *filler) sort() {
	s.numbers = sized(s.numbers, len(s.blocks))
	for i := range s.blocks {
		s.numbers[i] = morton(s.blocks[i].At)
	}
	sorted := slices.IsSorted(s.numbers)
	if !sorted {
		slices.Sort(s.numbers)
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		b.Voxels, b.Err = nil, nil
		if !sorted {
			b.At = unmorton(s.numbers[i])
		}
	}
}

// fail gives block i an error. It is not read or decoded after that.
func (s *filler) fail(i int, err error) { s.blocks[i].Err, s.extents[i] = err, extent{} }

// stop reports whether the context is done. If it is, all blocks from number i on without an error get
// that of the context.
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

// sized returns a slice of length n. It is p if p has room for that.
func sized[T any](p []T, n int) []T { return slices.Grow(p[:0], n)[:n] }
