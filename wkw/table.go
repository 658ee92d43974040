package wkw

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// The jump table is read in chunks. A file keeps the chunks in memory.
const (
	chunkEntries = 512
	maxChunks    = 64 // of one file: the table of a cube of 32³ blocks, about 300 KiB
)

// jumpTable holds the chunks of a jump table that are in memory. Chunk i is in slot i modulo the number of slots.
// A lookup takes no lock.
type jumpTable []atomic.Pointer[tableChunk]

// tableChunk is a part of a stored jump table. Its entries start with the last entry of the chunk before it.
type tableChunk struct {
	number  uint64 // index of the chunk in the table
	entries []byte // 8 bytes each
}

// newJumpTable returns an empty jump table for a cube.
func newJumpTable(h Header) jumpTable {
	if h.BlockType == Raw {
		return nil
	}
	return make(jumpTable, min(maxChunks, (h.blocks()+chunkEntries-1)/chunkEntries))
}

// chunk returns a chunk of the jump table. It returns nil if the chunk is not in memory.
func (f *File) chunk(number uint64) *tableChunk {
	if len(f.table) == 0 {
		return nil
	}
	if c := f.table[number%uint64(len(f.table))].Load(); c != nil && c.number == number {
		return c
	}
	return nil
}

// keep keeps a chunk in memory.
func (f *File) keep(c *tableChunk) { tables.keep(f, c) }

// newChunk returns a new chunk and the range of the file to fill it with. It returns nil if the cube has no table, or
// if the file ends inside the chunk.
func (f *File) newChunk(number uint64) (*tableChunk, vfs.Range) {
	first := number * chunkEntries
	if len(f.table) == 0 || first >= f.header.blocks() {
		return nil, vfs.Range{}
	}
	n := 1 + min(chunkEntries, f.header.blocks()-first)
	offset := f.header.TableOffset(first) - 8
	if offset+8*int64(n) > f.info.Size() {
		return nil, vfs.Range{}
	}
	c := &tableChunk{number, make([]byte, 8*n)}
	return c, vfs.Range{Off: offset, P: c.entries}
}

// readChunk returns a chunk of the jump table. It returns nil if the cube has no table, or if the chunk cannot be read
// as a whole. Even then, readEntry may read single entries.
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

// startSize is the size in bytes of the header and the jump table of a cube of 32³ blocks.
const startSize = HeaderSize + 8*maxChunks*chunkEntries

// keepStart keeps the chunks of the jump table that are whole in start, the first bytes of the file. It copies them.
func (f *File) keepStart(start []byte) {
	for number := range uint64(len(f.table)) {
		c, r := f.newChunk(number)
		if c == nil || r.Off+int64(len(r.P)) > int64(len(start)) {
			return
		}
		copy(c.entries, start[r.Off:])
		f.keep(c)
	}
}

// entry returns entry n of the jump table and the entry before it. Entry n must be in the chunk.
func (c *tableChunk) entry(n uint64) (before, end uint64) {
	return twoEntries(c.entries[8*(n%chunkEntries):])
}

// readEntry reads entry n of the jump table and the entry before it.
func (f *File) readEntry(ctx context.Context, n uint64) (before, end uint64, err error) {
	at := f.header.TableOffset(n)
	if at+8 > f.info.Size() {
		return 0, 0, f.invalid("jump table entry of "+blockName(n), at,
			"8 bytes", fmt.Sprintf("the end of the file at byte %d", f.info.Size()))
	}
	p := make([]byte, 16)
	if err := vfs.ReadFull(ctx, f.file, p, at-8); err != nil {
		return 0, 0, f.readError(n, at-8, err)
	}
	before, end = twoEntries(p)
	return before, end, nil
}

// twoEntries decodes two entries of the jump table.
func twoEntries(p []byte) (first, second uint64) {
	return binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
}

// TableOffset returns the offset in the file, in bytes, of entry n of the jump table ("LZ4 compressed blocks"): the
// little-endian 64-bit end of the block with index n. The 8 bytes before entry 0 belong to the header, also in the
// draft.
func (h Header) TableOffset(n uint64) int64 { return int64(h.size() + 8*n) }

// entryBase returns the offset that the entries of the jump table are relative to.
func (h Header) entryBase() uint64 {
	if h.Draft {
		return h.DataOffset
	}
	return 0
}
