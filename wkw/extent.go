package wkw

import (
	"context"
	"fmt"
	"math"

	"github.com/pierrec/lz4/v4"

	"github.com/wkwfs/wkwfs/volume"
)

// maxLZ4Ratio is the most decoded bytes for one compressed byte.
const maxLZ4Ratio = 255

// extent is the part of a file that a block takes, in bytes. It is inside the file, and its size is at least 1.
type extent struct{ offset, size int64 }

// end returns the offset after the extent.
func (e extent) end() int64 { return e.offset + e.size }

// StoredSize returns the bytes that block b takes in the file, without its entry in the jump table. It does
// not read the block, and does not find damage in it.
func (f *File) StoredSize(b volume.Vec) (int64, error) {
	sizes, err := f.storedSizes([]volume.Vec{b})
	if err != nil {
		return 0, err
	}
	return sizes[0], nil
}

// storedSizes returns StoredSize of each block, or the first error.
func (f *File) storedSizes(blocks []volume.Vec) ([]int64, error) {
	ctx := context.Background()
	sizes := make([]int64, len(blocks))
	var first error
	for i, b := range blocks {
		if !b.In(f.grid.Blocks()) {
			return nil, f.outsideError(b)
		}
		n := MortonIndex(b)
		at, err := f.extent(ctx, n, f.readChunk(ctx, n/chunkEntries))
		if err != nil && first == nil {
			first = err
		}
		sizes[i] = at.size
	}
	if err := f.checkUnchanged(); err != nil && len(blocks) > 0 {
		return nil, f.changedError(blocks[0], err)
	}
	return sizes, first
}

// extent returns the extent of block n, in Morton order. c is the chunk of the jump table with the entry of the
// block. It is nil if the cube is raw, or if the chunk cannot be read as a whole.
func (f *File) extent(ctx context.Context, n uint64, c *tableChunk) (extent, error) {
	if f.header.BlockType == Raw {
		return f.rawExtent(n)
	}
	if c != nil {
		before, end := c.entry(n)
		return f.checkEntry(n, before, end)
	}
	before, end, err := f.readEntry(ctx, n)
	if err != nil {
		return extent{}, err
	}
	return f.checkEntry(n, before, end)
}

// rawExtent returns the extent of block n of a raw cube: dataOffset + n · block bytes. Both terms are below 2^63.
func (f *File) rawExtent(n uint64) (extent, error) {
	size := uint64(f.grid.BlockBytes())
	offset, fileSize := f.header.DataOffset+n*size, uint64(f.info.Size())
	if offset > fileSize || fileSize-offset < size {
		return extent{}, f.invalid(blockName(n), int64(min(offset, math.MaxInt64)),
			fmt.Sprintf("%d bytes", size), fmt.Sprintf("the end of the file at byte %d", fileSize))
	}
	return extent{int64(offset), int64(size)}, nil
}

// checkEntry returns the extent of block n. Entry n of the jump table is the end of the block, and the entry
// before it is its start. Both are compared with the size of the file. The comparisons use the stored values,
// relative to base, so that nothing overflows.
func (f *File) checkEntry(n, before, end uint64) (extent, error) {
	base := f.header.entryBase()
	first, last := f.header.DataOffset-base, uint64(max(f.info.Size()-int64(base), 0))
	if n == 0 {
		before = first // the stored entry −1 is dataOffset in version 1, and part of the header in the draft
	}
	at := f.header.TableOffset(n)
	switch {
	case end > last:
		return extent{}, f.invalid("jump table entry of "+blockName(n), at,
			fmt.Sprintf("at most %d (end of file)", last), fmt.Sprint(end))
	case before < first || before > last:
		return extent{}, f.invalid("jump table entry before "+blockName(n), at-8,
			fmt.Sprintf("%d to %d (end of file)", first, last), fmt.Sprint(before))
	case end <= before:
		return extent{}, f.invalid("jump table entry of "+blockName(n), at, fmt.Sprintf("more than %d", before),
			fmt.Sprint(end))
	}
	return f.checkSize(n, extent{int64(base + before), int64(end - before)})
}

// checkSize returns the extent of block n if LZ4 of its size can decode to a block. So an implausible size is
// found before memory is allocated for the block.
func (f *File) checkSize(n uint64, at extent) (extent, error) {
	if least := (f.grid.BlockBytes() + maxLZ4Ratio - 1) / maxLZ4Ratio; at.size < int64(least) {
		return extent{}, f.invalid(blockName(n), at.offset, fmt.Sprintf("at least %d compressed bytes", least),
			fmt.Sprint(at.size))
	}
	// The most that LZ4 adds to a block that it cannot compress.
	if most := lz4.CompressBlockBound(f.grid.BlockBytes()); at.size > int64(most) {
		return extent{}, f.invalid(blockName(n), at.offset, fmt.Sprintf("at most %d compressed bytes", most),
			fmt.Sprint(at.size))
	}
	return at, nil
}

// blockName names block n, in Morton order, by its position.
func blockName(n uint64) string { return fmt.Sprintf("block %v", MortonBlock(n)) }
