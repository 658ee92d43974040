package chunked

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

const (
	entryBytes = 16 // of an entry of a shard index: offset and size

	// indexBudget limits the memory for the shard indexes of all mags, in bytes: those of 32 shards of 1024³ voxels in
	// inner chunks of 32³, or what slices of 128 such shards need. Pages of others are read again.
	indexBudget = 16 << 20

	// pageBytes is the part of an index that is kept together, and piece what is read at once to check all of it.
	pageBytes, indexPiece = 64 << 10, 1 << 20

	// indexReading limits the memory of pieces that are being read.
	indexReading = 8 << 20
)

// allIndexes has the indexes of all mags.
var allIndexes = newIndexes(indexBudget, pageBytes, indexPiece)

// shardIndex is where the index of a shard lies in its file. Entry i has the offset and size of inner chunk i, from the
// start of the shard.
type shardIndex struct {
	Shard
	key    indexKey // of its pages
	at     int64    // in the file
	bytes  int      // of the entries
	stored int      // with their checksums
}

// entry returns an entry of a page.
func (s Shard) entry(page []byte, at int) entry {
	var order binary.ByteOrder = binary.LittleEndian
	if s.Big {
		order = binary.BigEndian
	}
	return entry{order.Uint64(page[at:]), order.Uint64(page[at+8:])}
}

// indexAt returns the offset of an index of stored bytes in a shard.
func (s Shard) indexAt(shard int64, stored int) int64 {
	if s.AtStart {
		return 0
	}
	return shard - int64(stored)
}

// indexKey names a page of the index of a shard in one version of a file. An inner shard may start where the outer one
// does.
type indexKey struct {
	mag     *Mag
	version vfs.Version
	offset  int64
	level   int // 0 is the outer shard
	page    int // sound: its checksum is right
}

// sound is the page of an index that says that its checksum is right. It is empty.
const sound = -1

// indexes keeps the most recently used pages of shard indexes within a budget of bytes.
type indexes struct {
	*lattice.Indexes[indexKey, byte]
	page, piece int // bytes; a piece is one page or several
	reading     *semaphore.Weighted
}

func newIndexes(budget int64, page, piece int) *indexes {
	return &indexes{lattice.NewIndexes[indexKey, byte](budget), page, piece,
		semaphore.NewWeighted(max(indexReading, int64(piece)))}
}

// indexOf returns the index of the shard that has a level and lies at the extent of p. outer is the size of the shard
// in elements.
func (c *cube) indexOf(p piece, level int, outer []int) (shardIndex, error) {
	x := shardIndex{Shard: c.array.Shards[level], bytes: entryBytes}
	for axis := range outer {
		x.bytes *= outer[axis] / x.Inner[axis]
	}
	x.stored = x.bytes + x.Checksums*crc32.Size
	x.at = p.offset + x.indexAt(p.size, x.stored)
	file := c.parts[p.part]
	if int64(x.stored) > p.size {
		return x, file.Broken("shard index", p.offset, fmt.Sprintf("%d bytes", x.stored),
			fmt.Sprintf("a shard of %d", p.size))
	}
	x.key = indexKey{mag: c.Mag, version: vfs.VersionOf(file.Info), offset: p.offset, level: level}
	return x, nil
}

// page returns the page that key names. One goroutine at a time reads indexes of the cube. Others wait for it.
func (c *cube) page(ctx context.Context, p piece, x shardIndex) ([]byte, error) {
	if page, ok := c.indexes.Get(x.key); ok {
		return page, nil
	}
	select {
	case c.loading <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.loading }()
	if page, ok := c.indexes.Get(x.key); ok {
		return page, nil
	}
	read := c.readIndex
	if x.Checksums == 0 && x.bytes > c.indexes.piece || c.isSound(x.key) {
		read = c.readPage
	}
	page, err := read(ctx, c.parts[p.part], x)
	if err != nil {
		return nil, err
	}
	if err := c.checkUnchanged(); err != nil { // the index may be of another version
		return nil, err
	}
	return page, nil
}

// isSound reports whether the checksum of an index is known to be right.
func (c *cube) isSound(key indexKey) bool {
	key.page = sound
	_, ok := c.indexes.Get(key)
	return ok
}

// readPage reads the page that key names.
func (c *cube) readPage(ctx context.Context, file lattice.File, x shardIndex) ([]byte, error) {
	start := x.key.page * c.indexes.page
	page := make([]byte, min(c.indexes.page, x.bytes-start))
	if err := x.read(ctx, file, page, start); err != nil {
		return nil, err
	}
	c.indexes.Add(x.key, page)
	return page, nil
}

// readIndex reads all of the index of a shard (Zarr v3, "sharding codec", "Binary shard format"), in pieces, and checks
// it. It keeps the page that key names, and all others of an index of one piece.
func (c *cube) readIndex(ctx context.Context, file lattice.File, x shardIndex) (wanted []byte, err error) {
	size := min(c.indexes.piece, x.bytes) + x.stored - x.bytes
	if err := c.indexes.reading.Acquire(ctx, int64(size)); err != nil {
		return nil, err
	}
	defer c.indexes.reading.Release(int64(size))
	buffer := scratch.Get(size)
	defer scratch.Put(buffer)
	pages, sum := map[int][]byte{}, uint32(0)
	for start := 0; start < x.bytes; start += c.indexes.piece {
		n := min(c.indexes.piece, x.bytes-start)
		b := (*buffer)[:n]
		if start+n == x.bytes {
			b = (*buffer)[:n+x.stored-x.bytes]
		}
		if err := x.read(ctx, file, b, start); err != nil {
			return nil, err
		}
		if sum, err = checkSums(sum, b, n); err != nil {
			return nil, file.Undecodable("shard index", x.at, err)
		}
		for at := 0; at < n; at += c.indexes.page {
			if number := (start + at) / c.indexes.page; number == x.key.page || x.bytes <= c.indexes.piece {
				pages[number] = slices.Clone(b[at:min(at+c.indexes.page, n)])
			}
		}
	}
	wanted = pages[x.key.page]
	if x.Checksums > 0 {
		pages[sound] = nil
	}
	for n, page := range pages {
		key := x.key
		key.page = n
		c.indexes.Add(key, page)
	}
	return wanted, nil
}

// read reads stored bytes of the index, from a byte of it on.
func (x shardIndex) read(ctx context.Context, file lattice.File, p []byte, start int) error {
	return file.ReadFull(ctx, p, x.at+int64(start), "shard index")
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkSums returns the CRC-32C of an index with n bytes more, if sum is that of the bytes before. What follows them in
// b are checksums of all that is before each.
func checkSums(sum uint32, b []byte, n int) (uint32, error) {
	sum = crc32.Update(sum, castagnoli, b[:n])
	for b = b[n:]; len(b) > 0; b = b[crc32.Size:] {
		if stored := binary.LittleEndian.Uint32(b); stored != sum {
			return 0, fmt.Errorf("crc32c: expected %08x, that of the bytes before, found %08x", sum, stored)
		}
		sum = crc32.Update(sum, castagnoli, b[:crc32.Size])
	}
	return sum, nil
}
