package header

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
)

// tiffWidth has the differences between a classic TIFF and a BigTIFF.
type tiffWidth struct {
	header int    // bytes of the file header
	count  int    // bytes of the number of fields in a directory
	offset int    // bytes of an offset, of a count of values, and of a value in a field
	kind   uint16 // type of an offset
	limit  int64  // largest size of a file, in bytes
}

var (
	classic = tiffWidth{header: 8, count: 2, offset: 4, kind: tiff.Long, limit: math.MaxUint32}
	bigTIFF = tiffWidth{header: 16, count: 8, offset: 8, kind: tiff.Long8, limit: math.MaxInt64 - 1}
)

// append appends v with the bytes of an offset.
func (w tiffWidth) append(b []byte, v uint64) []byte {
	if w.offset == 4 {
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// tiffField is an entry of a directory.
type tiffField struct {
	tag, kind uint16
	count     uint64
	value     uint64 // the values if they fit the bytes of an offset, else their offset
	pooled    bool   // value is an offset in the pool
}

// field returns a field. Values that do not fit the field go to the pool.
func (t *tiffFile) field(tag, kind uint16, values ...uint64) tiffField {
	var data []byte
	for _, v := range values {
		switch kind {
		case tiff.Short:
			data = binary.LittleEndian.AppendUint16(data, uint16(v))
		case tiff.Long:
			data = binary.LittleEndian.AppendUint32(data, uint32(v))
		case tiff.Rational: // the numerator is the low half
			data = binary.LittleEndian.AppendUint64(data, v)
		}
	}
	f := tiffField{tag: tag, kind: kind, count: uint64(len(values))}
	if len(data) <= t.width.offset {
		var inline [8]byte
		copy(inline[:], data)
		f.value = binary.LittleEndian.Uint64(inline[:])
		return f
	}
	f.value, f.pooled = t.addToPool(data), true
	return f
}

// text returns a field with text in the pool. s must end with a zero byte.
func (t *tiffFile) text(tag uint16, s []byte) tiffField {
	return tiffField{tag, tiff.ASCII, uint64(len(s)), t.addToPool(s), true}
}

// addToPool appends data to the pool. It returns the offset of data in the pool, a multiple of 8.
func (t *tiffFile) addToPool(data []byte) uint64 {
	t.pool = append(t.pool, make([]byte, -len(t.pool)&7)...)
	t.pool = append(t.pool, data...)
	return uint64(len(t.pool) - len(data))
}

// strips returns the number of strips of a plane.
func (t *tiffFile) strips() int { return (t.rows + t.stripRows - 1) / t.stripRows }

// directorySize returns the bytes of a directory with the given number of fields. It has the number of fields, the
// fields, and the offset of the next directory. If a plane has several strips, their offsets and sizes follow.
func (t *tiffFile) directorySize(fields int) int {
	size := t.width.count + fields*(4+2*t.width.offset) + t.width.offset
	if t.strips() > 1 {
		size += 2 * t.strips() * t.width.offset
	}
	return size
}

// stride returns the distance between directories in the tail, in bytes. The format requires even offsets. These are
// multiples of 16.
func (t *tiffFile) stride() int64 { return int64(roundUp(t.directorySize(len(t.shared)+2), 16)) }

// poolStart returns the offset of the pool, which follows the first directory.
func (t *tiffFile) poolStart() int {
	return roundUp(t.width.header+t.directorySize(len(t.shared)+len(t.first)+2), 16)
}

// dataStart returns the offset of the first voxel.
func (t *tiffFile) dataStart() int64 { return int64(roundUp(t.poolStart()+len(t.pool), Align)) }

// dataEnd returns the offset of the end of the voxels, where the tail starts.
func (t *tiffFile) dataEnd() int64 { return t.dataStart() + int64(t.planes)*t.planeBytes }

// firstInTail returns the offset of the directory of the second page.
func (t *tiffFile) firstInTail() int64 { return (t.dataEnd() + 15) &^ 15 }

// directoryAt returns the offset of the directory of page z. After the last page it returns 0, the end of the list.
func (t *tiffFile) directoryAt(z int) int64 {
	switch z {
	case 0:
		return int64(t.width.header)
	case t.planes:
		return 0
	}
	return t.firstInTail() + int64(z-1)*t.stride()
}

// tailSize returns the bytes of the tail, with the padding before it.
func (t *tiffFile) tailSize() int64 {
	if t.planes == 1 {
		return 0
	}
	return t.firstInTail() - t.dataEnd() + int64(t.planes-1)*t.stride()
}

// end returns the size of the file in bytes, or math.MaxInt64 if it is larger.
func (t *tiffFile) end() int64 {
	const padding = 16
	around := t.dataStart() + padding + int64(t.planes-1)*t.stride()
	if int64(t.planes)*t.planeBytes > math.MaxInt64-around {
		return math.MaxInt64
	}
	return t.dataEnd() + t.tailSize()
}

// directory returns the directory of page z.
func (t *tiffFile) directory(z int) []byte {
	fields := slices.Clone(t.shared)
	if z == 0 {
		fields = append(fields, t.first...)
	}
	n := t.strips()
	size := t.directorySize(len(fields) + 2)
	plane := t.dataStart() + int64(z)*t.planeBytes
	offsets := tiffField{tiff.TagStripOffsets, t.width.kind, uint64(n), uint64(plane), false}
	counts := tiffField{tiff.TagStripByteCounts, t.width.kind, uint64(n), uint64(t.planeBytes), false}
	if n > 1 { // offsets and sizes are at the end of the directory
		counts.value = uint64(t.directoryAt(z)) + uint64(size-n*t.width.offset)
		offsets.value = counts.value - uint64(n*t.width.offset)
	}
	fields = append(fields, offsets, counts)
	slices.SortFunc(fields, func(a, b tiffField) int { return int(a.tag) - int(b.tag) })

	b := make([]byte, 0, size)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(fields)))
	b = append(b, make([]byte, t.width.count-2)...)
	for _, f := range fields {
		if f.pooled {
			f.value += uint64(t.poolStart())
		}
		b = binary.LittleEndian.AppendUint16(b, f.tag)
		b = binary.LittleEndian.AppendUint16(b, f.kind)
		b = t.width.append(b, f.count)
		b = t.width.append(b, f.value)
	}
	b = t.width.append(b, uint64(t.directoryAt(z+1)))
	if n > 1 {
		b = t.appendStrips(b, plane)
	}
	return b
}

// appendStrips appends the offsets of the strips of a plane, then their sizes.
func (t *tiffFile) appendStrips(b []byte, plane int64) []byte {
	n := int64(t.strips())
	for i := range n {
		b = t.width.append(b, uint64(plane+i*t.stripBytes))
	}
	for i := range n {
		b = t.width.append(b, uint64(min(t.stripBytes, t.planeBytes-i*t.stripBytes)))
	}
	return b
}

// layout returns the layout of the file.
func (t *tiffFile) layout() Layout {
	b := []byte("II")
	if t.width == bigTIFF {
		b = append(b, 43, 0, 8, 0, 0, 0) // version, bytes of an offset, 0
	} else {
		b = append(b, 42, 0)
	}
	b = t.width.append(b, uint64(t.directoryAt(0)))
	b = append(b, t.directory(0)...)
	b = append(b, make([]byte, t.poolStart()-len(b))...)
	b = append(b, t.pool...)
	b = append(b, make([]byte, int(t.dataStart())-len(b))...)

	l := Layout{Head: b, TailSize: t.tailSize()}
	if l.TailSize > 0 {
		l.Tail = t
	}
	return l
}

// ReadAt reads the tail. It computes only the directories that p covers.
func (t *tiffFile) ReadAt(p []byte, off int64) (int, error) {
	size := t.tailSize()
	if off < 0 || off >= size {
		return 0, io.EOF
	}
	var eof error
	if int64(len(p)) > size-off {
		p, eof = p[:size-off], io.EOF
	}
	clear(p)
	padding, stride := t.firstInTail()-t.dataEnd(), t.stride()
	for z := max(0, off-padding) / stride; z < int64(t.planes-1); z++ {
		at := padding + z*stride - off // of the directory, in p
		if at >= int64(len(p)) {
			break
		}
		d := t.directory(int(z) + 1)
		if at < 0 {
			d, at = d[min(-at, int64(len(d))):], 0
		}
		copy(p[at:], d)
	}
	return len(p), eof
}
