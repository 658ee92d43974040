package header

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
)

// Tags, by their numbers in TIFF 6.0.
const (
	tagNewSubfileType      = 254
	tagImageWidth          = 256
	tagImageLength         = 257
	tagBitsPerSample       = 258
	tagCompression         = 259
	tagPhotometric         = 262
	tagImageDescription    = 270
	tagStripOffsets        = 273
	tagSamplesPerPixel     = 277
	tagRowsPerStrip        = 278
	tagStripByteCounts     = 279
	tagXResolution         = 282
	tagYResolution         = 283
	tagPlanarConfiguration = 284
	tagResolutionUnit      = 296
	tagExtraSamples        = 338
	tagSampleFormat        = 339
)

// Field types, by their numbers in TIFF 6.0 and in the BigTIFF design.
const (
	typeASCII    = 2
	typeShort    = 3
	typeLong     = 4
	typeRational = 5
	typeLong8    = 16
)

// tiffWidth is how a classic TIFF and a BigTIFF differ.
type tiffWidth struct {
	header int    // bytes of the file header
	count  int    // bytes of the number of fields in a directory
	offset int    // bytes of an offset, a count of values, and a value kept in its field
	kind   uint16 // type of an offset
	limit  int64  // bytes that a file can have
}

var (
	classic = tiffWidth{header: 8, count: 2, offset: 4, kind: typeLong, limit: math.MaxUint32}
	bigTIFF = tiffWidth{header: 16, count: 8, offset: 8, kind: typeLong8, limit: math.MaxInt64 - 1}
)

// append appends v in so many bytes as an offset has.
func (w tiffWidth) append(b []byte, v uint64) []byte {
	if w.offset == 4 {
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// tiffField is one entry of a directory.
type tiffField struct {
	tag, kind uint16
	count     uint64
	value     uint64 // the values themselves if they fit an offset's bytes, else where they are
	pooled    bool   // value counts from the beginning of the pool
}

// field returns a field; values that do not fit it go to the pool.
func (t *tiff) field(tag, kind uint16, values ...uint64) tiffField {
	var data []byte
	for _, v := range values {
		switch kind {
		case typeShort:
			data = binary.LittleEndian.AppendUint16(data, uint16(v))
		case typeLong:
			data = binary.LittleEndian.AppendUint32(data, uint32(v))
		case typeRational: // the numerator is the low half
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
	f.value, f.pooled = t.keep(data), true
	return f
}

// text returns a field of text, which is in the pool; s ends with a zero byte.
func (t *tiff) text(tag uint16, s []byte) tiffField {
	return tiffField{tag, typeASCII, uint64(len(s)), t.keep(s), true}
}

// keep appends data to the pool and returns its place there, a multiple of 8.
func (t *tiff) keep(data []byte) uint64 {
	t.pool = append(t.pool, make([]byte, -len(t.pool)&7)...)
	t.pool = append(t.pool, data...)
	return uint64(len(t.pool) - len(data))
}

// strips returns how many strips a plane has.
func (t *tiff) strips() int { return (t.rows + t.stripRows - 1) / t.stripRows }

// directorySize returns the bytes of a directory of so many fields: their number,
// the fields, the offset of the next directory, and the strips of the plane where
// there is more than one.
func (t *tiff) directorySize(fields int) int {
	size := t.width.count + fields*(4+2*t.width.offset) + t.width.offset
	if t.strips() > 1 {
		size += 2 * t.strips() * t.width.offset
	}
	return size
}

// stride returns the distance between directories in the tail. Directories must
// begin at even offsets; ours begin at multiples of 16.
func (t *tiff) stride() int64 { return int64(roundUp(t.directorySize(len(t.shared)+2), 16)) }

// poolStart returns the offset of the pool, behind the first directory.
func (t *tiff) poolStart() int {
	return roundUp(t.width.header+t.directorySize(len(t.shared)+len(t.first)+2), 16)
}

// dataStart returns the offset of the first voxel.
func (t *tiff) dataStart() int64 { return int64(roundUp(t.poolStart()+len(t.pool), Align)) }

// dataEnd returns the offset behind the last voxel, where the tail begins.
func (t *tiff) dataEnd() int64 { return t.dataStart() + int64(t.planes)*t.planeBytes }

// firstInTail returns the offset of the second page's directory.
func (t *tiff) firstInTail() int64 { return (t.dataEnd() + 15) &^ 15 }

// directoryAt returns the offset of the directory of page z, 0 behind the last.
func (t *tiff) directoryAt(z int) int64 {
	switch z {
	case 0:
		return int64(t.width.header)
	case t.planes:
		return 0
	}
	return t.firstInTail() + int64(z-1)*t.stride()
}

// tailSize returns the bytes of the tail, padding before it included.
func (t *tiff) tailSize() int64 {
	if t.planes == 1 {
		return 0
	}
	return t.firstInTail() - t.dataEnd() + int64(t.planes-1)*t.stride()
}

// end returns the length of the whole file, or math.MaxInt64 if that is not enough.
func (t *tiff) end() int64 {
	const padding = 16
	around := t.dataStart() + padding + int64(t.planes-1)*t.stride()
	if int64(t.planes)*t.planeBytes > math.MaxInt64-around {
		return math.MaxInt64
	}
	return t.dataEnd() + t.tailSize()
}

// directory returns the directory of page z, to stand at directoryAt(z).
func (t *tiff) directory(z int) []byte {
	fields := slices.Clone(t.shared)
	if z == 0 {
		fields = append(fields, t.first...)
	}
	n := t.strips()
	size := t.directorySize(len(fields) + 2)
	plane := t.dataStart() + int64(z)*t.planeBytes
	offsets := tiffField{tagStripOffsets, t.width.kind, uint64(n), uint64(plane), false}
	counts := tiffField{tagStripByteCounts, t.width.kind, uint64(n), uint64(t.planeBytes), false}
	if n > 1 { // at the directory's end
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

// appendStrips appends the offset of every strip of a plane, then their lengths.
func (t *tiff) appendStrips(b []byte, plane int64) []byte {
	n := int64(t.strips())
	for i := range n {
		b = t.width.append(b, uint64(plane+i*t.stripBytes))
	}
	for i := range n {
		b = t.width.append(b, uint64(min(t.stripBytes, t.planeBytes-i*t.stripBytes)))
	}
	return b
}

// layout puts the parts together.
func (t *tiff) layout() Layout {
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

// ReadAt reads the tail: it computes just the directories that p touches.
func (t *tiff) ReadAt(p []byte, off int64) (int, error) {
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
