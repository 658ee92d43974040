package arrayfile

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/volume"
)

// TestTIFFHalves: float16 values of strips and tiles become float32 values, with and without a predictor.
func TestTIFFHalves(t *testing.T) {
	const width, height = 5, 3
	var halves, want []byte
	for i := range 2 * width * height {
		halves = le.AppendUint16(halves, uint16(0x3c00+i)) // 1 + i / 1024
		want = le.AppendUint32(want, math.Float32bits(1+float32(i)/1024))
	}
	for _, f := range []tiffFields{
		{}, {rows: 2}, {rows: 2, compression: tiff.Deflate}, {tile: 16},
		{rows: 2, compression: tiff.Deflate, predictor: tiff.FloatDifferences},
	} {
		f.width, f.height, f.bits, f.format = width, height, 16, tiff.Float
		var pages [][][]byte
		for plane := range slices.Chunk(halves, 2*width*height) {
			chunks := slices.Collect(slices.Chunk(plane, 2*width*max(f.rows, 1)))
			switch {
			case f.tile > 0:
				chunks = tiles(plane, width, height, 2, f.tile)
			case f.rows == 0:
				chunks = [][]byte{plane}
			}
			for i, c := range chunks {
				if f.predictor != 0 {
					c = floatDifferences(c, width, 2)
				}
				if f.compression != 0 {
					c = deflated(c)
				}
				chunks[i] = c
			}
			pages = append(pages, chunks)
		}
		path := filepath.Join(t.TempDir(), "f.tif")
		write(t, path, tiffOf(f, pages...))
		a := mustOpen(t, path)
		if g := a.Grid; g.Type != volume.Float32 || g.Size != (volume.Vec{width, height, 2}) {
			t.Errorf("%+v: got %+v", f, g)
		}
		checkBoxes(t, a, boxes(volume.Vec{width, height, 2}), want, f)
	}
}
