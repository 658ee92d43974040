package wkw

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// The jump table is read in chunks. A file keeps the chunks that it has read.
const (
	chunkEntries = 512
	maxChunks    = 64 // per file: the table of a cube of 32³ blocks, about 300 KiB
)

// jumpTable is the chunks of a jump table that were read. Chunk i is kept in slot i modulo the
// number of slots. A lookup takes no lock.
type jumpTable []atomic.Pointer[tableChunk]

// tableChunk is a part of a jump table, as it is stored. It has the entry before its own ones too.
type tableChunk struct {
	number  uint64 // in the table
	entries []byte // 8 bytes each
}

// newJumpTable returns the jump table of a cube, of which nothing was read yet.
func newJumpTable(h Header) jumpTable {
	if h.BlockType == Raw {
		return nil
	}
	return make(jumpTable, min(maxChunks, (h.blocks()+chunkEntries-1)/chunkEntries))
}

// chunk returns a chunk of the jump table if it was read, else nil.
func (f *File) chunk(number uint64) *tableChunk {
	if len(f.table) == 0 {
		return nil
	}
	if c := f.table[number%uint64(len(f.table))].Load(); c != nil && c.number == number {
		return c
	}
	return nil
}

// keep keeps a chunk for the next ones who need it.
func (f *File) keep(c *tableChunk) { tables.keep(f, c) }

// newChunk returns a chunk that is not read yet, and its range of the file. It returns nil if the cube has no table, or the file
// ends before the end of the chunk.
func (f *File) newChunk(number uint64) (*tableChunk, vfs.Range) {
	first := number * chunkEntries
	if len(f.table) == 0 || first >= f.header.blocks() {
		return nil, vfs.Range{}
	}
	n := 1 + min(chunkEntries, f.header.blocks()-first)
	offset := f.header.entryOffset(first) - 8
	if offset+8*int64(n) > f.info.Size() {
		return nil, vfs.Range{}
	}
	c := &tableChunk{number, make([]byte, 8*n)}
	return c, vfs.Range{Off: offset, P: c.entries}
}

// readChunk returns a chunk of the jump table. It returns nil if the cube has no table, or if the chunk cannot be read as a
// whole. Single entries of it may be readable even then.
func (f *File) readChunk(ctx context.Context, number uint64) *tableChunk {
	if c := f.chunk(number); c != nil {
		return c
	}
	c, r := f.newChunk(number)
	if c == nil || vfs.ReadFull(ctx, f.file, r.P, r.Off) != nil {
		return nil
	}
	f.keep(c)
	return c
}

// entry returns entry n of the jump table, which is in the chunk, and the entry before it.
func (c *tableChunk) entry(n uint64) (before, end uint64) {
	return twoEntries(c.entries[8*(n%chunkEntries):])
}

// readEntry reads entry n of the jump table alone, and the entry before it.
func (f *File) readEntry(ctx context.Context, n uint64) (before, end uint64, err error) {
	at := f.header.entryOffset(n)
	if at+8 > f.info.Size() {
		return 0, 0, f.broken("jump table entry of "+blockName(n), at,
			"8 bytes", fmt.Sprintf("the end of the file at byte %d", f.info.Size()))
	}
	p := make([]byte, 16)
	if err := vfs.ReadFull(ctx, f.file, p, at-8); err != nil {
		return 0, 0, f.unreadable(n, at-8, err)
	}
	before, end = twoEntries(p)
	return before, end, nil
}

// twoEntries decodes two entries of the jump table.
func twoEntries(p []byte) (first, second uint64) {
	return binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
}

// entryOffset returns the offset of entry n of the jump table. The 8 bytes before entry 0 belong to
// the header in both versions.
func (h Header) entryOffset(n uint64) int64 { return int64(h.size() + 8*n) }

// entryBase returns the offset that the entries of the jump table are relative to.
func (h Header) entryBase() uint64 {
	if h.Draft {
		return h.DataOffset
	}
	return 0
}
