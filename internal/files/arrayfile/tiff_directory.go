package arrayfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
)

// tiffReader reads the directories of a classic TIFF or BigTIFF.
type tiffReader struct {
	f     *file
	order binary.ByteOrder
	big   bool  // BigTIFF
	room  int64 // bytes of directories and fields that may still be read
}

// tiffEntry is a field of a directory.
type tiffEntry struct {
	kind  uint16
	count int64
	at    int64 // of the values, in the file
}

// tiffDirectory has the fields of one page.
type tiffDirectory struct {
	*tiffReader
	at      int64
	reduced bool // the page may be a smaller copy of another one
	entries map[uint16]tiffEntry
}

// isTIFF reports whether b starts with a header of a classic TIFF or BigTIFF, in either byte order.
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
	return invalid(r.f.Name(), field, at, expected, fmt.Sprint(found))
}

// Directories and fields do not overlap, so all of them together have at most the bytes of the file. Otherwise a small
// file could claim many pages of many strips. Some fields are read twice, so the limit is larger.
const (
	maxOverlap = 4
	minFile    = 4 << 10
)

// bytes reads n bytes of a field at an untrusted offset.
func (r *tiffReader) bytes(field string, at, n int64) ([]byte, error) {
	if at < 0 || n > r.f.size || at > r.f.size-n {
		return nil, r.bad(field, at, fmt.Sprintf("%d bytes in a file of %d", n, r.f.size), "the end of the file")
	}
	if r.room -= n; r.room < 0 {
		return nil, r.bad(field, at, fmt.Sprintf("directories and fields that do not overlap in a file of %d bytes",
			r.f.size), "some that do")
	}
	b := make([]byte, n)
	if read, err := r.f.ReadAt(b, at); int64(read) < n {
		return nil, unreadable(r.f.Name(), field, at, noEOF(err))
	}
	return b, nil
}

// number returns the unsigned number in b, of 1, 2, 4 or 8 bytes.
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

// newTIFFReader reads the header of a file. It returns the offset of the first directory.
func newTIFFReader(f *file) (*tiffReader, int64, error) {
	r := &tiffReader{f: f, order: binary.LittleEndian, room: maxOverlap * (f.size + minFile)}
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

// directory reads the directory at an offset. It returns the offset of the next directory, or 0 after the last.
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
		if tiff.TypeSize(kind) == 0 {
			continue // TIFF 6.0 demands that readers skip unknown types
		}
		if count > uint64(r.f.size) {
			return nil, 0, r.bad(fmt.Sprintf("tag %d", tag), at, "a count of values within the file", count)
		}
		entry := tiffEntry{kind, int64(count), at + counter + i*field + 4 + inline}
		if entry.count*int64(tiff.TypeSize(kind)) > inline {
			entry.at = int64(r.number(e[4+inline:]))
		}
		d.entries[tag] = entry
	}
	return d, int64(r.number(b[len(b)-int(inline):])), nil
}

// numbers reads the values of an integer field. It returns nil if the field does not exist.
func (d *tiffDirectory) numbers(tag uint16) ([]uint64, error) {
	e, ok := d.entries[tag]
	if !ok {
		return nil, nil
	}
	size := int64(tiff.TypeSize(e.kind))
	switch e.kind {
	case tiff.Byte, tiff.Short, tiff.Long, tiff.IFD, tiff.Long8, tiff.IFD8:
	default:
		return nil, d.bad(fmt.Sprintf("type of tag %d", tag), d.at, "integers", e.kind)
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

// single reads a field with one value, or several equal values. Without the field, it returns def.
func (d *tiffDirectory) single(tag uint16, def uint64) (uint64, error) {
	all, err := d.numbers(tag)
	if err != nil || len(all) == 0 {
		return def, err
	}
	for _, v := range all {
		if v != all[0] {
			return 0, d.bad(fmt.Sprintf("tag %d", tag), d.at, "the same for all samples",
				fmt.Sprintf("%d and %d", all[0], v))
		}
	}
	return all[0], nil
}

// maxDescription is the greatest length of a description in bytes. OME-XML has some hundred for each plane.
const maxDescription = 1 << 24

// text reads a text field. It returns "" if there is none.
func (d *tiffDirectory) text(tag uint16) string {
	e, ok := d.entries[tag]
	if !ok || e.kind != tiff.ASCII || e.count > maxDescription {
		return ""
	}
	b, err := d.bytes("text", e.at, e.count)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(b), "\x00")
}

// rational reads a fraction. It returns 0 if there is none.
func (d *tiffDirectory) rational(tag uint16) float64 {
	e, ok := d.entries[tag]
	if !ok || e.kind != tiff.Rational || e.count != 1 {
		return 0
	}
	b, err := d.bytes("fraction", e.at, 8)
	if err != nil || d.number(b[4:]) == 0 {
		return 0
	}
	return float64(d.number(b[:4])) / float64(d.number(b[4:]))
}
