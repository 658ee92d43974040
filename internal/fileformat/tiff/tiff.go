// Package tiff has the numbers of TIFF 6.0 and BigTIFF, for package header and package arrayfile.
package tiff

import (
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

// Tags of TIFF, from TIFF 6.0.
const (
	TagNewSubfileType      = 254
	TagImageWidth          = 256
	TagImageLength         = 257
	TagBitsPerSample       = 258
	TagCompression         = 259
	TagPhotometric         = 262
	TagFillOrder           = 266
	TagImageDescription    = 270
	TagStripOffsets        = 273
	TagOrientation         = 274
	TagSamplesPerPixel     = 277
	TagRowsPerStrip        = 278
	TagStripByteCounts     = 279
	TagXResolution         = 282
	TagYResolution         = 283
	TagPlanarConfiguration = 284
	TagResolutionUnit      = 296
	TagPredictor           = 317
	TagTileWidth           = 322
	TagTileLength          = 323
	TagTileOffsets         = 324
	TagTileByteCounts      = 325
	TagSubIFDs             = 330
	TagExtraSamples        = 338
	TagSampleFormat        = 339
)

// TagImageDepth is a private tag of SGI: the planes of a page. A tile may have several.
const TagImageDepth = 32997

// Types of the values of a TIFF field, from TIFF 6.0, its supplement 1 (IFD) and the design of BigTIFF (Long8, IFD8).
const (
	Byte     = 1
	ASCII    = 2
	Short    = 3
	Long     = 4
	Rational = 5
	IFD      = 13
	Long8    = 16
	IFD8     = 18
)

// typeSizes has the bytes of one value of each type.
var typeSizes = [...]int{
	Byte: 1, ASCII: 1, Short: 2, Long: 4, Rational: 8,
	6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, // signed, undefined and float
	IFD: 4, Long8: 8, 17: 8, IFD8: 8,
}

// TypeSize returns the bytes of one value of a type of fields; 0 if the type is unknown.
func TypeSize(kind uint16) int {
	if int(kind) >= len(typeSizes) {
		return 0
	}
	return typeSizes[kind]
}

// Values of the tag Compression. Zstd is a private one of libtiff.
const (
	Uncompressed = 1
	LZW          = 5
	Deflate      = 8
	PackBits     = 32773
	OldDeflate   = 32946
	Zstd         = 50000
)

// Values of other tags.
const (
	WhiteIsZero = 0 // PhotometricInterpretation
	BlackIsZero = 1 // PhotometricInterpretation
	RGB         = 2 // PhotometricInterpretation
	Palette     = 3 // PhotometricInterpretation
	Reduced     = 1 // NewSubfileType: a smaller copy of another page
	Page        = 2 // NewSubfileType: one page of many
	Interleaved = 1 // PlanarConfiguration: the samples of a pixel are adjacent
	NoUnit      = 1 // ResolutionUnit
	Differences = 2 // Predictor: a sample is the difference to the one on its left

	FloatDifferences = 3 // Predictor: so are the bytes of samples, which are separate
)

// Values of the tag SampleFormat.
const (
	Unsigned = 1
	Signed   = 2
	Float    = 3
)

// SampleFormat returns the SampleFormat of a valid type.
func SampleFormat(t volume.Type) int {
	switch {
	case t.IsFloat():
		return Float
	case t.IsUnsigned():
		return Unsigned
	}
	return Signed
}

// ParseSampleFormat returns the type of samples with a SampleFormat and BitsPerSample. ok is false if there is none.
func ParseSampleFormat(format, bits uint64) (t volume.Type, ok bool) {
	kinds := map[uint64]string{Unsigned: "uint", Signed: "int", Float: "float"}
	t, err := volume.ParseType(fmt.Sprint(kinds[format], bits))
	return t, err == nil
}
