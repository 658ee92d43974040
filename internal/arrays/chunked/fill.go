package chunked

import (
	"cmp"
	"context"
	"slices"

	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// maxBatch is the most stored bytes that are read before they are decoded. A larger chunk is read alone.
const maxBatch = 1 << 20

// Fill reads and decodes blocks. The error of a damaged block is a *volume.FormatError. If a file changed since it was
// opened, the error of all blocks is volume.ErrChanged.
func (c *cube) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	f := filler{cube: c, ctx: ctx, blocks: blocks, memory: memory}
	f.locateAll()
	slices.SortFunc(f.pieces, comparePieces)
	for len(f.pieces) > 0 {
		next := f.readBatch
		if f.readsPart(f.pieces[0]) {
			next = f.decodeFirst
		}
		f.pieces = f.pieces[next():]
	}
	for i := range blocks {
		f.finish(i)
	}
	// If a file changed, the voxels may be from the old file, the new file or both. So may be an error.
	if err := c.checkUnchanged(); err != nil {
		for i := range blocks {
			blocks[i].Voxels, blocks[i].Shared, blocks[i].Err = nil, false, err
		}
	}
}

// filler is the state of one Fill.
type filler struct {
	*cube
	ctx    context.Context
	blocks []volume.Block
	memory func(at volume.Vec) []byte
	pieces []piece // not yet read
	found  []int   // pieces of each block
}

// locateAll finds the chunks of all blocks.
func (f *filler) locateAll() {
	f.found = make([]int, len(f.blocks))
	inside := f.grid.Blocks()
	for i := range f.blocks {
		b := &f.blocks[i]
		b.Voxels, b.Shared, b.Err = nil, false, nil
		if !b.At.In(inside) {
			b.Err = f.outside(b.At)
			continue
		}
		pieces, err := f.locate(f.ctx, i, b.At)
		if b.Err = err; err == nil {
			f.pieces = append(f.pieces, pieces...)
			f.found[i] = len(pieces)
		}
	}
}

// readsPart reports whether the codec reads the stored bytes: what it needs of them, what is stored without compression
// straight into the block, or one piece after the other. Small inner chunks of shards are read together instead, and so
// are small files if each request takes long.
func (f *filler) readsPart(p piece) bool {
	if f.isLarge(p) && f.array.streamDecoder() != nil {
		return true
	}
	return f.array.partDecoder() != nil && (f.isLarge(p) || len(f.array.Shards) == 0 && !f.Speed().Late)
}

// isLarge reports whether a chunk is read alone.
func (f *filler) isLarge(p piece) bool { return p.size > f.maxBatch() }

func (m *Mag) maxBatch() int64 { return int64(cmp.Or(m.options.maxBatch, maxBatch)) }

// decodeFirst reads and decodes the next piece, and returns 1.
func (f *filler) decodeFirst() int {
	p := f.pieces[0]
	err := f.ctx.Err()
	if err == nil && f.blocks[p.block].Err == nil {
		err = f.decode(p)
	}
	if err != nil {
		f.fail(p, err)
	}
	return 1
}

// readBatch reads and decodes the next pieces, and returns how many.
func (f *filler) readBatch() int {
	total, n := int64(0), 0
	for _, p := range f.pieces {
		size := p.size
		if n > 0 && p.sameChunk(f.pieces[n-1]) {
			size = 0
		}
		if total += size; n > 0 && (total > f.maxBatch() || p.part != f.pieces[0].part) {
			total -= size
			break
		}
		n++
	}
	batch := f.pieces[:n]
	if err := f.ctx.Err(); err != nil {
		for _, p := range batch {
			f.fail(p, err)
		}
		return n
	}
	memory := scratch.Get(int(total))
	defer scratch.Put(memory)
	rest := *memory
	for i := range batch {
		if i > 0 && batch[i].sameChunk(batch[i-1]) {
			batch[i].data = batch[i-1].data
			continue
		}
		batch[i].data, rest = rest[:batch[i].size], rest[batch[i].size:] // the capacity reaches into the next piece
	}
	f.read(batch)
	for _, p := range batch {
		if f.blocks[p.block].Err == nil {
			if err := f.decode(p); err != nil {
				f.fail(p, err)
			}
		}
	}
	return n
}

// read reads the pieces, which are of one file. Adjacent ones are read together. If that fails, they are read one by
// one, so that only pieces in a damaged part of the disk have an error.
func (f *filler) read(batch []piece) {
	file := f.parts[batch[0].part].File
	runs := make([]vfs.Range, 0, len(batch))
	ends := make([]int, 0, len(batch)) // of each run, in pieces
	for i, p := range batch {
		if i > 0 && p.sameChunk(batch[i-1]) {
			ends[len(ends)-1] = i + 1
			continue
		}
		if i > 0 && batch[i-1].offset+batch[i-1].size == p.offset {
			last := &runs[len(runs)-1]
			last.P = last.P[:len(last.P)+len(p.data)] // pieces are adjacent in memory, too
			ends[len(ends)-1] = i + 1
			continue
		}
		runs = append(runs, vfs.Range{Off: p.offset, P: p.data})
		ends = append(ends, i+1)
	}
	vfs.ReadRanges(f.ctx, file, runs)
	first := 0
	for i, r := range runs {
		if r.Err != nil {
			f.readAlone(batch[first:ends[i]], r.Err)
		}
		first = ends[i]
	}
}

// readAlone reads pieces of a run that failed.
func (f *filler) readAlone(run []piece, err error) {
	file := f.parts[run[0].part].File
	for _, p := range run {
		if len(run) > 1 {
			err = vfs.ReadFull(f.ctx, file, p.data, p.offset)
		}
		if err != nil {
			f.fail(p, f.unreadable(p, p.offset, err))
		}
	}
}

// fail sets the error of the block of a piece.
func (f *filler) fail(p piece, err error) {
	b := &f.blocks[p.block]
	b.Voxels, b.Err = nil, err
}

// voxels returns the memory of a block. It asks for it once. The channels that no piece has are the fill value.
func (f *filler) voxels(i int) []byte {
	b := &f.blocks[i]
	if b.Voxels == nil {
		b.Voxels = f.memory(b.At)
		if f.found[i] < f.piecesOf() {
			f.fillBlock(b.Voxels)
		}
	}
	return b.Voxels
}

// finish completes a block: it gives a block that was never written the fill value, and clears voxels outside of the
// array.
func (f *filler) finish(i int) {
	b := &f.blocks[i]
	if b.Err != nil || f.blockBox(b.At).Empty() {
		return
	}
	if f.found[i] == 0 {
		if !f.array.fillsZero() {
			f.fillAbsent(b)
		}
		return
	}
	f.clearOutside(b)
}

// fillAbsent sets the voxels of a block that was never written to the fill value, as far as they are in the array.
func (f *filler) fillAbsent(b *volume.Block) {
	p := f.pattern(f.blockBox(b.At).Size())
	if b.Shares {
		b.Voxels = scratch.Filled(p)
		b.Shared = b.Voxels != nil
	}
	if !b.Shared {
		b.Voxels = f.memory(b.At)
		p.Fill(b.Voxels)
	}
}

// fillBlock sets all values of a block to the fill value.
func (m *Mag) fillBlock(block []byte) { m.pattern(m.grid.Block).Fill(block) }

// pattern returns a block with the fill value in the voxels of a box at its start.
func (m *Mag) pattern(inside volume.Vec) scratch.Pattern {
	n, block := m.grid.VoxelBytes(), m.grid.Block
	return scratch.Pattern{
		Value:  string(m.array.Fill),
		Block:  [3]int{block[0] * n, block[1], block[2]},
		Inside: [3]int{inside[0] * n, inside[1], inside[2]},
	}
}

// clearOutside clears the voxels of a block that are outside of the array.
func (f *filler) clearOutside(b *volume.Block) {
	inside, size, voxel := f.blockBox(b.At).Size(), f.grid.Block, f.grid.VoxelBytes()
	if inside == size {
		return
	}
	row := size[0] * voxel
	for z := range size[2] {
		for y := range size[1] {
			at := (z*size[1] + y) * row
			if y < inside[1] && z < inside[2] {
				clear(b.Voxels[at+inside[0]*voxel : at+row])
			} else {
				clear(b.Voxels[at : at+row])
			}
		}
	}
}
