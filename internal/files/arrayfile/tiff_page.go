package arrayfile

import (
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/volume"
)

// tiffPage is a plane that is stored in chunks: strips, which have whole rows, or tiles.
type tiffPage struct {
	*tiffReader
	at              int64       // of the directory
	grid            volume.Grid // of one plane, as it is stored
	half            bool        // values are stored as float16, and read as float32; they are uint16 in grid
	packed          bool        // a pixel is stored as one bit
	inverted        bool        // 0 is white
	compression     uint64
	predictor       uint64
	tiled           bool
	samples         int // planes in which the samples of pixels lie one after the other; 1: samples are interleaved
	width, rows     int // of a chunk, in pixels
	offsets, counts []uint64
}

// tiffChoice is a field of a page with its allowed values.
type tiffChoice struct {
	tag     uint16
	name    string
	def     uint64   // without the field
	allowed []uint64 // nil: 1 to 2^32 − 1
	value   *uint64  // set by readChoice
}

// page returns the page that the directory describes.
func (d *tiffDirectory) page() (*tiffPage, error) {
	p := &tiffPage{tiffReader: d.tiffReader, at: d.at}
	var width, height, bits, format, samples, planar, photometric, reduced, orientation, fill, depth uint64
	kinds := []uint64{0, tiff.Page}
	if d.reduced {
		kinds = append(kinds, tiff.Reduced, tiff.Reduced|tiff.Page)
	}
	for _, c := range []tiffChoice{
		{tiff.TagNewSubfileType, "NewSubfileType", 0, kinds, &reduced},
		{tiff.TagImageWidth, "ImageWidth", 0, nil, &width},
		{tiff.TagImageLength, "ImageLength", 0, nil, &height},
		{tiff.TagBitsPerSample, "BitsPerSample", 1, []uint64{1, 8, 16, 32, 64}, &bits},
		{tiff.TagSampleFormat, "SampleFormat", tiff.Unsigned, []uint64{tiff.Unsigned, tiff.Signed, tiff.Float},
			&format},
		{tiff.TagSamplesPerPixel, "SamplesPerPixel", 1, nil, &samples},
		{tiff.TagCompression, "Compression", tiff.Uncompressed, []uint64{
			tiff.Uncompressed, tiff.LZW, tiff.Deflate, tiff.OldDeflate, tiff.PackBits, tiff.Zstd,
		}, &p.compression},
		{tiff.TagPredictor, "Predictor", 1, []uint64{1, tiff.Differences, tiff.FloatDifferences}, &p.predictor},
		{tiff.TagPlanarConfiguration, "PlanarConfiguration", 1, []uint64{1, 2}, &planar},
		{tiff.TagPhotometric, "PhotometricInterpretation", 1, []uint64{tiff.WhiteIsZero, tiff.BlackIsZero, tiff.RGB,
			tiff.Palette}, &photometric},
		{tiff.TagOrientation, "Orientation", 1, []uint64{1}, &orientation}, // others turn or mirror the page
		{tiff.TagFillOrder, "FillOrder", 1, []uint64{1}, &fill},            // 2 reverses the bits of each byte
		{tiff.TagImageDepth, "ImageDepth", 1, []uint64{1}, &depth},         // a page of several planes
	} {
		if err := d.readChoice(c); err != nil {
			return nil, err
		}
	}
	p.packed, p.inverted = bits == 1, photometric == tiff.WhiteIsZero
	p.half = format == tiff.Float && bits == 16
	t, ok := tiff.ParseSampleFormat(format, max(bits, 8))
	if p.half {
		t, ok = volume.Uint16, true
	}
	isFloat := t.IsFloat() || p.half
	switch {
	case p.inverted && !p.packed:
		return nil, d.bad("PhotometricInterpretation", d.at, "0 as black, RGB or a palette", photometric)
	case p.packed && (format != tiff.Unsigned || samples > 1 || p.predictor > 1):
		return nil, d.bad("BitsPerSample", d.at, "8 to 64 for several channels, signed values and differences", bits)
	case !ok:
		return nil, d.bad("SampleFormat", d.at, "numbers of 8 to 64 bits", fmt.Sprintf("%d with %d bits", format, bits))
	}
	p.samples = 1
	if planar != tiff.Interleaved && samples > 1 {
		p.samples, samples = int(samples), 1
	}
	if p.compression == tiff.Uncompressed {
		p.predictor = 1 // TIFF 6.0, section 14: it belongs to a compression
	}
	if p.predictor == tiff.Differences && isFloat || p.predictor == tiff.FloatDifferences && !isFloat {
		return nil, d.bad("Predictor", d.at, fmt.Sprintf("one for %v", t), p.predictor)
	}
	p.grid = volume.Grid{Size: volume.Vec{int(width), int(height), 1}, Block: volume.Cube(1), Type: t,
		Channels: int(samples)}
	if err := p.grid.Validate(); err != nil {
		return nil, unreadable(p.f.Name(), "page", d.at, err)
	}
	if err := p.findChunks(d); err != nil {
		return nil, err
	}
	return p, nil
}

// plane returns the page as a plane. Samples that lie one after the other become channels.
func (d *tiffDirectory) plane() (plane, error) {
	p, err := d.page()
	if err != nil {
		return nil, err
	}
	if p.samples == 1 {
		p.join()
		return p, nil
	}
	n := len(p.offsets) / p.samples
	channels := make(channelPlane, p.samples)
	for i := range channels {
		one := *p
		one.samples, one.offsets, one.counts = 1, p.offsets[i*n:][:n:n], p.counts[i*n:][:n:n]
		one.join()
		channels[i] = &one
	}
	return channels, nil
}

// firstPage returns the page of a plane, or that of its first channel.
func firstPage(p plane) *tiffPage {
	if c, ok := p.(channelPlane); ok {
		p = c[0]
	}
	return p.(*tiffPage)
}

// readChoice reads a field and checks its value.
func (d *tiffDirectory) readChoice(c tiffChoice) (err error) {
	if *c.value, err = d.single(c.tag, c.def); err != nil {
		return err
	}
	if c.allowed == nil && (*c.value < 1 || *c.value > math.MaxUint32) {
		return d.bad(c.name, d.at, "1 to 4294967295", *c.value)
	}
	for _, v := range c.allowed {
		if v == *c.value {
			return nil
		}
	}
	if c.allowed != nil {
		return d.bad(c.name, d.at, fmt.Sprintf("one of %v", c.allowed), *c.value)
	}
	return nil
}

// findChunks reads the sizes, offsets and lengths of the chunks, and checks that they are in the file.
func (p *tiffPage) findChunks(d *tiffDirectory) (err error) {
	offsets, counts := uint16(tiff.TagStripOffsets), uint16(tiff.TagStripByteCounts)
	var width, rows uint64
	if _, p.tiled = d.entries[tiff.TagTileWidth]; p.tiled {
		offsets, counts = tiff.TagTileOffsets, tiff.TagTileByteCounts
		if err := d.readChoice(tiffChoice{tiff.TagTileWidth, "TileWidth", 0, nil, &width}); err != nil {
			return err
		}
		if err := d.readChoice(tiffChoice{tiff.TagTileLength, "TileLength", 0, nil, &rows}); err != nil {
			return err
		}
	} else {
		width = uint64(p.grid.Size[0])
		if err := d.readChoice(tiffChoice{tiff.TagRowsPerStrip, "RowsPerStrip", math.MaxUint32, nil,
			&rows}); err != nil {
			return err
		}
		rows = min(rows, uint64(p.grid.Size[1]))
	}
	p.width, p.rows = int(width), int(rows)
	chunk := p.grid
	chunk.Size = volume.Vec{p.width, p.rows, 1}
	if err := chunk.Validate(); err != nil {
		return unreadable(p.f.Name(), "tile of the page", d.at, err)
	}
	if p.offsets, err = d.numbers(offsets); err != nil {
		return err
	}
	if p.counts, err = d.numbers(counts); err != nil {
		return err
	}
	want := int64(p.across()) * int64((p.grid.Size[1]+p.rows-1)/p.rows) * int64(p.samples)
	if int64(len(p.offsets)) != want || int64(len(p.counts)) != want {
		return p.bad(p.noun()+" offsets", d.at, fmt.Sprintf("%d %ss", want, p.noun()),
			fmt.Sprintf("%d offsets and %d lengths", len(p.offsets), len(p.counts)))
	}
	return p.checkChunks(d)
}

// checkChunks checks that the chunks are in the file, and can have the bytes of their pixels.
func (p *tiffPage) checkChunks(d *tiffDirectory) error {
	size := uint64(p.f.size)
	for i := range p.offsets {
		if p.counts[i] > size || p.offsets[i] > size-p.counts[i] {
			return p.bad(p.noun()+" offsets", d.at, fmt.Sprintf("%s %d within the %d bytes of the file", p.noun(), i,
				size), fmt.Sprintf("bytes %d + %d", p.offsets[i], p.counts[i]))
		}
		if least := p.plainBytes(i) / tiffRatio[p.compression]; p.counts[i] < uint64(least) {
			return p.bad(p.noun()+" lengths", d.at, fmt.Sprintf("at least %d bytes in %s %d", least, p.noun(), i),
				p.counts[i])
		}
	}
	if (p.tiled || p.compression != tiff.Uncompressed) && p.chunkBytes(0) > maxChunk {
		return p.bad(p.noun()+" size", d.at, fmt.Sprintf("%ss of at most %d bytes", p.noun(), maxChunk),
			p.chunkBytes(0))
	}
	return nil
}

// noun returns what a chunk is called.
func (p *tiffPage) noun() string {
	if p.tiled {
		return "tile"
	}
	return "strip"
}

// across returns the number of chunks beside each other.
func (p *tiffPage) across() int { return (p.grid.Size[0] + p.width - 1) / p.width }

// chunkRows returns the number of rows of chunk i. The last strip is shorter than the others, but tiles are padded.
func (p *tiffPage) chunkRows(i int) int {
	if p.tiled {
		return p.rows
	}
	strips := (p.grid.Size[1] + p.rows - 1) / p.rows // of each sample
	return min(p.rows, p.grid.Size[1]-i%strips*p.rows)
}

// chunkBytes returns the size of chunk i in bytes when it is expanded.
func (p *tiffPage) chunkBytes(i int) int64 {
	return int64(p.chunkRows(i)) * int64(p.width) * int64(p.grid.VoxelBytes())
}

// plainBytes returns the size of chunk i in bytes when it is decompressed.
func (p *tiffPage) plainBytes(i int) int64 {
	if p.packed {
		return int64(p.chunkRows(i)) * int64(packedRow(p.width))
	}
	return p.chunkBytes(i)
}

// join makes one strip of strips that follow each other in the file.
func (p *tiffPage) join() {
	if p.packed || p.tiled || p.compression != tiff.Uncompressed {
		return
	}
	for i := range len(p.offsets) - 1 {
		if p.offsets[i]+uint64(p.chunkBytes(i)) != p.offsets[i+1] {
			return
		}
	}
	p.rows = p.grid.Size[1]
	p.offsets, p.counts = []uint64{p.offsets[0]}, []uint64{uint64(p.grid.Bytes())}
}

// repeat returns n planes that follow each other in the file, from a page on.
func repeat(first plane, n int) ([]plane, error) {
	p, size := firstPage(first), first.shape().Bytes()
	if _, several := first.(channelPlane); several {
		return nil, p.bad("PlanarConfiguration", p.at, "interleaved channels in a page that stands for others", 2)
	}
	if p.packed || p.compression != tiff.Uncompressed || p.tiled || len(p.offsets) != 1 {
		return nil, p.bad("images in the description", p.at, "a page for each, or one page without compression", n)
	}
	if rest := (p.f.size - int64(p.offsets[0])) / size; int64(n) > rest {
		return nil, p.bad("images in the description", p.at, fmt.Sprintf("at most the %d that fit in the file", rest),
			n)
	}
	all := make([]plane, n)
	for i := range all {
		next := *p
		next.offsets = []uint64{p.offsets[0] + uint64(i)*uint64(size)}
		all[i] = &next
	}
	return all, nil
}
