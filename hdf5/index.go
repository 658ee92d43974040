package hdf5

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// Chunk says where a chunk is stored: an offset and a size in bytes of the reader. If bit i of FilterMask is set,
// filter i was left out.
type Chunk struct {
	Offset, Size int64
	FilterMask   uint32
}

// entry is a chunk in an index. Its key is its position in the grid of chunks of the dataset, the last axis fastest.
type entry struct {
	key  uint64
	addr uint64
	size uint32
	mask uint32
}

// ChunkIndex says where the chunks of a dataset are. It is in memory if it has at most 2^20 chunks. Parts of a larger
// one are read when they are needed.
type ChunkIndex struct {
	d       *Dataset
	grid    []uint64 // chunks along each axis
	most    uint64   // bytes that a stored chunk may have
	entries []entry  // sorted by their keys
	twice   []uint64 // a bit for each entry: it has the bytes or the key of another
	missing []hole

	parts *parts                               // of an index that is not in memory
	part                                       // if this is one of them
	each  func(scaled []uint64, e entry) error // is called for each chunk, instead of an entry
}

// hole is a part of an index that cannot be read. Whether it has chunks is not known.
type hole struct {
	has func(scaled []uint64) bool
	err error
}

// maxHoles is the most of them that an index may have.
const maxHoles = 1000

// readIndex reads the index of chunks, whatever it is.
func (d *Dataset) readIndex() (*ChunkIndex, error) {
	x := &ChunkIndex{d: d, most: filterBound(d.filters, d.chunkBytes)}
	if err := x.setGrid(); err != nil || d.layout.addr == undefined {
		return x, err
	}
	err := x.walk()
	if errors.Is(err, errLarge) {
		x.entries, x.missing, x.parts = nil, nil, newParts(d.file.limit.partChunks)
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	x.finish()
	return x, nil
}

// setGrid sets the chunks along each axis.
func (x *ChunkIndex) setGrid() error {
	d := x.d
	cells, ok := uint64(1), true
	for i, n := range d.space.dims {
		chunk := d.layout.chunk[i]
		x.grid = append(x.grid, n/chunk+min(1, n%chunk))
		if cells, ok = product(cells, x.grid[i]); !ok {
			return notSupported("more than 2^63 chunks")
		}
	}
	return nil
}

// walk reads the index, or a part of it.
func (x *ChunkIndex) walk() error {
	read := map[uint8]func() error{indexTree1: x.readTree1, indexSingle: x.readSingle, indexImplicit: x.checkImplicit,
		indexFixed: x.readFixed, indexExtensible: x.readExtensible, indexTree2: x.readTree2}
	return read[x.d.layout.index]()
}

// finish makes entries ready for [ChunkIndex.Lookup].
func (x *ChunkIndex) finish() {
	slices.SortFunc(x.entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	x.findOverlaps()
}

// add adds a chunk. One outside the dataset, which was larger once, is left out.
func (x *ChunkIndex) add(scaled []uint64, e entry) error {
	for i, n := range x.grid {
		if scaled[i] >= n {
			return nil
		}
		e.key = e.key*n + scaled[i]
	}
	if x.each != nil {
		return x.each(scaled, e)
	}
	if err := x.tooLarge(uint64(len(x.entries)) + 1); err != nil {
		return err
	}
	x.entries = append(x.entries, e)
	return nil
}

// lose remembers a part of the index that cannot be read.
func (x *ChunkIndex) lose(err error, has func(scaled []uint64) bool) error {
	if !isFormat(err) || len(x.missing) >= maxHoles {
		return err
	}
	x.missing = append(x.missing, hole{has, named(x.d.path, err)})
	return nil
}

// findOverlaps marks chunks that have bytes or a position in common. Those that are refused for their own place or
// size do not count: they would take others with them.
func (x *ChunkIndex) findOverlaps() {
	if len(x.entries) == 0 {
		return
	}
	x.twice = make([]uint64, len(x.entries)/64+1)
	mark := func(i int) { x.twice[i/64] |= 1 << (i % 64) }
	order := make([]int32, len(x.entries))
	for i := range order {
		order[i] = int32(i)
		if i > 0 && x.entries[i].key == x.entries[i-1].key {
			mark(i)
			mark(i - 1)
		}
	}
	order = slices.DeleteFunc(order, func(i int32) bool {
		_, err := x.d.file.offset("chunk", x.entries[i].addr, uint64(x.entries[i].size))
		return err != nil || uint64(x.entries[i].size) > x.most
	})
	if len(order) == 0 {
		return
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(x.entries[a].addr, x.entries[b].addr) })
	longest := order[0] // of those before: the one that ends last
	for _, i := range order[1:] {
		last, e := x.entries[longest], x.entries[i]
		if e.addr-last.addr < uint64(last.size) {
			mark(int(longest))
			mark(int(i))
		}
		if e.addr+uint64(e.size) >= last.addr+uint64(last.size) {
			longest = i
		}
	}
}

// Len returns the number of chunks that are stored. It is −1 if the index is not in memory.
func (x *ChunkIndex) Len() int {
	if x.implicit() {
		n := 1
		for _, cells := range x.grid {
			n *= int(cells)
		}
		return n
	}
	if x.parts != nil {
		return -1
	}
	return len(x.entries)
}

// Memory returns how many bytes the index has in memory, at most, about.
func (x *ChunkIndex) Memory() int64 {
	n := len(x.entries)
	if x.parts != nil {
		n = x.d.file.limit.partChunks
	}
	return int64(n) * int64(unsafe.Sizeof(entry{}))
}

// Lookup returns the chunk at a position, counted in chunks, slowest axis first. It is false if the chunk was never
// written: all its values are the fill value. A position outside the dataset has no chunk. A damaged part of the
// index, a chunk outside the file, or one that shares bytes with others is a [*FormatError].
func (x *ChunkIndex) Lookup(scaled []uint64) (Chunk, bool, error) {
	if len(scaled) != len(x.grid) {
		return Chunk{}, false, fmt.Errorf("HDF5: a position of %d axes in a dataset of %d", len(scaled), len(x.grid))
	}
	var key uint64
	for i, n := range x.grid {
		if scaled[i] >= n {
			return Chunk{}, false, nil
		}
		key = key*n + scaled[i]
	}
	if x.implicit() {
		return x.lookupImplicit(scaled)
	}
	if x.parts != nil {
		part, err := x.partOf(scaled)
		if err != nil {
			return Chunk{}, false, named(x.d.path, err)
		}
		x = part
	}
	i, ok := slices.BinarySearchFunc(x.entries, key, func(e entry, key uint64) int { return cmp.Compare(e.key, key) })
	if ok {
		c, err := x.chunk(i, scaled)
		return c, err == nil, err
	}
	for _, h := range x.missing {
		if h.has(scaled) {
			return Chunk{}, false, h.err
		}
	}
	return Chunk{}, false, nil
}

// chunk returns entry i after it was checked.
func (x *ChunkIndex) chunk(i int, scaled []uint64) (Chunk, error) {
	e := x.entries[i]
	if x.twice[i/64]>>(i%64)&1 != 0 {
		return Chunk{}, x.bad(scaled, e.addr, "chunk", "bytes and a position that no other chunk has",
			"those of another")
	}
	return x.place(e, scaled)
}

// place checks where an entry lies.
func (x *ChunkIndex) place(e entry, scaled []uint64) (Chunk, error) {
	d := x.d
	if e.size == 0 || uint64(e.size) > x.most {
		return Chunk{}, x.bad(scaled, e.addr, "size of a chunk", fmt.Sprintf("1 to %d bytes", x.most), e.size)
	}
	if e.addr < superblockEnd {
		return Chunk{}, x.bad(scaled, e.addr, "address of a chunk", "one after the superblock", e.addr)
	}
	off, err := d.file.offset("chunk", e.addr, uint64(e.size))
	if err != nil {
		return Chunk{}, named(x.name(scaled), err)
	}
	c := Chunk{Offset: off, Size: int64(e.size), FilterMask: e.mask}
	if d.layout.version >= 4 && d.layout.flags&rawEdges != 0 && x.atEdge(scaled) {
		c.FilterMask = ^uint32(0)
	}
	return c, nil
}

// superblockEnd is where the shortest superblock ends.
const superblockEnd = 20

// atEdge reports whether a chunk reaches over the edge of the dataset.
func (x *ChunkIndex) atEdge(scaled []uint64) bool {
	for i, n := range x.d.space.dims {
		if chunk := x.d.layout.chunk[i]; scaled[i] == n/chunk { // the last one, which is not whole
			return true
		}
	}
	return false
}

// All calls yield for every stored chunk, in the order of positions, until it returns false. scaled is valid until
// it returns. All returns the error of the first chunk or part of the index that is damaged, after it yielded the
// others. The chunks of an extensible array that is not in memory are in its own order: slowest is the axis without a
// limit.
func (x *ChunkIndex) All(yield func(scaled []uint64, c Chunk) bool) error {
	if x.parts != nil {
		return x.allParts(yield)
	}
	var failed error
	if len(x.missing) > 0 {
		failed = x.missing[0].err
	}
	scaled := make([]uint64, len(x.grid))
	for i := range x.Len() {
		key := uint64(i)
		if !x.implicit() {
			key = x.entries[i].key
		}
		for axis := len(x.grid) - 1; axis >= 0; axis-- {
			scaled[axis] = key % x.grid[axis]
			key /= x.grid[axis]
		}
		var c Chunk
		var err error
		if x.implicit() {
			c, _, err = x.lookupImplicit(scaled)
		} else {
			c, err = x.chunk(i, scaled)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
		} else if !yield(scaled, c) {
			break
		}
	}
	return failed
}

func (x *ChunkIndex) name(scaled []uint64) string {
	return fmt.Sprintf("%s, chunk %v", x.d.path, scaled)
}

func (x *ChunkIndex) bad(scaled []uint64, addr uint64, field string, expected, found any) error {
	return &FormatError{Path: x.name(scaled), Address: addr, Field: field, Expected: expected, Found: found}
}

// readEntry reads the address of a chunk, and its size and mask if the dataset has filters (IV.A.2.i, Appendix C).
// A chunk that is not there has the undefined address.
func (x *ChunkIndex) readEntry(c *cursor) entry {
	e := entry{addr: c.address("address of a chunk"), size: uint32(x.d.chunkBytes)}
	if len(x.d.filters) > 0 {
		// A size beyond 32 bits is refused as the greatest one.
		e.size = uint32(min(c.uint(x.d.layout.sizeWidth(x.d.chunkBytes), "size of a chunk"), 1<<32-1))
		e.mask = c.u32("filter mask")
	}
	return e
}

// entryBytes returns the bytes that readEntry reads.
func (x *ChunkIndex) entryBytes() int {
	if len(x.d.filters) == 0 {
		return x.d.file.o
	}
	return x.d.file.o + x.d.layout.sizeWidth(x.d.chunkBytes) + 4
}

// readSingle is for a dataset of one chunk.
func (x *ChunkIndex) readSingle() error {
	e := x.d.layout.single
	e.addr = x.d.layout.addr
	if len(x.d.filters) == 0 || x.d.layout.flags&singleFiltered == 0 {
		e.size, e.mask = uint32(x.d.chunkBytes), ^uint32(0)
	}
	return x.add(make([]uint64, len(x.grid)), e)
}
