package arrayfile

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/image/tiff/lzw"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/volume"
)

// maxChunk is the greatest size of a tile or a compressed strip when it is expanded, in bytes. Chunks are expanded as a
// whole.
const maxChunk = 1 << 28

// tiffRatio has the greatest number of bytes that a stored byte can stand for. A code of LZW has 9 to 12 bits and
// stands for up to 2^12 bytes. A block of zstd with one repeated byte has 4 bytes and stands for up to 2^17.
var tiffRatio = map[uint64]int64{
	tiff.Uncompressed: 1, tiff.PackBits: 64, tiff.Deflate: 1032, tiff.OldDeflate: 1032, tiff.LZW: 1 << 12,
	tiff.Zstd: 1 << 16,
}

func (p *tiffPage) decoded() bool { return p.tiled || p.packed || p.compression != tiff.Uncompressed }

// shape implements plane.
func (p *tiffPage) shape() volume.Grid {
	g := p.grid
	if p.half {
		g.Type = volume.Float32
	}
	return g
}

// readRows implements plane.
func (p *tiffPage) readRows(y0, y1 int, dst []byte) error {
	if !p.half {
		return p.readStored(y0, y1, dst)
	}
	if err := p.readStored(y0, y1, dst[len(dst)/2:]); err != nil {
		return err
	}
	widen(dst)
	return nil
}

// readStored is readRows with values of the stored type.
func (p *tiffPage) readStored(y0, y1 int, dst []byte) error {
	r, done, err := p.f.reader()
	if err != nil {
		return err
	}
	defer done()
	row := p.grid.Size[0] * p.grid.VoxelBytes()
	for y := y0; y < y1; {
		end := min(y1, (y/p.rows+1)*p.rows)
		if err := p.readBand(r, y, end, dst[(y-y0)*row:(end-y0)*row]); err != nil {
			return err
		}
		y = end
	}
	return nil
}

// readBand reads rows y0 ≤ y < y1, which lie in one row of chunks.
func (p *tiffPage) readBand(r io.ReaderAt, y0, y1 int, dst []byte) error {
	row := p.grid.Size[0] * p.grid.VoxelBytes()
	band := y0 / p.rows
	if !p.tiled {
		skip := (y0 - band*p.rows) * row
		if p.compression == tiff.Uncompressed && !p.packed {
			return p.readPlain(r, band, skip, dst)
		}
		if int64(len(dst)) == p.chunkBytes(band) {
			return p.expand(r, band, dst)
		}
	}
	tile := p.width * p.grid.VoxelBytes()
	for i := range p.across() {
		chunk := scratch(int(p.chunkBytes(band*p.across() + i)))
		if err := p.expand(r, band*p.across()+i, chunk); err != nil {
			recycle(chunk)
			return err
		}
		n := min(tile, row-i*tile)
		for y := y0; y < y1; y++ {
			copy(dst[(y-y0)*row+i*tile:][:n], chunk[(y-band*p.rows)*tile:])
		}
		recycle(chunk)
	}
	return nil
}

// readBox implements plane. Of a page of tiles, it decodes only those that have pixels of the box.
func (p *tiffPage) readBox(box volume.Box, dst []byte) error {
	if !p.tiled || p.half {
		return readColumns(p, box, dst)
	}
	return p.readTiles(box, dst)
}

func (p *tiffPage) readTiles(box volume.Box, dst []byte) error {
	r, done, err := p.f.reader()
	if err != nil {
		return err
	}
	defer done()
	voxel := p.grid.VoxelBytes()
	row, tile := box.Size()[0]*voxel, p.width*voxel
	chunk := scratch(int(p.chunkBytes(0)))
	defer recycle(chunk)
	for band := box.Min[1] / p.rows; band*p.rows < box.Max[1]; band++ {
		for i := box.Min[0] / p.width; i*p.width < box.Max[0]; i++ {
			if err := p.expand(r, band*p.across()+i, chunk); err != nil {
				return err
			}
			x0, x1 := max(box.Min[0], i*p.width), min(box.Max[0], (i+1)*p.width)
			for y := max(box.Min[1], band*p.rows); y < min(box.Max[1], (band+1)*p.rows); y++ {
				from := chunk[(y-band*p.rows)*tile+(x0-i*p.width)*voxel:]
				copy(dst[(y-box.Min[1])*row+(x0-box.Min[0])*voxel:][:(x1-x0)*voxel], from)
			}
		}
	}
	return nil
}

// readPlain reads a part of a chunk without compression.
func (p *tiffPage) readPlain(r io.ReaderAt, i, skip int, dst []byte) error {
	if n, err := r.ReadAt(dst, int64(p.offsets[i])+int64(skip)); n < len(dst) {
		return p.broken(i, noEOF(err))
	}
	p.toLittleEndian(dst)
	return nil
}

// expand reads chunk i into dst, which has the size of the chunk.
func (p *tiffPage) expand(r io.ReaderAt, i int, dst []byte) error {
	if p.packed {
		bits := scratch(int(p.plainBytes(i)))
		defer recycle(bits)
		if err := p.decode(r, i, bits); err != nil {
			return err
		}
		unpackRows(dst, bits, p.width)
		return nil
	}
	return p.decode(r, i, dst)
}

// decode reads chunk i into dst, which has its plain bytes.
func (p *tiffPage) decode(r io.ReaderAt, i int, dst []byte) error {
	if p.compression == tiff.Uncompressed {
		return p.readPlain(r, i, 0, dst)
	}
	// Compression may make a chunk longer, but not much. What follows is not read.
	stored := scratch(int(min(p.counts[i], 2*uint64(len(dst))+1<<16)))
	defer recycle(stored)
	if n, err := r.ReadAt(stored, int64(p.offsets[i])); n < len(stored) {
		return p.broken(i, noEOF(err))
	}
	if n, err := p.decompress(dst, stored); err != nil {
		return p.broken(i, fmt.Errorf("expected %d bytes, found %d: %w", len(dst), n, noEOF(err)))
	}
	row := p.width * p.grid.VoxelBytes()
	switch p.predictor {
	case tiff.FloatDifferences:
		undoFloats(dst, row, p.grid)
	case tiff.Differences:
		p.toLittleEndian(dst)
		undoDifferences(dst, row, p.grid)
	default:
		p.toLittleEndian(dst)
	}
	return nil
}

func (p *tiffPage) broken(i int, err error) error {
	return unreadable(p.f.Name(), p.noun(), int64(p.offsets[i]), err)
}

func (p *tiffPage) toLittleEndian(b []byte) {
	if p.order == byteOrder(true) {
		swap(b, p.grid.Type.Size())
	}
}

// decompress fills dst. It returns the number of bytes that it could write.
func (p *tiffPage) decompress(dst, stored []byte) (int, error) {
	switch r := bytes.NewReader(stored); p.compression {
	case tiff.PackBits:
		return unpackBits(dst, stored)
	case tiff.LZW:
		plain := lzw.NewReader(r, lzw.MSB, 8)
		defer plain.Close()
		return io.ReadFull(plain, dst)
	case tiff.Zstd:
		plain := zstds.Get().(*zstd.Decoder)
		defer zstds.Put(plain)
		if err := plain.Reset(r); err != nil {
			return 0, err
		}
		return readChecked(plain, dst)
	default:
		plain, ok := zlibs.Get().(io.ReadCloser)
		var err error
		if ok {
			err = plain.(zlib.Resetter).Reset(r, nil)
		} else {
			plain, err = zlib.NewReader(r)
		}
		if err != nil {
			return 0, err
		}
		defer zlibs.Put(plain)
		return readChecked(plain, dst)
	}
}

// readChecked fills dst, and goes on to the checksum after it. A chunk may have more bytes than its rows, and the
// checksum may be missing.
func readChecked(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err != nil {
		return n, err
	}
	if _, err := r.Read(make([]byte, 1)); err != io.EOF && err != io.ErrUnexpectedEOF {
		return n, err
	}
	return n, nil
}

// zlibs has readers that can be used again: each has 40 KiB of tables.
var zlibs sync.Pool

var zstds = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxChunk))
	if err != nil {
		panic(err) // not with these options
	}
	return d
}}

// unpackBits decodes PackBits (TIFF 6.0, section 9): n ≥ 0 is followed by n + 1 bytes, n > −128 by one byte that stands
// for 1 − n.
func unpackBits(dst, src []byte) (at int, err error) {
	for at < len(dst) {
		if len(src) < 2 {
			return at, io.EOF
		}
		n := int(int8(src[0]))
		src = src[1:]
		switch {
		case n >= 0:
			copied := copy(dst[at:], src[:min(n+1, len(src))])
			at, src = at+copied, src[min(n+1, len(src)):]
		case n > -128:
			run := dst[at:min(at+1-n, len(dst))]
			for i := range run {
				run[i] = src[0]
			}
			at, src = at+len(run), src[1:]
		}
	}
	return at, nil
}
