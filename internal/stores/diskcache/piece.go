package diskcache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

const (
	pageSize     = 4 << 10
	pagesInPiece = 512
	pieceSize    = pageSize * pagesInPiece // bytes of the object

	// The first page of a file has the header at its start and the checksums at its end.
	sumsOffset = pageSize - 4*pagesInPiece
	dataOffset = pageSize
)

// identity identifies an object in one version. It is a hash, so an identity can be part of a file name.
type identity [sha256.Size]byte

// identify returns the identity of an object of a bucket, for a reader.
func identify(bucket, reader string, o object.Object) identity {
	parts := []string{bucket + "/" + o.Key, o.Version}
	if reader != "" {
		parts = append(parts, reader)
	}
	b := make([]byte, 0, 512)
	for _, s := range parts { // the same object is in several buckets: of a dataset and of its layers
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(binary.LittleEndian.AppendUint64(b, uint64(o.Size)))
}

// pieceID identifies a piece of an object.
type pieceID struct {
	object identity
	n      int64 // from byte n·pieceSize of the object
}

// nameBytes is how many bytes of an identity are in a file name. The header has all of them.
const nameBytes = 16

// path returns the path of the piece below the directory of the pieces.
func (p pieceID) path() string {
	name := hex.EncodeToString(p.object[:nameBytes])
	return filepath.Join(name[:2], name+"-"+strconv.FormatInt(p.n, 16))
}

// isPieceName reports whether the base name of a file in directory dir is that of a piece. Other files are never
// removed.
func isPieceName(dir, name string) bool {
	hash, number, ok := strings.Cut(name, "-")
	if !ok || len(hash) != 2*nameBytes || !strings.HasPrefix(hash, dir) || strings.ToLower(name) != name {
		return false
	}
	_, badHash := hex.DecodeString(hash)
	n, badNumber := strconv.ParseInt(number, 16, 64)
	return badHash == nil && badNumber == nil && n >= 0
}

// header is the start of a piece's file. All numbers are little-endian.
//
//	0   "wkwfsdc1"
//	8   identity of the object
//	40  number of the piece
//	48  size of the object in bytes
//	56  0
//	60  CRC-32C of the bytes before
type header struct {
	id   pieceID
	size int64
}

const (
	magic      = "wkwfsdc1"
	headerSize = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (h header) append(b []byte) []byte {
	start := len(b)
	b = append(b, magic...)
	b = append(b, h.id.object[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.id.n))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.size))
	b = binary.LittleEndian.AppendUint32(b, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// errDamaged says that a file is not the piece that its name says.
var errDamaged = errors.New("damaged")

// check returns an error that wraps errDamaged if b does not start with the header.
func (h header) check(b []byte) error {
	if want := h.append(nil); len(b) < headerSize || string(b[:headerSize]) != string(want) {
		return fmt.Errorf("%w header: expected %x at byte offset 0, found %x", errDamaged, want,
			b[:min(len(b), headerSize)])
	}
	return nil
}

// sums are the checksums of the pages of a piece. 0 means that a page is absent.
type sums [pagesInPiece]uint32

// parseSums parses the checksums that end the first page of a file.
func parseSums(b []byte) *sums {
	var s sums
	for i := range s {
		s[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return &s
}

// sumOf returns the checksum of a page, which is not 0. The page is number n of the object.
func sumOf(id identity, n int64, page []byte) uint32 {
	var place [16]byte
	copy(place[:8], id[nameBytes:])
	binary.LittleEndian.PutUint64(place[8:], uint64(n))
	return max(1, crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, page))
}

// span is a half-open range of bytes of an object.
type span struct{ from, to int64 }

// pagesOf returns the span of the pages that have the bytes from off to end of an object of the given size.
func pagesOf(off, end, size int64) span { return widen(span{off, end}, pageSize, size) }

// widen widens a span to multiples of a unit, as far as the object has them.
func widen(s span, unit, size int64) span {
	s.from -= s.from % unit
	if rest := s.to % unit; rest > 0 {
		s.to += min(unit-rest, size-s.to)
	}
	return s
}

// add appends a span to others. It joins the last of them if they touch.
func add(spans []span, s span) []span {
	if n := len(spans); n > 0 && spans[n-1].to == s.from {
		spans[n-1].to = s.to
		return spans
	}
	return append(spans, s)
}
