package importer

import (
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// The compressions that are read, by their numbers.
const (
	tiffPlain      = 1
	tiffLZW        = 5
	tiffDeflate    = 8
	tiffOldDeflate = 32946
)

// tiffPage is a plane in strips.
type tiffPage struct {
	*tiffReader
	grid            volume.Grid // of one plane
	compression     uint64
	differences     bool // samples are those to the sample on their left
	rows            int  // of a strip
	offsets, counts []uint64
}

// field is a number of a page that has to be one of a few.
type tiffChoice struct {
	tag       uint16
	name      string
	otherwise uint64
	allowed   []uint64
	to        *uint64
}

// page reads what a directory says of the plane.
func (d *tiffDirectory) page() (*tiffPage, error) {
	p := &tiffPage{tiffReader: d.tiffReader}
	var width, height, bits, format, samples, rows, predictor, planar, photometric, tile, reduced uint64
	for _, c := range []tiffChoice{
		{tagNewSubfileType, "NewSubfileType", 0, []uint64{0, 2}, &reduced},
		{tagTileWidth, "TileWidth", 0, []uint64{0}, &tile},
		{tagImageWidth, "ImageWidth", 0, nil, &width},
		{tagImageLength, "ImageLength", 0, nil, &height},
		{tagBitsPerSample, "BitsPerSample", 1, []uint64{8, 16, 32, 64}, &bits},
		{tagSampleFormat, "SampleFormat", 1, []uint64{1, 2, 3}, &format},
		{tagSamplesPerPixel, "SamplesPerPixel", 1, nil, &samples},
		{tagRowsPerStrip, "RowsPerStrip", math.MaxUint32, nil, &rows},
		{tagCompression, "Compression", tiffPlain, []uint64{tiffPlain, tiffLZW, tiffDeflate, tiffOldDeflate}, &p.compression},
		{tagPredictor, "Predictor", 1, []uint64{1, 2}, &predictor},
		{tagPlanarConfiguration, "PlanarConfiguration", 1, []uint64{1, 2}, &planar},
		{tagPhotometric, "PhotometricInterpretation", 1, []uint64{1, 2, 3}, &photometric},
	} {
		if err := d.choose(c); err != nil {
			return nil, err
		}
	}
	t, ok := tiffType(bits, format)
	switch {
	case !ok:
		return nil, d.bad("SampleFormat", d.at, "numbers of 8 to 64 bits", fmt.Sprintf("%d with %d bits", format, bits))
	case planar == 2 && samples > 1:
		return nil, d.bad("PlanarConfiguration", d.at, "interleaved channels", planar)
	}
	p.differences = predictor == 2
	if p.differences && p.compression != tiffPlain && format == 3 {
		return nil, d.bad("Predictor", d.at, "none for floats", predictor)
	}
	p.grid = volume.Grid{Size: volume.Vec{int(width), int(height), 1}, Block: volume.Cube(1), Type: t, Channels: int(samples)}
	p.rows = int(min(rows, height))
	return p, p.findStrips(d)
}

// choose reads a number and makes sure that it is a usable one: one that is allowed, or
// where all are, one from 1 to 2^32 − 1.
func (d *tiffDirectory) choose(c tiffChoice) (err error) {
	if *c.to, err = d.one(c.tag, c.otherwise); err != nil {
		return err
	}
	if c.allowed == nil && (*c.to < 1 || *c.to > math.MaxUint32) {
		return d.bad(c.name, d.at, "1 to 4294967295", *c.to)
	}
	for _, v := range c.allowed {
		if v == *c.to {
			return nil
		}
	}
	if c.allowed != nil {
		return d.bad(c.name, d.at, fmt.Sprintf("one of %v", c.allowed), *c.to)
	}
	return nil
}

// findStrips reads where the strips are and checks that they are in the file.
func (p *tiffPage) findStrips(d *tiffDirectory) (err error) {
	if err := p.grid.Validate(); err != nil {
		return fmt.Errorf("%s: page at byte %d: %w", p.f.Name(), d.at, err)
	}
	want := (p.grid.Size[1] + p.rows - 1) / p.rows
	if p.offsets, err = d.numbers(tagStripOffsets); err != nil {
		return err
	}
	if p.counts, err = d.numbers(tagStripByteCounts); err != nil {
		return err
	}
	if len(p.offsets) != want || len(p.counts) != want {
		return p.bad("StripOffsets", d.at, fmt.Sprintf("%d strips", want), fmt.Sprintf("%d offsets and %d lengths", len(p.offsets), len(p.counts)))
	}
	for i := range want {
		size := uint64(p.f.size)
		if p.counts[i] > size || p.offsets[i] > size-p.counts[i] {
			return p.bad("StripOffsets", d.at, fmt.Sprintf("strip %d within the %d bytes of the file", i, size), fmt.Sprintf("bytes %d + %d", p.offsets[i], p.counts[i]))
		}
		if p.compression == tiffPlain && p.counts[i] < uint64(p.stripBytes(i)) {
			return p.bad("StripByteCounts", d.at, fmt.Sprintf("%d bytes in strip %d", p.stripBytes(i), i), p.counts[i])
		}
	}
	if p.compression != tiffPlain && p.stripBytes(0) > maxStrip {
		return p.bad("RowsPerStrip", d.at, fmt.Sprintf("compressed strips of at most %d bytes", maxStrip), p.stripBytes(0))
	}
	return nil
}

// rowBytes returns the bytes of a row of the plane.
func (p *tiffPage) rowBytes() int64 { return int64(p.grid.Size[0]) * int64(p.grid.VoxelBytes()) }

// stripBytes returns the bytes of strip i, expanded.
func (p *tiffPage) stripBytes(i int) int64 {
	return int64(min(p.rows, p.grid.Size[1]-i*p.rows)) * p.rowBytes()
}
