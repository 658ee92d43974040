package zipfs

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// index is the directory of an archive: its bytes as they are stored, and where each entry starts in them, by the names
// of the entries. The memory is the length of the directory, and 4 bytes for each entry, which takes 47 bytes or more.
//
// The name of a directory ends with "/". Many archives have entries for files only: a directory is there if a name
// starts with it.
type index struct {
	stored []byte
	starts []uint32
	base   int64 // of the offsets, in the archive
	at     int64 // offset of the directory in the archive
}

// limits are numbers that only large archives reach.
type limits struct {
	directory int64 // the longest directory that is read, in bytes
	backslash bool  // names may have \ for /
}

// usual are the limits of an archive. An entry takes about 100 bytes.
var usual = limits{directory: 256 << 20}

// maxName is the length of the longest path of an entry, in bytes, as in the kernel.
const maxName = 4096

// Signatures and lengths, from APPNOTE.TXT 4.3.7, 4.3.12 and 4.3.14 to 4.3.16.
const (
	localSignature   = 0x04034b50
	localLength      = 30
	headerSignature  = 0x02014b50
	headerLength     = 46
	endSignature     = 0x06054b50
	endLength        = 22
	end64Signature   = 0x06064b50
	end64Length      = 56
	locatorSignature = 0x07064b50
	locatorLength    = 20
	maxComment       = 1<<16 - 1
)

// header is the header of an entry in the directory. APPNOTE.TXT 4.3.12.
type header []byte

func (h header) u16(at int) int    { return int(binary.LittleEndian.Uint16(h[at:])) }
func (h header) u32(at int) uint32 { return binary.LittleEndian.Uint32(h[at:]) }

// length is that of the header with its name, extra fields and comment.
func (h header) length() int { return headerLength + h.u16(28) + h.u16(30) + h.u16(32) }

// name is the path of the entry. That of a directory ends with "/".
func (h header) name() []byte { return h[headerLength : headerLength+h.u16(28)] }

// record is what the directory says about a file.
type record struct {
	*zip.FileHeader
	offset uint64 // of the local header, from the base
}

// record parses a header.
func (h header) record() (*record, error) {
	f := &zip.FileHeader{
		Name: string(h.name()), CreatorVersion: uint16(h.u16(4)), Flags: uint16(h.u16(8)), Method: uint16(h.u16(10)),
		CRC32: h.u32(16), ExternalAttrs: h.u32(38),
		CompressedSize64: uint64(h.u32(20)), UncompressedSize64: uint64(h.u32(24)),
	}
	e := &record{f, uint64(h.u32(42))}
	rest := h.zip64()
	for _, field := range []*uint64{&f.UncompressedSize64, &f.CompressedSize64, &e.offset} { // in the order of 4.5.3
		if *field != math.MaxUint32 {
			continue
		}
		if len(rest) < 8 {
			return nil, errors.New("expected a number of 64 bits in an extra field, found none")
		}
		*field, rest = binary.LittleEndian.Uint64(rest), rest[8:]
	}
	return e, nil
}

// zip64 returns the extra field with numbers of 64 bits, or nil.
func (h header) zip64() []byte {
	const id = 1
	at := headerLength + h.u16(28)
	for extra := h[at : at+h.u16(30)]; len(extra) >= 4; {
		n := min(4+extra.u16(2), len(extra))
		if extra.u16(0) == id {
			return extra[4:n]
		}
		extra = extra[n:]
	}
	return nil
}

// readIndex reads the directory of an archive of size bytes.
func readIndex(r io.ReaderAt, size int64, l limits) (*index, error) {
	end, err := readEnd(r, size)
	if err != nil {
		return nil, err
	}
	if end.length > l.directory {
		return nil, fmt.Errorf("expected at most %d bytes, found %d", l.directory, end.length)
	}
	x := &index{base: end.base, at: end.start, stored: make([]byte, end.length),
		starts: make([]uint32, 0, min(end.entries, uint64(end.length)/headerLength))}
	if err := readParts(r, x.stored, end.start); err != nil {
		return nil, err
	}
	for at := 0; at < len(x.stored); {
		h := header(x.stored[at:])
		if len(h) < headerLength || h.u32(0) != headerSignature || h.length() > len(h) {
			return nil, fmt.Errorf("byte %d: expected the header of an entry", end.start+int64(at))
		}
		if name := h.name(); l.backslash {
			for i, c := range name {
				if c == '\\' {
					name[i] = '/'
				}
			}
		}
		x.starts = append(x.starts, uint32(at))
		at += h.length()
	}
	if found := uint64(len(x.starts)); found != end.entries && (end.is64 || found&0xffff != end.entries) {
		return nil, fmt.Errorf("expected %d entries, found %d", end.entries, found)
	}
	slices.SortFunc(x.starts,
		func(a, b uint32) int { return bytes.Compare(header(x.stored[a:]).name(), header(x.stored[b:]).name()) })
	return x, nil
}

// partSize is the length of a part of a directory, in bytes. A store that answers late is asked for several at a time.
const partSize = 4 << 20

// readParts reads a directory in parts.
func readParts(r io.ReaderAt, directory []byte, at int64) error {
	f, ok := r.(fs.File)
	if !ok || len(directory) <= partSize {
		_, err := io.ReadFull(io.NewSectionReader(r, at, int64(len(directory))), directory)
		return err
	}
	var parts []vfs.Range
	for part := range slices.Chunk(directory, partSize) {
		parts = append(parts, vfs.Range{Off: at, P: part})
		at += int64(len(part))
	}
	vfs.ReadRanges(context.Background(), f, parts)
	for _, p := range parts {
		if p.Err != nil {
			return p.Err
		}
	}
	return nil
}

// ending is where a directory is.
type ending struct {
	entries       uint64
	start, length int64 // in the archive
	base          int64 // of the offsets
	is64          bool
}

// readEnd reads the end of the directory, which is at the end of the archive, before a comment.
func readEnd(r io.ReaderAt, size int64) (end ending, err error) {
	tail := make([]byte, min(size, endLength+maxComment))
	if _, err := io.ReadFull(io.NewSectionReader(r, size-int64(len(tail)), int64(len(tail))), tail); err != nil {
		return end, err
	}
	at := bytes.LastIndex(tail[:max(len(tail)-endLength+4, 0)], []byte("PK\x05\x06"))
	for at >= 0 && at+endLength+header(tail[at:]).u16(20) != len(tail) {
		at = bytes.LastIndex(tail[:at], []byte("PK\x05\x06"))
	}
	if at < 0 {
		return end, errors.New("no end of the directory: this is no zip archive")
	}
	h := header(tail[at:])
	ends := size - int64(len(tail)-at)
	entries, length, offset := uint64(h.u16(10)), uint64(h.u32(12)), uint64(h.u32(16))
	if entries == math.MaxUint16 || length == math.MaxUint32 || offset == math.MaxUint32 {
		h64, at64, err := readEnd64(r, ends)
		if err != nil {
			return end, err
		}
		if h64 != nil {
			end.is64, ends = true, at64
			entries, length, offset = binary.LittleEndian.Uint64(h64[32:]), binary.LittleEndian.Uint64(h64[40:]),
				binary.LittleEndian.Uint64(h64[48:])
		}
	}
	if length > uint64(ends) || offset > uint64(ends)-length {
		return end, fmt.Errorf("expected a directory in the %d bytes before its end, found %d bytes at byte %d", ends,
			length, offset)
	}
	end.entries, end.length = entries, int64(length)
	end.start = ends - end.length
	if end.base = end.start - int64(offset); end.base > 0 && isHeader(r, int64(offset)) {
		end.start, end.base = int64(offset), 0 // the directory does not end where its end starts
	}
	return end, nil
}

// readEnd64 returns the end of a directory with numbers of 64 bits, and where it is. Its locator lies before byte ends.
// It returns nil if there is none.
func readEnd64(r io.ReaderAt, ends int64) (h header, at int64, err error) {
	locator := make(header, locatorLength)
	if ends < locatorLength {
		return nil, 0, nil
	}
	if _, err := io.ReadFull(io.NewSectionReader(r, ends-locatorLength, locatorLength), locator); err != nil {
		return nil, 0, err
	}
	if locator.u32(0) != locatorSignature {
		return nil, 0, nil
	}
	start := binary.LittleEndian.Uint64(locator[8:])
	if ends -= locatorLength; ends < end64Length || start > uint64(ends-end64Length) {
		return nil, 0, fmt.Errorf("expected the end of the directory before byte %d, found it at byte %d", ends, start)
	}
	h = make(header, end64Length)
	if _, err := io.ReadFull(io.NewSectionReader(r, int64(start), end64Length), h); err != nil {
		return nil, 0, err
	}
	if h.u32(0) != end64Signature {
		return nil, 0, fmt.Errorf("byte %d: expected the end of the directory", start)
	}
	return h, int64(start), nil
}

// isHeader reports whether the header of an entry is at an offset.
func isHeader(r io.ReaderAt, at int64) bool {
	h := make(header, 4)
	_, err := io.ReadFull(io.NewSectionReader(r, at, 4), h)
	return err == nil && h.u32(0) == headerSignature
}

func (x *index) header(i int) header { return header(x.stored[x.starts[i]:]) }

// find returns the position of the first entry whose name is not less.
func (x *index) find(name string) int {
	return sort.Search(len(x.starts), func(i int) bool { return string(x.header(i).name()) >= name })
}

// has reports whether the entry at a position has a name that starts with a prefix.
func (x *index) has(i int, prefix string) bool {
	return i < len(x.starts) && bytes.HasPrefix(x.header(i).name(), []byte(prefix))
}

// file returns the file at a path, or nil.
func (x *index) file(name string) *record {
	i := x.find(name)
	if !x.has(i, name) || x.header(i).u16(28) != len(name) || strings.HasSuffix(name, "/") {
		return nil
	}
	e, err := x.header(i).record()
	if err != nil {
		return nil // check has seen it
	}
	return e
}

// isDir reports whether there is a directory.
func (x *index) isDir(name string) bool {
	return name == "." || x.has(x.find(name+"/"), name+"/")
}

// children yields the nodes in a directory, in the order of the archive's names.
func (x *index) children(dir string, yield func(*node) bool) {
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	for i := x.find(prefix); x.has(i, prefix); {
		name, _, isDir := strings.Cut(string(x.header(i).name()[len(prefix):]), "/")
		n := &node{name: name}
		switch {
		case isDir:
			i = x.find(prefix + name + string('/'+1)) // after all that is below
		case name == "": // the directory itself
			i++
			continue
		default:
			n.entry = x.file(prefix + name)
			i++
		}
		if !yield(n) {
			return
		}
	}
}

// check returns an error for an entry that cannot be in an archive, or that contradicts another one.
func (x *index) check(archive string) error {
	above := "" // of the entry before, with / at its end
	for i := range x.starts {
		h := x.header(i)
		if h.u16(28) > maxName {
			return broken(archive, h.name(), fmt.Sprintf("a path of at most %d bytes", maxName), fmt.Sprint(h.u16(28)))
		}
		name, isDir := strings.CutSuffix(string(h.name()), "/")
		switch {
		case !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0):
			return broken(archive, h.name(), "a path in the archive", "another")
		case !isDir && i > 0 && bytes.Equal(x.header(i-1).name(), h.name()):
			return broken(archive, h.name(), "each path once", "a second one")
		}
		if err := h.check(); err != nil && !isDir {
			return &volume.FormatError{File: archive, Part: part(h.name()), Offset: -1, Err: err}
		}
		dir := string(h.name()[:bytes.LastIndexByte(h.name(), '/')+1])
		if dir == above {
			continue // as that of the entry before
		}
		if file := x.fileAbove(dir, above); file >= 0 {
			return x.contradiction(archive, file, x.find(string(x.header(file).name())+"/"))
		}
		above = dir
	}
	return nil
}

// fileAbove returns the position of a file that has the name of a directory or of one above it, or -1. Those of checked
// are none. Both end with "/".
func (x *index) fileAbove(dir, checked string) int {
	for at, c := range dir {
		if c != '/' || strings.HasPrefix(checked, dir[:at+1]) {
			continue
		}
		if i := x.find(dir[:at]); i < len(x.starts) && string(x.header(i).name()) == dir[:at] {
			return i
		}
	}
	return -1
}

// check is record without its result.
func (h header) check() error {
	if h.u32(20) != math.MaxUint32 && h.u32(24) != math.MaxUint32 && h.u32(42) != math.MaxUint32 {
		return nil
	}
	_, err := h.record()
	return err
}

// contradiction returns the error for a file and an entry that needs a directory of its name.
func (x *index) contradiction(archive string, file, below int) error {
	name := x.header(below).name()
	if len(name) > x.header(file).u16(28)+1 {
		return broken(archive, name, "a directory above", fmt.Sprintf("the file %.200q", x.header(file).name()))
	}
	if x.starts[file] > x.starts[below] {
		name = x.header(file).name()
	}
	return broken(archive, name, "each path once", "a second one")
}

func broken[T string | []byte](archive string, name T, expected, found string) error {
	return &volume.FormatError{File: archive, Part: part(name), Offset: -1, Expected: expected, Found: found}
}

// part returns the name of an entry for errors.
func part[T string | []byte](name T) string { return fmt.Sprintf("zip entry %.200q", name) }
