package wkw

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

var (
	_ volume.Scanner = (*File)(nil)
	_ volume.Batcher = (*File)(nil)
)

const (
	maxRun       = 64      // blocks that are read at once, if they are neighbours in the file
	maxRunStored = 1 << 20 // and their bytes there, unless it is one block
)

// Scan implements [volume.Scanner]: neighbours in the file are read at once, and the file
// is looked at once for whether it changed. An error is what Block would return for one of
// the blocks.
func (f *File) Scan(ctx context.Context, blocks volume.Box, memory func(b volume.Vec) []byte) error {
	return f.scan(ctx, slices.Collect(blocks.All()), memory)
}

// Blocks implements [volume.Batcher] in the way of Scan. Each block has memory of its own, which
// belongs to the caller.
func (f *File) Blocks(ctx context.Context, bs []volume.Vec, use func(b volume.Vec, block []byte)) error {
	order, read := make([]volume.Vec, 0, len(bs)), make([][]byte, 0, len(bs))
	err := f.scan(ctx, slices.Clone(bs), func(b volume.Vec) []byte {
		block := newBlock(f.grid.BlockBytes())
		order, read = append(order, b), append(read, block)
		return block
	})
	if err != nil {
		return err
	}
	for i, b := range order {
		use(b, read[i])
	}
	return nil
}

// scan reads blocks into memory, in the order of the file, into which it brings them.
func (f *File) scan(ctx context.Context, blocks []volume.Vec, memory func(b volume.Vec) []byte) error {
	if len(blocks) == 0 {
		return nil
	}
	slices.SortFunc(blocks, func(a, b volume.Vec) int { return cmp.Compare(morton(a), morton(b)) })
	err := f.scanSorted(ctx, blocks, memory)
	if changed := f.checkUnchanged(blocks[0]); changed != nil {
		return changed
	}
	return err
}

func (f *File) scanSorted(ctx context.Context, blocks []volume.Vec, memory func(b volume.Vec) []byte) error {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	for len(blocks) > 0 {
		run, err := s.read(ctx, f, blocks[:neighbours(blocks)])
		if err != nil {
			return err
		}
		for i := 0; i < run; i += 2 {
			if err := s.decode(f, i, blocks[i:min(i+2, run)], memory); err != nil {
				return err
			}
		}
		blocks = blocks[run:]
	}
	return nil
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

// decode puts blocks that were read, one or two from number i on, into memory.
func (s *scanner) decode(f *File, i int, blocks []volume.Vec, memory func(b volume.Vec) []byte) error {
	switch {
	case f.header.BlockType == Raw:
		for j, b := range blocks {
			copy(memory(b), s.block(i+j))
		}
		return nil
	case len(blocks) == 1:
		return f.undecodable(blocks[0], s.extents[i], lz4block.Decode(memory(blocks[0]), s.block(i)))
	}
	err0, err1 := lz4block.DecodePair(memory(blocks[0]), s.block(i), memory(blocks[1]), s.block(i+1))
	return cmp.Or(f.undecodable(blocks[0], s.extents[i], err0), f.undecodable(blocks[1], s.extents[i+1], err1))
}

// block returns the bytes of block i of those that were read, as they are stored.
func (s *scanner) block(i int) []byte {
	at := s.extents[i]
	return s.stored[at.begin-s.extents[0].begin:][:at.size]
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
