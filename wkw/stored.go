package wkw

import (
	"context"
	"fmt"
	"slices"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// AppendStored appends block b, in blocks from the start of the cube, to dst as the file has it, without decoding it.
// It returns the longer slice. It does not find damage in the block. The errors are those of Fill.
func (f *File) AppendStored(ctx context.Context, dst []byte, b volume.Vec) ([]byte, error) {
	if !b.In(f.grid.Blocks()) {
		return dst, f.outsideError(b)
	}
	n := MortonIndex(b)
	at, err := f.extent(ctx, n, f.readChunk(ctx, n/chunkEntries))
	if err == nil {
		end := len(dst)
		dst = slices.Grow(dst, int(at.size))[:end+int(at.size)]
		if err = vfs.ReadFull(ctx, f.file, dst[end:], at.offset); err != nil {
			dst, err = dst[:end], f.readError(n, at.offset, err)
		}
	}
	if changed := f.checkUnchanged(); changed != nil {
		err = f.changedError(b, changed)
	}
	return dst, err
}

// LZ4Sizes implements [volume.LZ4Source].
func (f *File) LZ4Sizes(blocks []volume.Vec) ([]int64, error) {
	if f.header.BlockType == Raw {
		return nil, nil
	}
	return f.storedSizes(blocks)
}

// FillLZ4 implements [volume.LZ4Source]. It reads the blocks as Fill does, and decodes them to find damage.
func (f *File) FillLZ4(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	if f.header.BlockType == Raw {
		for i := range blocks {
			blocks[i].Voxels, blocks[i].Err = nil, fmt.Errorf("%s: block %v: raw cubes have no LZ4 blocks", f.name,
				blocks[i].At)
		}
		return
	}
	s := newFiller()
	s.asStored = memory
	next := 0 // Fill decodes two blocks at a time
	f.fill(ctx, s, blocks, func(volume.Vec) []byte {
		next = 1 - next
		s.dropped[next] = resized(s.dropped[next], f.grid.BlockBytes())
		return s.dropped[next]
	})
}

// keepStored copies the stored bytes of block i into their memory, and returns that.
func (s *filler) keepStored(i int) ([]byte, error) {
	memory, stored := s.asStored(s.blocks[i].At), s.stored(i)
	if len(memory) != len(stored) { // the jump table was read again, and differs
		return nil, s.file.changedError(s.blocks[i].At, volume.ErrChanged)
	}
	copy(memory, stored)
	return memory, nil
}
