package diskcache

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writePiece writes data from byte offset off of an object into a piece. It returns by how many bytes the cache has
// grown.
func (w *writer) writePiece(h header, data []byte, off int64) (grown int64, err error) {
	path := filepath.Join(w.cache.dir, h.id.path())
	f, created, err := w.access.openFile(path)
	if os.IsNotExist(err) {
		if err = w.access.mkdir(filepath.Dir(path)); err != nil {
			return 0, err
		}
		grown = dirCost
		f, created, err = w.access.openFile(path)
	}
	if err != nil {
		return grown, err
	}
	defer f.Close() // an error of a delayed write makes a checksum wrong
	if created {
		grown += nameCost
	}
	before, err := statFile(f)
	if err != nil {
		return grown, err
	}
	err = writePages(f, h, data, off)
	after, statErr := statFile(f)
	return grown + cost(after) - cost(before), errors.Join(err, statErr)
}

// writePages writes data from byte offset off of an object into the file of a piece: the data before their checksums.
func writePages(f *os.File, h header, data []byte, off int64) error {
	if err := writeHeader(f, h); err != nil {
		return err
	}
	start := h.id.n * pieceSize
	if _, err := f.WriteAt(data, dataOffset+off-start); err != nil {
		return err
	}
	var b []byte
	for n := off / pageSize; len(data) > 0; n++ {
		page := data[:min(pageSize, len(data))]
		b = binary.LittleEndian.AppendUint32(b, sumOf(h.id.object, n, page))
		data = data[len(page):]
	}
	_, err := f.WriteAt(b, sumsOffset+(off-start)/pageSize*4)
	return err
}

// writeHeader writes the header of a new piece. A file with another header is cut first.
func writeHeader(f *os.File, h header) error {
	var first [pageSize]byte
	n, err := f.ReadAt(first[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	if n == pageSize && h.check(first[:]) == nil {
		return nil
	}
	if n > 0 {
		if err := f.Truncate(0); err != nil {
			return err
		}
	}
	clear(first[:])
	h.append(first[:0])
	_, err = f.WriteAt(first[:], 0)
	return err
}
