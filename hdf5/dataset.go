package hdf5

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"sync"
)

// Unlimited is the greatest size of an axis that may grow without a limit.
const Unlimited = ^uint64(0)

// Dataset is a dataset: an array of values of one type.
type Dataset struct {
	object
	datatype   Datatype
	space      space
	layout     layout
	fill       []byte
	filters    []Filter
	external   bool
	chunkBytes int

	mu    sync.Mutex
	index *ChunkIndex
}

// read reads the messages of the header.
func (d *Dataset) read() (err error) {
	f, h := d.file, d.header
	space, hasSpace := h.first(msgSpace)
	datatype, hasType := h.first(msgType)
	if !hasSpace || !hasType {
		return &FormatError{Address: h.addr, Field: "dataset", Expected: "a dataspace and a datatype", Found: "none"}
	}
	if d.space, err = f.readSpace(space); err != nil {
		return err
	}
	if d.datatype, err = f.readType(datatype); err != nil {
		return err
	}
	m, _ := h.first(msgLayout)
	if d.layout, err = f.readLayout(m); err != nil {
		return err
	}
	if d.fill, err = f.readFill(h, d.datatype.Size); err != nil {
		return err
	}
	if m, ok := h.first(msgFilters); ok {
		if m, err = f.resolve(m); err != nil {
			return err
		}
		c := f.body(m, "filters")
		if d.filters = readFilters(c); c.err != nil {
			return c.err
		}
	}
	_, d.external = h.first(msgExternal)
	return d.check(m.addr)
}

// check checks what the messages say of each other. addr is that of the layout.
func (d *Dataset) check(addr uint64) error {
	bad := func(field string, expected, found any) error {
		return &FormatError{Address: addr, Field: field, Expected: expected, Found: found}
	}
	size, ok := product(d.space.elements, uint64(d.datatype.Size))
	if !ok {
		return bad("dimensions", "fewer than 2^63 bytes", d.space.dims)
	}
	switch l := &d.layout; l.class {
	case Compact:
		if uint64(len(l.data)) != size {
			return bad("compact data", fmt.Sprintf("%d bytes", size), len(l.data))
		}
	case Contiguous:
		if l.hasSize && l.size < size && l.addr != undefined && !d.external {
			return bad("size of contiguous data", size, l.size)
		}
		l.size = size
	case Chunked:
		return d.checkChunk(bad)
	}
	return nil
}

func (d *Dataset) checkChunk(bad func(field string, expected, found any) error) error {
	chunk := d.layout.chunk
	rank := len(chunk) - 1
	if rank != len(d.space.dims) {
		return bad("rank of a chunk", len(d.space.dims)+1, len(chunk))
	}
	if chunk[rank] != uint64(d.datatype.Size) {
		return bad("bytes of an element", d.datatype.Size, chunk[rank])
	}
	size, ok := uint64(1), true
	for _, n := range chunk {
		if size, ok = product(size, n); !ok || size > 1<<32 {
			return bad("dimensions of a chunk", "at most 2^32 bytes", chunk)
		}
	}
	if size > uint64(d.file.limit.chunkBytes) {
		return notSupported("a chunk of %d bytes: more than %d", size, d.file.limit.chunkBytes)
	}
	d.chunkBytes = int(size)
	return nil
}

// Type returns the datatype of the values.
func (d *Dataset) Type() Datatype { return d.datatype }

// Shape returns the size, the slowest axis first. It is empty for one value, and for none.
func (d *Dataset) Shape() []uint64 { return slices.Clone(d.space.dims) }

// Null reports whether the dataset has no values, whatever its shape.
func (d *Dataset) Null() bool { return d.space.null }

// MaxShape returns the size to which the dataset may grow, the slowest axis first. An axis without a limit has
// [Unlimited].
func (d *Dataset) MaxShape() []uint64 { return slices.Clone(d.space.max) }

// ChunkShape returns the size of a chunk, the slowest axis first. It is nil if the dataset is not chunked.
func (d *Dataset) ChunkShape() []uint64 {
	if d.layout.class != Chunked {
		return nil
	}
	return slices.Clone(d.layout.chunk[:len(d.layout.chunk)-1])
}

// ChunkBytes returns the decoded bytes of a chunk. Chunks over the edge of the dataset have as many as the others.
func (d *Dataset) ChunkBytes() int { return d.chunkBytes }

// Layout returns how the values are stored.
func (d *Dataset) Layout() Layout { return d.layout.class }

// Filters returns the filters in the order in which the writer applied them.
func (d *Dataset) Filters() []Filter { return slices.Clone(d.filters) }

// FillValue returns the bytes of the values that are not stored, as the file has them, or nil for zeros.
func (d *Dataset) FillValue() []byte { return bytes.Clone(d.fill) }

// Readable returns nil if this package can read the values. Otherwise it returns a [*NotSupportedError] that says
// why not: they are in other files, or need a filter.
func (d *Dataset) Readable() error {
	switch {
	case d.external:
		return named(d.path, notSupported("a dataset in external files"))
	case d.layout.class == Virtual:
		return named(d.path, notSupported("a virtual dataset"))
	case d.layout.class != Chunked:
		return nil
	}
	for i, f := range d.filters {
		if _, err := newFilter(f, d.chunkBytes); err != nil {
			if err := d.needs(i, filterError(d.header.addr, "filters", err)); err != nil {
				return named(d.path, err)
			}
		}
	}
	return nil
}

// needs returns refused if a chunk needs filter i. Writers leave filters out that fail. Of an index that is not in
// memory, one does.
func (d *Dataset) needs(i int, refused error) error {
	x, err := d.readOnce()
	if err != nil {
		return err
	}
	if x.parts != nil {
		return refused
	}
	for _, e := range x.entries {
		if e.mask>>i&1 == 0 {
			return refused
		}
	}
	return nil
}

// Contiguous returns where a contiguous dataset lies: an offset and a size in bytes, in the reader of the file. If
// nothing is allocated, all values are the fill value. The range may reach beyond the end of a damaged file.
func (d *Dataset) Contiguous() (offset, size int64, allocated bool) {
	l := &d.layout
	if l.class != Contiguous || l.addr == undefined || d.external {
		return 0, 0, false
	}
	const far = 1<<63 - 1
	base := uint64(d.file.base)
	if l.addr > far-base || l.size > far-base-l.addr {
		return far - int64(l.size), int64(l.size), true
	}
	return int64(base + l.addr), int64(l.size), true
}

// Compact returns the values of a compact dataset, in the order of the file.
func (d *Dataset) Compact() []byte { return bytes.Clone(d.layout.data) }

// Chunks reads the index of chunks. It is read once, and kept, but for one of more than 2^20 chunks, which is read in
// parts when they are needed. An error that is not of the file may go away.
func (d *Dataset) Chunks() (*ChunkIndex, error) {
	if err := d.Readable(); err != nil {
		return nil, err
	}
	if d.layout.class != Chunked {
		return nil, named(d.path, notSupported("an index of chunks of a %v dataset", d.layout.class))
	}
	x, err := d.readOnce()
	return x, named(d.path, err)
}

// readOnce returns the index of chunks, which is read when it is needed first.
func (d *Dataset) readOnce() (*ChunkIndex, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.index == nil {
		x, err := d.readIndex()
		if err != nil {
			return nil, err
		}
		d.index = x
	}
	return d.index, nil
}

// log2 returns the exponent of the greatest power of two up to v.
func log2(v uint64) int { return bits.Len64(v) - 1 }
