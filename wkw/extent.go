package wkw

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pierrec/lz4/v4"

	"github.com/wkwfs/wkwfs/volume"
)

// maxLZ4Ratio is the most decoded bytes that a compressed one can stand for.
const maxLZ4Ratio = 255

// extent is where a block is stored, in bytes of the file. It lies inside it.
type extent struct{ begin, size int64 }

// extent finds block b. Each offset comes out of the file and is believed only once
// it was compared with the file's size, so that nothing can overflow after that.
func (f *File) extent(ctx context.Context, b volume.Vec) (extent, error) {
	if !b.In(f.grid.Blocks()) {
		return extent{}, fmt.Errorf("%s: block %v: the cube has %v blocks", f.name, b, f.grid.Blocks())
	}
	if f.header.BlockType == Raw {
		return f.rawExtent(b)
	}
	return f.tableExtent(ctx, b)
}

// rawExtent: block n is at dataOffset + n · block bytes. Both terms are below 2^63.
func (f *File) rawExtent(b volume.Vec) (extent, error) {
	size := uint64(f.grid.BlockBytes())
	begin, fileSize := f.header.DataOffset+morton(b)*size, uint64(f.info.Size())
	if begin > fileSize || fileSize-begin < size {
		return extent{}, f.broken(fmt.Sprintf("block %v", b), int64(min(begin, math.MaxInt64)),
			fmt.Sprintf("%d bytes", size), fmt.Sprintf("the end of the file at byte %d", fileSize))
	}
	return extent{int64(begin), int64(size)}, nil
}

// tableExtent reads where the block is from the jump table.
func (f *File) tableExtent(ctx context.Context, b volume.Vec) (extent, error) {
	var entries [16]byte
	if err := f.readEntries(ctx, b, entries[:]); err != nil {
		return extent{}, err
	}
	return f.checkEntry(b, entries[:])
}

// checkEntry: entry n of the jump table is the end of block n and the begin of
// block n+1; entries holds n−1 and n. Values are compared as they are stored, relative
// to base, so that none can overflow.
func (f *File) checkEntry(b volume.Vec, entries []byte) (extent, error) {
	n, base := morton(b), f.header.entryBase()
	before, end := binary.LittleEndian.Uint64(entries), binary.LittleEndian.Uint64(entries[8:])
	first, last := f.header.DataOffset-base, uint64(max(f.info.Size()-int64(base), 0))
	if n == 0 {
		before = first // in version 1 entry −1 is dataOffset, in the draft it is the header
	}
	at := f.header.entryOffset(n)
	entry := func() string { return fmt.Sprintf("jump table entry of block %v", b) }
	switch {
	case end > last:
		return extent{}, f.broken(entry(), at, fmt.Sprintf("at most %d (end of file)", last), fmt.Sprint(end))
	case before < first || before > last:
		return extent{}, f.broken(fmt.Sprintf("jump table entry before block %v", b), at-8,
			fmt.Sprintf("%d to %d (end of file)", first, last), fmt.Sprint(before))
	case end <= before:
		return extent{}, f.broken(entry(), at, fmt.Sprintf("more than %d", before), fmt.Sprint(end))
	}
	begin, size := int64(base+before), int64(end-before)
	// No byte of LZ4 stands for more than 255: a block that is too small is found out
	// before memory is taken for what it claims to be.
	if least := (f.grid.BlockBytes() + maxLZ4Ratio - 1) / maxLZ4Ratio; size < int64(least) {
		return extent{}, f.broken(fmt.Sprintf("block %v", b), begin,
			fmt.Sprintf("at least %d compressed bytes", least), fmt.Sprint(size))
	}
	// Blocks that do not shrink are stored larger than they are, but not by more.
	if bound := lz4.CompressBlockBound(f.grid.BlockBytes()); size > int64(bound) {
		return extent{}, f.broken(fmt.Sprintf("block %v", b), begin,
			fmt.Sprintf("at most %d compressed bytes", bound), fmt.Sprint(size))
	}
	return extent{begin, size}, nil
}

// readEntries fills p with entries of the jump table: that before block b, that of b and
// those of the blocks that follow it in the file. In both versions there are 8 bytes of
// header in front of entry 0.
func (f *File) readEntries(ctx context.Context, b volume.Vec, p []byte) error {
	at := f.header.entryOffset(morton(b))
	if at+8 > f.info.Size() {
		return f.broken(fmt.Sprintf("jump table entry of block %v", b), at,
			"8 bytes", fmt.Sprintf("the end of the file at byte %d", f.info.Size()))
	}
	return f.readBlock(ctx, b, p, at-8)
}

// entryOffset returns the offset of entry n of the jump table, in bytes.
func (h Header) entryOffset(n uint64) int64 { return int64(h.size() + 8*n) }

// entryBase returns what the entries of the jump table count from, in bytes.
func (h Header) entryBase() uint64 {
	if h.Draft {
		return h.DataOffset
	}
	return 0
}
