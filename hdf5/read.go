package hdf5

import "fmt"

// ReadAll returns all values, in the order of the file and as they are stored. Values that are not stored are the
// fill value. More than limit bytes are an error. It is for small datasets: it reads and decodes one chunk after
// the other.
func (d *Dataset) ReadAll(limit int64) ([]byte, error) {
	size := d.space.elements * uint64(d.datatype.Size)
	if err := d.Readable(); err != nil {
		return nil, err
	}
	if size > uint64(max(limit, 0)) {
		return nil, named(d.path, notSupported("reading %d bytes at once, more than %d,", size, limit))
	}
	if d.space.null { // whatever its shape
		return []byte{}, nil
	}
	switch d.layout.class {
	case Compact:
		return d.Compact(), nil
	case Chunked:
		return d.readChunks(int(size))
	}
	b := make([]byte, size)
	if d.layout.addr == undefined {
		d.fillIn(b)
		return b, nil
	}
	off, err := d.file.offset("contiguous data", d.layout.addr, size)
	if err != nil {
		return nil, named(d.path, err)
	}
	return b, d.file.pages.fill(b, off)
}

// fillIn fills b with the fill value.
func (d *Dataset) fillIn(b []byte) {
	for len(d.fill) > 0 && len(b) > 0 {
		b = b[copy(b, d.fill):]
	}
}

// readChunks reads a chunked dataset.
func (d *Dataset) readChunks(size int) ([]byte, error) {
	x, err := d.Chunks()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	d.fillIn(b)
	decoded := make([]byte, d.chunkBytes)
	var failed error
	err = x.All(func(scaled []uint64, c Chunk) bool {
		if failed = d.readChunk(decoded, c); failed != nil {
			failed = named(x.name(scaled), failed)
			return false
		}
		d.copyChunk(b, decoded, scaled)
		return true
	})
	if failed == nil {
		failed = err
	}
	return b, failed
}

func (d *Dataset) readChunk(dst []byte, c Chunk) error {
	stored := make([]byte, c.Size)
	if err := d.file.pages.fill(stored, c.Offset); err != nil {
		return err
	}
	if err := decodeFilters(d.filters, d.chunkBytes, dst, stored, c.FilterMask); err != nil {
		return filterError(uint64(c.Offset-d.file.base), "chunk", err)
	}
	return nil
}

// copyChunk copies the part of a chunk that is inside the dataset.
func (d *Dataset) copyChunk(b, chunk []byte, scaled []uint64) {
	dims, shape := d.space.dims, d.layout.chunk
	last := len(dims) - 1
	rows := 1
	size := make([]uint64, len(dims)) // of the part
	for i, n := range dims {
		size[i] = min(shape[i], n-scaled[i]*shape[i])
		if i < last {
			rows *= int(size[i])
		}
	}
	element := uint64(d.datatype.Size)
	at := make([]uint64, len(dims))
	for range rows {
		var from, to uint64
		for i := range dims {
			from = from*shape[i] + at[i]
			to = to*dims[i] + scaled[i]*shape[i] + at[i]
		}
		copy(b[to*element:(to+size[last])*element], chunk[from*element:])
		for i := last - 1; i >= 0; i-- {
			if at[i]++; at[i] < size[i] {
				break
			}
			at[i] = 0
		}
	}
}

// String describes the dataset for messages.
func (d *Dataset) String() string {
	return fmt.Sprintf("%s: %v of %d bytes, %v, %v", d.path, d.datatype.Class, d.datatype.Size, d.space.dims,
		d.layout.class)
}
