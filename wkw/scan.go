package wkw

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

var (
	_ volume.Scanner = (*File)(nil)
	_ volume.Batcher = (*File)(nil)
)

const (
	maxRun       = 64      // blocks that are read at once, if they are neighbours in the file
	maxRunStored = 1 << 20 // and their bytes there, unless it is one block
)

// Scan implements [volume.Scanner]: neighbours in the file are read at once, all blocks
// are decoded into the same memory, and the file is looked at once for whether it
// changed. An error is what Block would return for one of the blocks.
func (f *File) Scan(ctx context.Context, blocks volume.Box, use func(b volume.Vec, block []byte)) error {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	s.block = sized(s.block, f.grid.BlockBytes())
	return f.scan(ctx, s, slices.Collect(blocks.All()), s.block, use)
}

// Blocks implements [volume.Batcher] in the way of Scan, but each block has memory of its
// own, which belongs to the caller, and none is shown before the file was looked at.
func (f *File) Blocks(ctx context.Context, bs []volume.Vec, use func(b volume.Vec, block []byte)) error {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	order, read := slices.Clone(bs), make([][]byte, 0, len(bs))
	err := f.scan(ctx, s, order, nil, func(_ volume.Vec, block []byte) { read = append(read, block) })
	if err != nil {
		return err
	}
	for i, block := range read {
		use(order[i], block)
	}
	return nil
}

// scan brings blocks into the order of the file and shows them, decoded into memory, or
// where that is nil, each into its own.
func (f *File) scan(ctx context.Context, s *scanner, order []volume.Vec, memory []byte, use func(volume.Vec, []byte)) error {
	if len(order) == 0 {
		return nil
	}
	slices.SortFunc(order, func(a, b volume.Vec) int { return cmp.Compare(morton(a), morton(b)) })
	err := f.scanSorted(ctx, s, order, memory, use)
	if changed := f.checkUnchanged(order[0]); changed != nil {
		return changed
	}
	return err
}

func (f *File) scanSorted(ctx context.Context, s *scanner, order []volume.Vec, memory []byte, use func(volume.Vec, []byte)) error {
	for len(order) > 0 {
		run, err := s.read(ctx, f, order[:neighbours(order)])
		if err != nil {
			return err
		}
		for i, at := range s.extents[:run] {
			stored := s.stored[at.begin-s.extents[0].begin:][:at.size]
			block, err := f.unpack(order[i], stored, at.begin, memory)
			if err != nil {
				return err
			}
			use(order[i], block)
		}
		order = order[run:]
	}
	return nil
}

// unpack returns the voxels of a block that is stored at byte offset, decoded into memory, or
// where that is nil, into its own.
func (f *File) unpack(b volume.Vec, stored []byte, offset int64, memory []byte) ([]byte, error) {
	raw := f.header.BlockType == Raw
	switch {
	case raw && memory != nil:
		return stored, nil
	case raw:
		return slices.Clone(stored), nil
	case memory == nil:
		memory = newBlock(f.grid.BlockBytes())
	}
	return memory, f.decode(b, memory, stored, offset)
}

// neighbours returns how many blocks, of some in the order of the file, follow each other
// without a gap from the first one on.
func neighbours(order []volume.Vec) int {
	n, first := 1, morton(order[0])
	for n < min(len(order), maxRun) && morton(order[n]) == first+uint64(n) {
		n++
	}
	return n
}

// scanner is the memory that a scan needs.
type scanner struct {
	entries []byte   // of the jump table
	extents []extent // of blocks that are neighbours in the file
	stored  []byte   // the bytes of the file from the first of them on
	block   []byte   // one of them, decoded
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// read fills extents and stored for the neighbours, or as many of them as should be read at
// once, and returns how many these are.
func (s *scanner) read(ctx context.Context, f *File, neighbours []volume.Vec) (int, error) {
	if err := s.find(ctx, f, neighbours); err != nil {
		return 0, err
	}
	n, begin := 1, s.extents[0].begin
	for n < len(s.extents) && s.extents[n].begin+s.extents[n].size-begin <= maxRunStored {
		n++
	}
	last := s.extents[n-1]
	s.stored = sized(s.stored, int(last.begin+last.size-begin))
	return n, f.readBlock(ctx, neighbours[0], s.stored, begin)
}

// find fills extents.
func (s *scanner) find(ctx context.Context, f *File, neighbours []volume.Vec) error {
	s.extents = s.extents[:0]
	if f.header.BlockType != Raw {
		s.entries = sized(s.entries, 8*(len(neighbours)+1))
		if err := f.readEntries(ctx, neighbours[0], s.entries); err != nil {
			return err
		}
	}
	for i, b := range neighbours {
		var at extent
		var err error
		if f.header.BlockType == Raw {
			at, err = f.rawExtent(b)
		} else {
			at, err = f.checkEntry(b, s.entries[8*i:])
		}
		if err != nil {
			return err
		}
		s.extents = append(s.extents, at)
	}
	return nil
}

// sized returns a slice of n bytes, p if that is long enough.
func sized(p []byte, n int) []byte { return slices.Grow(p[:0], n)[:n] }
