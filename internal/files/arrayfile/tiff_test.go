package arrayfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// tiffFields describes the page of a TIFF that tiffOf writes. A tile of 0 means strips. Zeros have the values of a page
// of uint8.
type tiffFields struct {
	width, height, rows, tile          int
	bits, compression, predictor, kind uint16
	format, photometric, samples       uint16
	orientation, fill, depth           uint16
	resolution                         uint32 // pixels per unit
	description                        string
}

// tiffOf returns a little-endian TIFF with one page for each n of the chunks.
func tiffOf(f tiffFields, pages ...[][]byte) []byte {
	or := func(v, def uint16) uint32 { return uint32(cmp.Or(v, def)) }
	b := []byte("II*\x00\x00\x00\x00\x00")
	link := 4
	for _, chunks := range pages {
		var offsets, counts []byte
		for _, c := range chunks {
			offsets, counts = le.AppendUint32(offsets, uint32(len(b))), le.AppendUint32(counts, uint32(len(c)))
			b = append(b, c...)
		}
		type field struct {
			tag, kind uint16
			count     int
			value     uint32
		}
		table := func(tag uint16, values []byte) field {
			if len(values) == 4 {
				return field{tag, tiff.Long, 1, le.Uint32(values)}
			}
			b = append(b, values...)
			return field{tag, tiff.Long, len(values) / 4, uint32(len(b) - len(values))}
		}
		fields := []field{
			{tiff.TagNewSubfileType, tiff.Long, 1, uint32(f.kind)}, {tiff.TagImageWidth, tiff.Long, 1, uint32(f.width)},
			{tiff.TagImageLength, tiff.Long, 1, uint32(f.height)},
			{tiff.TagBitsPerSample, tiff.Short, 1, or(f.bits, 8)},
			{tiff.TagCompression, tiff.Short, 1, or(f.compression, tiff.Uncompressed)},
			{tiff.TagPhotometric, tiff.Short, 1, or(f.photometric, tiff.BlackIsZero)},
			{tiff.TagSamplesPerPixel, tiff.Short, 1, or(f.samples, 1)},
			{tiff.TagPredictor, tiff.Short, 1, or(f.predictor, 1)},
			{tiff.TagSampleFormat, tiff.Short, 1, or(f.format, tiff.Unsigned)},
			{tiff.TagOrientation, tiff.Short, 1, or(f.orientation, 1)},
			{tiff.TagFillOrder, tiff.Short, 1, or(f.fill, 1)},
			{tiff.TagImageDepth, tiff.Short, 1, or(f.depth, 1)},
		}
		if f.tile > 0 {
			fields = append(fields, field{tiff.TagTileWidth, tiff.Long, 1, uint32(f.tile)},
				field{tiff.TagTileLength, tiff.Long, 1, uint32(f.tile)},
				table(tiff.TagTileOffsets, offsets), table(tiff.TagTileByteCounts, counts))
		} else {
			fields = append(fields, field{tiff.TagRowsPerStrip, tiff.Long, 1, uint32(cmp.Or(f.rows, f.height))},
				table(tiff.TagStripOffsets, offsets), table(tiff.TagStripByteCounts, counts))
		}
		if f.resolution > 0 {
			b = le.AppendUint32(le.AppendUint32(b, f.resolution), 1)
			fields = append(fields, field{tiff.TagXResolution, tiff.Rational, 1, uint32(len(b) - 8)},
				field{tiff.TagYResolution, tiff.Rational, 1, uint32(len(b) - 8)})
		}
		if f.description != "" {
			b = append(b, f.description+"\x00"...)
			fields = append(fields, field{tiff.TagImageDescription, tiff.ASCII, len(f.description) + 1,
				uint32(len(b) - len(f.description) - 1)})
		}
		le.PutUint32(b[link:], uint32(len(b)))
		b = le.AppendUint16(b, uint16(len(fields)))
		for _, f := range fields {
			b = le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(b, f.tag), f.kind), uint32(f.count)),
				f.value)
		}
		link = len(b)
		b = le.AppendUint32(b, 0)
	}
	return b
}

// packBits encodes with runs of one byte, and literals.
func packBits(b []byte) (out []byte) {
	for len(b) > 0 {
		n := 1
		for n < min(len(b), 128) && b[n] == b[0] {
			n++
		}
		if n > 1 {
			out = append(out, byte(1-n), b[0])
		} else {
			out = append(out, 128, 0, b[0]) // −128 does nothing
		}
		b = b[n:]
	}
	return out
}

func zstded(b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(b, nil)
}

// tiles cuts a plane into tiles of side pixels. Those at the far edges are padded.
func tiles(plane []byte, width, height, voxel, side int) (all [][]byte) {
	for y0 := 0; y0 < height; y0 += side {
		for x0 := 0; x0 < width; x0 += side {
			tile := bytes.Repeat([]byte{0xEE}, side*side*voxel)
			for y := y0; y < min(height, y0+side); y++ {
				copy(tile[(y-y0)*side*voxel:], plane[(y*width+x0)*voxel:(y*width+min(width, x0+side))*voxel])
			}
			all = append(all, tile)
		}
	}
	return all
}

// floatDifferences applies predictor 3 to rows of n samples.
func floatDifferences(b []byte, n, size int) []byte {
	var out []byte
	for line := range slices.Chunk(b, n*size) {
		row := make([]byte, n*size)
		for i := range n {
			for j := range size {
				row[j*n+i] = line[i*size+size-1-j]
			}
		}
		for i := len(row) - 1; i > 0; i-- {
			row[i] -= row[i-1]
		}
		out = append(out, row...)
	}
	return out
}

// TestTIFFChunks reads every kind of chunk with every compression, and boxes of them.
func TestTIFFChunks(t *testing.T) {
	const width, height = 37, 21
	compressions := map[uint16]func([]byte) []byte{
		tiff.Uncompressed: func(b []byte) []byte { return b }, tiff.PackBits: packBits, tiff.Deflate: deflated,
		tiff.Zstd: zstded,
	}
	for compression, compress := range compressions {
		for _, f := range []tiffFields{
			{tile: 16}, {tile: 64}, {rows: 1}, {rows: 8}, {rows: height},
			{tile: 16, bits: 16, samples: 3, photometric: tiff.RGB}, {rows: 5, bits: 32, format: tiff.Float},
			{rows: 5, bits: 64, format: tiff.Signed},
		} {
			f.width, f.height, f.compression = width, height, compression
			g := volume.Grid{Size: volume.Vec{width, height, 2}, Block: volume.Cube(1),
				Channels: max(1, int(f.samples))}
			g.Type, _ = tiff.ParseSampleFormat(uint64(max(1, f.format)), uint64(max(8, f.bits)))
			want := voxeltest.Pattern(g)
			var pages [][][]byte
			for plane := range slices.Chunk(want, len(want)/2) {
				var chunks [][]byte
				if f.tile > 0 {
					chunks = tiles(plane, width, height, g.VoxelBytes(), f.tile)
				} else {
					chunks = slices.Collect(slices.Chunk(plane, f.rows*width*g.VoxelBytes()))
				}
				for i, c := range chunks {
					chunks[i] = compress(c)
				}
				pages = append(pages, chunks)
			}
			path := filepath.Join(t.TempDir(), "f.tif")
			write(t, path, tiffOf(f, pages...))
			a := mustOpen(t, path)
			if a.Grid != g || a.WholePlanes() != (compression != tiff.Uncompressed || f.tile > 0) {
				t.Errorf("%+v: got %+v, whole planes %v", f, a.Grid, a.WholePlanes())
			}
			checkBoxes(t, a, boxes(volume.Vec{width, height, 2}), want, f)
		}
	}
}

// TestPredictors undoes both predictors for all sizes of samples.
func TestPredictors(t *testing.T) {
	for _, bits := range []uint16{32, 64} {
		size := int(bits / 8)
		b := voxeltest.Pattern(volume.Grid{Size: volume.Vec{6, 4, 1}, Type: volume.Uint8, Channels: size})
		f := tiffFields{width: 6, height: 4, bits: bits, format: tiff.Float, compression: tiff.Deflate,
			predictor: tiff.FloatDifferences}
		path := filepath.Join(t.TempDir(), "f.tif")
		write(t, path, tiffOf(f, [][]byte{deflated(floatDifferences(b, 6, size))}))
		if got := voxelsOf(t, mustOpen(t, path)); !bytes.Equal(got, b) {
			t.Errorf("floats of %d bits: got % x, want % x", bits, got, b)
		}
	}
	for _, bits := range []uint16{8, 16, 32, 64} {
		for _, samples := range []int{1, 3} {
			size := int(bits / 8)
			g := volume.Grid{Size: volume.Vec{6, 4, 1}, Type: volume.Uint8, Channels: size * samples}
			b := voxeltest.Pattern(g)
			stored := slices.Clone(b)
			for row := range slices.Chunk(stored, 6*size*samples) {
				for i := len(row) - size; i >= size*samples; i -= size {
					v := number(row[i:][:size]) - number(row[i-size*samples:][:size])
					copy(row[i:][:size], binary.LittleEndian.AppendUint64(nil, v))
				}
			}
			f := tiffFields{width: 6, height: 4, bits: bits, samples: uint16(samples), compression: tiff.Zstd,
				predictor: tiff.Differences}
			path := filepath.Join(t.TempDir(), "f.tif")
			write(t, path, tiffOf(f, [][]byte{zstded(stored)}))
			if got := voxelsOf(t, mustOpen(t, path)); !bytes.Equal(got, b) {
				t.Errorf("%d × %d bits: got % x, want % x", samples, bits, got, b)
			}
		}
	}
}

// number returns a little-endian number of up to 8 bytes.
func number(b []byte) (v uint64) {
	for i, each := range b {
		v |= uint64(each) << (8 * i)
	}
	return v
}

// TestTIFFDescriptions: ImageJ, OME and tifffile say how pages are arranged, and the size of voxels.
func TestTIFFDescriptions(t *testing.T) {
	page := func(v ...byte) [][]byte { return [][]byte{v} }
	const ome = `<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels `
	const end = `/></Image></OME>`
	for name, test := range map[string]struct {
		description string
		pages       [][][]byte
		tail        []byte
		want        []byte
		size        volume.Vec
		channels    int
		spacing     [3]float64
		err         string
	}{
		"ImageJ channels": {"ImageJ=1.5\nimages=4\nchannels=2\nslices=2\n",
			[][][]byte{page(1, 2), page(3, 4), page(5, 6), page(7, 8)}, nil, []byte{1, 3, 2, 4, 5, 7, 6, 8},
			volume.Vec{2, 1, 2}, 2, [3]float64{}, ""},
		"ImageJ frames": {"ImageJ=1.5\nimages=2\nframes=2\n", [][][]byte{page(1, 2), page(3, 4)}, nil,
			[]byte{1, 2, 3, 4}, volume.Vec{2, 1, 2}, 1, [3]float64{}, ""},
		"ImageJ film": {"ImageJ=1.5\nimages=4\nframes=2\nslices=2\n", [][][]byte{page(1, 2), page(3, 4)},
			nil, nil, volume.Vec{}, 0, [3]float64{}, "frames in the description"},
		"ImageJ odd": {"ImageJ=1.5\nchannels=2\n", [][][]byte{page(1, 2)}, nil, nil, volume.Vec{}, 0,
			[3]float64{}, "channels in the description"},
		"ImageJ of one page": {"ImageJ=1.5\nimages=3\nslices=3\n", [][][]byte{page(1, 2, 3, 4, 5, 6)}, nil,
			[]byte{1, 2, 3, 4, 5, 6}, volume.Vec{2, 1, 3}, 1, [3]float64{}, ""},
		"ImageJ beyond": {"ImageJ=1.5\nimages=99999\n", [][][]byte{page(1, 2)}, nil, nil, volume.Vec{}, 0,
			[3]float64{}, "images in the description"},
		"ImageJ in microns": {"ImageJ=1.5\nunit=\\u00B5m\nspacing=0.03\n", [][][]byte{page(1, 2)}, nil,
			[]byte{1, 2}, volume.Vec{2, 1, 1}, 1, [3]float64{8, 8, 30}, ""},
		"tifffile": {`{"shape": [2, 1, 2]}`, [][][]byte{page(1, 2), page(3, 4)}, nil,
			[]byte{1, 2, 3, 4}, volume.Vec{2, 1, 2}, 1, [3]float64{}, ""},
		"tifffile of one page": {`{"truncated": true, "shape": [3, 1, 2]}`, [][][]byte{page(1, 2, 3, 4, 5, 6)}, nil,
			[]byte{1, 2, 3, 4, 5, 6}, volume.Vec{2, 1, 3}, 1, [3]float64{}, ""},
		"tifffile beyond": {`{"truncated": true, "shape": [99999, 1, 2]}`, [][][]byte{page(1, 2)}, nil, nil,
			volume.Vec{}, 0, [3]float64{}, "images in the description"},
		"tifffile CZYX": {`{"axes": "CZYX", "shape": [2, 2, 1, 2]}`,
			[][][]byte{page(1, 2), page(3, 4), page(5, 6), page(7, 8)}, nil, []byte{1, 5, 2, 6, 3, 7, 4, 8},
			volume.Vec{2, 1, 2}, 2, [3]float64{}, ""},
		"tifffile ZCYX": {`{"axes": "ZCYX", "shape": [2, 2, 1, 2]}`,
			[][][]byte{page(1, 2), page(3, 4), page(5, 6), page(7, 8)}, nil, []byte{1, 3, 2, 4, 5, 7, 6, 8},
			volume.Vec{2, 1, 2}, 2, [3]float64{}, ""},
		"tifffile CYX": {`{"axes": "CYX", "shape": [2, 1, 2]}`, [][][]byte{page(1, 2), page(3, 4)}, nil,
			[]byte{1, 3, 2, 4}, volume.Vec{2, 1, 1}, 2, [3]float64{}, ""},
		"tifffile frames": {`{"axes": "TYX", "shape": [2, 1, 2]}`, [][][]byte{page(1, 2), page(3, 4)}, nil,
			[]byte{1, 2, 3, 4}, volume.Vec{2, 1, 2}, 1, [3]float64{}, ""},
		"tifffile film": {`{"axes": "TZYX", "shape": [2, 2, 1, 2]}`,
			[][][]byte{page(1, 2), page(3, 4), page(5, 6), page(7, 8)}, nil, nil, volume.Vec{}, 0, [3]float64{},
			"points in time: expected one, such as t0000"},
		"tifffile axes, as frames": {`{"shape": [2, 2, 1, 2]}`, [][][]byte{page(1, 2), page(3, 4), page(5, 6),
			page(7, 8)}, nil, []byte{1, 2, 3, 4, 5, 6, 7, 8}, volume.Vec{2, 1, 4}, 1, [3]float64{}, ""},
		"tifffile, edited": {`{"axes": "CZYX", "shape": [2, 2, 1, 2]}`, [][][]byte{page(1, 2), page(3, 4)}, nil,
			[]byte{1, 2, 3, 4}, volume.Vec{2, 1, 2}, 1, [3]float64{}, ""},
		"tifffile, odd": {`{"truncated": true, "shape": [3, 1, 3]}`, [][][]byte{page(1, 2)}, nil,
			[]byte{1, 2}, volume.Vec{2, 1, 1}, 1, [3]float64{}, ""},
		"tifffile, overflow": {`{"truncated": true, "shape": [4294967296, 4294967296, 1, 2]}`,
			[][][]byte{page(1, 2)}, nil, []byte{1, 2}, volume.Vec{2, 1, 1}, 1, [3]float64{}, ""},
		"OME": {ome +
			`DimensionOrder="XYZCT" SizeC="2" SizeT="1" SizeZ="2" PhysicalSizeX="0.1" PhysicalSizeY="5" PhysicalSizeYUnit="nm" PhysicalSizeZ="3" PhysicalSizeZUnit="pixel"` + end, [][][]byte{page(1, 2), page(3, 4), page(5, 6), page(7, 8)}, nil, []byte{1, 5, 2, 6, 3, 7, 4, 8},
			volume.Vec{2, 1, 2}, 2, [3]float64{100, 5, 0}, ""},
		"OME, channels first": {ome + `DimensionOrder="XYCZT" SizeC="2" SizeT="1" SizeZ="1"` + end,
			[][][]byte{page(1, 2), page(3, 4)}, nil, []byte{1, 3, 2, 4}, volume.Vec{2, 1, 1}, 2, [3]float64{}, ""},
		"OME film": {ome + `SizeC="1" SizeT="2" SizeZ="1"` + end, [][][]byte{page(1, 2), page(3, 4)},
			nil, nil, volume.Vec{}, 0, [3]float64{}, "points in time: expected one, such as t0000"},
		"OME in files": {ome + `SizeC="1" SizeT="1" SizeZ="9"` + end, [][][]byte{page(1, 2)}, nil, nil,
			volume.Vec{}, 0, [3]float64{}, "all of 9 planes of 1 channels at 1 times in its files, found 1 pages"},
		"OME in disorder": {ome +
			`SizeC="1" SizeT="1" SizeZ="2"><TiffData IFD="0" FirstZ="1"/></Pixels></Image></OME>`,
			[][][]byte{page(1, 2), page(3, 4)}, nil, nil, volume.Vec{}, 0, [3]float64{}, "TiffData"},
		"OME without XML": {"<OME", [][][]byte{page(1, 2)}, nil, nil, volume.Vec{}, 0, [3]float64{},
			"OME-XML"},
		"OME twice": {"<OME><Image/><Image/></OME>", [][][]byte{page(1, 2)}, nil, nil, volume.Vec{}, 0,
			[3]float64{}, "expected one image, found 2"},
	} {
		path := filepath.Join(t.TempDir(), "f.tif")
		write(t, path, tiffOf(tiffFields{width: 2, height: 1, description: test.description, resolution: 125},
			test.pages...))
		a, err := Open(path)
		if err != nil {
			if test.err == "" || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: got %v, want %q", name, err, test.err)
			}
			continue
		}
		defer a.Close()
		if test.err != "" || a.Grid.Size != test.size || a.Grid.Channels != test.channels ||
			a.Grid.Spacing != test.spacing {
			t.Errorf("%s: got %+v", name, a.Grid)
			continue
		}
		if got := voxelsOf(t, a); !bytes.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
		if (len(a.Warnings) > 0) != strings.HasSuffix(name, "frames") {
			t.Errorf("%s: warnings %v", name, a.Warnings)
		}
	}
}

// TestTIFFTimes: all planes of a point in time follow each other, with the channels of each time joined, in whatever
// order a file of OME has them. Other descriptions of times that are not slowest are refused.
func TestTIFFTimes(t *testing.T) {
	const ome = `<OME><Image><Pixels SizeT="2" SizeC="2" SizeZ="1" DimensionOrder=`
	const end = `/></Image></OME>`
	const end2 = `/></Pixels></Image></OME>`
	pages := [][][]byte{{{1, 2}}, {{3, 4}}, {{5, 6}}, {{7, 8}}}
	for description, want := range map[string][]byte{
		"ImageJ=1.5\nimages=4\nchannels=2\nframes=2\n": {1, 3, 2, 4, 5, 7, 6, 8},
		ome + `"XYZCT"` + end:                          {1, 3, 2, 4, 5, 7, 6, 8},
		ome + `"XYCZT"` + end:                          {1, 3, 2, 4, 5, 7, 6, 8},
		`{"axes": "TCYX", "shape": [2, 2, 1, 2]}`:      {1, 3, 2, 4, 5, 7, 6, 8},
		`{"axes": "TZYX", "shape": [2, 2, 1, 2]}`:      {1, 2, 3, 4, 5, 6, 7, 8},
		`{"axes": "CTYX", "shape": [2, 2, 1, 2]}`:      nil,
		ome + `"XYCTZ"` + end:                          {1, 3, 2, 4, 5, 7, 6, 8},
		ome + `"XYTCZ"` + end:                          {1, 5, 2, 6, 3, 7, 4, 8},
		ome + `"XYTTZ"` + end:                          nil,
		ome + `"XYCZ"` + end:                           nil,
		ome + `"XYCZT"><TiffData IFD="0"` + end2:       {1, 3, 2, 4, 5, 7, 6, 8},
		ome + `"XYCZT"><TiffData IFD="3" PlaneCount="1"/><TiffData FirstC="1" IFD="0" PlaneCount="3"` + end2: {7, 1, 8,
			2, 3, 5, 4, 6},
		ome + `"XYCZT"><TiffData IFD="1"/><TiffData FirstC="1" IFD="0"` + end2:     nil,
		ome + `"XYCZT"><TiffData IFD="0" PlaneCount="4"/><TiffData IFD="0"` + end2: nil,
		ome + `"XYCZT"><TiffData IFD="0" PlaneCount="5"` + end2:                    nil,
		ome + `"XYCZT"><TiffData IFD="-1" PlaneCount="4"` + end2:                   nil,
		ome + `"XYCZT"><TiffData FirstT="2"` + end2:                                nil,
		`<OME><Image><Pixels SizeT="9223372036854775807" SizeC="2"` + end:          nil,
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "f.tif"), tiffOf(tiffFields{width: 2, height: 1, description: description},
			pages...))
		a, err := OpenFS(os.DirFS(dir), "f.tif")
		if err != nil {
			if want != nil {
				t.Errorf("%s: %v", description, err)
			}
			continue
		}
		defer a.Close()
		if got := voxelsOf(t, a); a.Times != 2 || !bytes.Equal(got, want) {
			t.Errorf("%s: got %d times, %v, want %v", description, a.Times, got, want)
		}
	}
}

// TestTIFFKinds: a palette gives labels, smaller copies are left out, and what is not supported is refused.
func TestTIFFKinds(t *testing.T) {
	two := tiffOf(tiffFields{width: 2, height: 1, photometric: tiff.Palette}, [][]byte{{1, 2}}, [][]byte{{3, 4}})
	second := int(le.Uint32(two[4:]))
	second = int(le.Uint32(two[second+2+15*12:]))
	le.PutUint32(two[second+2+8:], tiff.Reduced)
	path := filepath.Join(t.TempDir(), "f.tif")
	write(t, path, two)
	if a := mustOpen(t, path); a.Grid.Size != (volume.Vec{2, 1, 1}) ||
		a.Labels != (Labels{Segmentation, "palette of the TIFF"}) || len(a.Warnings) != 1 {
		t.Errorf("got %+v, %+v", a.Grid, a.Labels)
	}
	for want, f := range map[string]tiffFields{
		"expected one of [1 8 16 32 64], found 4":    {bits: 4},
		"BitsPerSample at byte 12: expected 8 to 64": {bits: 1, samples: 3},
		"SampleFormat": {format: tiff.Float},
		"Orientation at byte 12: expected one of [1], found 4": {orientation: 4},
		"FillOrder":                        {fill: 2},
		"ImageDepth":                       {depth: 7},
		"Predictor":                        {predictor: tiff.FloatDifferences, compression: tiff.Zstd},
		"tiles of at most 268435456 bytes": {tile: 1 << 15, compression: tiff.Zstd},
		"at least 4096 bytes in tile 0":    {tile: 1 << 14, compression: tiff.Zstd},
		"found 1 offsets and 1 lengths":    {rows: 1},
	} {
		f.width, f.height = 2, 2
		write(t, path, tiffOf(f, [][]byte{make([]byte,
			map[int]int{0: 4, 1 << 14: 1<<12 - 1, 1 << 15: 1 << 14}[f.tile])}))
		if a, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %+v, %v, want %q", f, a, err, want)
		}
	}
}

// checkBoxes reads the parts of boxes that lie in the array of a file, and compares them with the voxels of the whole
// array.
func checkBoxes(t *testing.T, a *Array, all []volume.Box, voxels []byte, file any) {
	t.Helper()
	for _, box := range all {
		if box = box.Intersect(volume.Box{Max: a.Grid.Size}); box.Empty() {
			continue
		}
		want := boxOf(voxels, a.Grid, box)
		got := make([]byte, len(want))
		if err := a.Read(t.Context(), box, got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%+v: box %v differs, error %v", file, box, err)
		}
	}
}
