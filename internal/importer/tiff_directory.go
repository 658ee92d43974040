package importer

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
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
	tagPredictor           = 317
	tagTileWidth           = 322
	tagSampleFormat        = 339
)

// tiffSizes are the bytes of a value of each field type, by the types' numbers.
var tiffSizes = [...]int64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}

// tiffReader reads the directories of a file, classic or BigTIFF.
type tiffReader struct {
	f     *inputFile
	order binary.ByteOrder
	big   bool // BigTIFF
}

// tiffEntry is a field of a directory.
type tiffEntry struct {
	kind  uint16
	count int64
	at    int64 // of the values, in the file
}

// tiffDirectory is one page.
type tiffDirectory struct {
	*tiffReader
	at      int64
	entries map[uint16]tiffEntry
}

// isTIFF reports whether the bytes begin a TIFF, classic or not, in either order.
func isTIFF(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	switch string(b[:4]) {
	case "II*\x00", "MM\x00*", "II+\x00", "MM\x00+":
		return true
	}
	return false
}

func (r *tiffReader) bad(field string, at int64, expected string, found any) error {
	return &FormatError{r.f.Name(), field, at, expected, fmt.Sprint(found)}
}

// bytes reads n bytes at an offset that the file says.
func (r *tiffReader) bytes(field string, at, n int64) ([]byte, error) {
	if at < 0 || n > r.f.size || at > r.f.size-n {
		return nil, r.bad(field, at, fmt.Sprintf("%d bytes in a file of %d", n, r.f.size), "their end")
	}
	b := make([]byte, n)
	if read, err := r.f.ReadAt(b, at); int64(read) < n {
		return nil, fmt.Errorf("%s: %s at byte %d: %w", r.f.Name(), field, at, noEOF(err))
	}
	return b, nil
}

// number reads the unsigned number that b is.
func (r *tiffReader) number(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(r.order.Uint16(b))
	case 4:
		return uint64(r.order.Uint32(b))
	}
	return r.order.Uint64(b)
}

// newTIFFReader reads the file header and returns the offset of the first directory.
func newTIFFReader(f *inputFile) (*tiffReader, int64, error) {
	r := &tiffReader{f: f, order: binary.LittleEndian}
	b, err := r.bytes("header", 0, 8)
	if err != nil {
		return nil, 0, err
	}
	if !isTIFF(b) {
		return nil, 0, r.bad("magic", 0, "that of a TIFF file", fmt.Sprintf("%q", b[:4]))
	}
	r.order = byteOrder(b[0] == 'M')
	if r.number(b[2:4]) == 42 {
		return r, int64(r.number(b[4:])), nil
	}
	r.big = true
	if size := r.number(b[4:6]); size != 8 {
		return nil, 0, r.bad("bytes of an offset", 4, "8", size)
	}
	b, err = r.bytes("header", 8, 8)
	return r, int64(r.number(b)), err
}

// directory reads the page at the offset, and returns the offset of the next; 0 for
// the last.
func (r *tiffReader) directory(at int64) (*tiffDirectory, int64, error) {
	counter, field, inline := int64(2), int64(12), int64(4)
	if r.big {
		counter, field, inline = 8, 20, 8
	}
	b, err := r.bytes("directory", at, counter)
	if err != nil {
		return nil, 0, err
	}
	n := r.number(b)
	if n == 0 || n > math.MaxUint16 {
		return nil, 0, r.bad("fields of the directory", at, "1 to 65535", n)
	}
	b, err = r.bytes("directory", at+counter, int64(n)*field+inline)
	if err != nil {
		return nil, 0, err
	}
	d := &tiffDirectory{tiffReader: r, at: at, entries: map[uint16]tiffEntry{}}
	for i := range int64(n) {
		e := b[i*field:][:field]
		tag, kind := uint16(r.number(e[:2])), uint16(r.number(e[2:4]))
		count := r.number(e[4 : 4+inline])
		if int(kind) >= len(tiffSizes) || tiffSizes[kind] == 0 {
			continue // a type of the future is to be skipped, TIFF 6.0 says
		}
		if count > uint64(r.f.size) {
			return nil, 0, r.bad(fmt.Sprintf("tag %d", tag), at, "a count of values within the file", count)
		}
		entry := tiffEntry{kind, int64(count), at + counter + i*field + 4 + inline}
		if entry.count*tiffSizes[kind] > inline {
			entry.at = int64(r.number(e[4+inline:]))
		}
		d.entries[tag] = entry
	}
	return d, int64(r.number(b[len(b)-int(inline):])), nil
}

// numbers reads all values of a field of whole numbers; nil where there is none.
func (d *tiffDirectory) numbers(tag uint16) ([]uint64, error) {
	e, ok := d.entries[tag]
	if !ok {
		return nil, nil
	}
	size := tiffSizes[e.kind]
	switch e.kind {
	case 1, 3, 4, 13, 16, 18:
	default:
		return nil, d.bad(fmt.Sprintf("type of tag %d", tag), d.at, "whole numbers", e.kind)
	}
	b, err := d.bytes(fmt.Sprintf("tag %d", tag), e.at, e.count*size)
	if err != nil {
		return nil, err
	}
	all := make([]uint64, e.count)
	for i := range all {
		all[i] = d.number(b[int64(i)*size:][:size])
	}
	return all, nil
}

// one reads a field of which there is one value, or several that are the same.
func (d *tiffDirectory) one(tag uint16, otherwise uint64) (uint64, error) {
	all, err := d.numbers(tag)
	if err != nil || len(all) == 0 {
		return otherwise, err
	}
	for _, v := range all {
		if v != all[0] {
			return 0, d.bad(fmt.Sprintf("tag %d", tag), d.at, "the same for all samples", all)
		}
	}
	return all[0], nil
}

// text reads a field of text.
func (d *tiffDirectory) text(tag uint16) string {
	e, ok := d.entries[tag]
	if !ok || e.kind != 2 || e.count > maxHeader {
		return ""
	}
	b, err := d.bytes("text", e.at, e.count)
	if err != nil {
		return ""
	}
	return string(b)
}

// rational reads a field that is a fraction; 0 where there is none.
func (d *tiffDirectory) rational(tag uint16) float64 {
	e, ok := d.entries[tag]
	if !ok || e.kind != 5 || e.count != 1 {
		return 0
	}
	b, err := d.bytes("fraction", e.at, 8)
	if err != nil || d.number(b[4:]) == 0 {
		return 0
	}
	return float64(d.number(b[:4])) / float64(d.number(b[4:]))
}

// tiffType returns the type of samples with so many bits, by their SampleFormat.
func tiffType(bits, format uint64) (volume.Type, bool) {
	kinds := map[uint64]string{1: "uint", 2: "int", 3: "float"}
	t, err := volume.ParseType(fmt.Sprint(kinds[format], bits))
	return t, err == nil
}
