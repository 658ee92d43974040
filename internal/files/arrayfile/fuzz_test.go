package arrayfile

import (
	"encoding/binary"
	"image"
	"image/color"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/volume"
)

// fuzz opens files. No file causes a panic. If a file without compression opens, its first and last row can be read.
// All seeds open. written makes the file from the bytes.
func fuzz(f *testing.F, written func(b []byte) []byte, seeds ...[]byte) {
	for _, b := range seeds {
		path := filepath.Join(f.TempDir(), "file")
		write(f, path, written(b))
		a, err := Open(path)
		if err != nil {
			f.Fatal(err)
		}
		a.Close()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { readRows(t, written(b)) })
}

// asIs is for files that are fuzzed as they are.
func asIs(b []byte) []byte { return b }

// readRows opens a file and reads its first and last row.
func readRows(t *testing.T, b []byte) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, b)
	a, err := Open(path)
	if err != nil {
		return
	}
	defer a.Close()
	readEnds(t, a)
	for _, axes := range a.Layout.Orders()[1:] {
		if err := a.SetAxes(axes); err == nil { // the sizes may be too large in another order
			readEnds(t, a)
		}
	}
}

// readEnds reads the first and the last row of an array.
func readEnds(t *testing.T, a *Array) {
	row := volume.Box{Max: volume.Vec{a.Grid.Size[0], 1, 1}}
	lo := a.Grid.Size.Sub(volume.Cube(1))
	last := volume.Box{Min: volume.Vec{0, lo[1], lo[2]}, Max: a.Grid.Size}
	for i, box := range []volume.Box{row, last} {
		if i == 1 && last == row {
			continue // a stream cannot be read twice
		}
		err := a.Read(t.Context(), box, make([]byte, a.Grid.Size[0]*a.Grid.VoxelBytes()))
		if err != nil && !compressed(a) {
			t.Errorf("box %v of %v: %v", box, a.Grid.Size, err)
		}
	}
}

// compressed reports whether voxels of an array may be damaged.
func compressed(a *Array) bool { return a.Sequential() || a.WholePlanes() }

func FuzzNPY(f *testing.F) {
	fuzz(f, asIs, npy("<u2", "False", "4, 3, 2", make([]byte, 48)), npy(">f2", "True", "4, 3, 2, 1", make([]byte, 48)))
}

func FuzzNRRD(f *testing.F) {
	fuzz(f, asIs,
		[]byte(
			"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\nspace directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (0,0,0)\n\n12345678"),
		append(
			[]byte(
				"NRRD0004\ntype: short\ndimension: 4\nsizes: 2 2 2 2\nkinds: vector domain domain domain\nendian: big\nencoding: gzip\nbyte skip: 1\n\n"), gzipped(make([]byte, 33))...),
		append([]byte("NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 3 4\nencoding: bzip2\n\n"), bzipped...),
		[]byte(
			"NRRD0004\ntype: uint8\ndimension: 2\nsizes: 2 2\nspacings: 1 2\nunits: \"nm\" \"um\"\nencoding: raw\nline skip: 1\nbyte skip: -1\n\n\n12345678"))
}

func FuzzMetaImage(f *testing.F) {
	fuzz(f, asIs,
		[]byte(
			"NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\nElementSpacing = 1 1 2\nOffset = 3 4 6\nTransformMatrix = 1 0 0 0 1 0 0 0 1\nElementDataFile = LOCAL\n12345678"),
		append(
			[]byte(
				"ObjectType = Image\nNDims = 2\nDimSize = 2 4\nElementType = MET_SHORT\nBinaryDataByteOrderMSB = True\nCompressedData = True\nHeaderSize = 0\nElementDataFile = LOCAL\n"), deflated(make([]byte, 16))...))
}

// tinyNIfTI returns a NIfTI of one voxel.
func tinyNIfTI() []byte {
	b := make([]byte, 353)
	le.PutUint32(b, 348)
	copy(b[40:], "\x03\x00\x01\x00\x01\x00\x01\x00")
	b[70] = 2
	le.PutUint32(b[108:], 0x43b00000) // 352
	copy(b[344:], "n+1")
	return b
}

func FuzzNIfTI(f *testing.F) { fuzz(f, asIs, tinyNIfTI()) }

func FuzzMRC(f *testing.F) {
	fuzz(f, asIs, mrc(le, 12, func([]byte) {}, make([]byte, 48)), mrc(binary.BigEndian, 0, func([]byte) {},
		make([]byte, 24)))
}

// FuzzGzip changes what is compressed.
func FuzzGzip(f *testing.F) {
	fuzz(f, gzipped, tinyNIfTI(), mrc(le, 0, func([]byte) {}, make([]byte, 24)))
}

func FuzzTIFF(f *testing.F) {
	fuzz(f, asIs,
		tinyTIFF(binary.LittleEndian, tiff.Uncompressed, 1, 16, make([]byte, 32)),
		tinyTIFF(binary.BigEndian, tiff.LZW, 2, 8, lzwed(make([]byte, 16))),
		tiffOf(tiffFields{width: 5, height: 3, tile: 16, compression: tiff.PackBits},
			[][]byte{packBits(make([]byte, 256))}),
		tiffOf(tiffFields{width: 5, height: 3, tile: 16, bits: 32, format: tiff.Float, compression: tiff.Zstd,
			predictor: tiff.FloatDifferences}, [][]byte{zstded(make([]byte, 1024))}),
		tiffOf(tiffFields{width: 5, height: 2, rows: 1, bits: 16}, [][]byte{make([]byte, 10), make([]byte, 10)}))
}

// FuzzTIFFDescription changes what ImageJ, OME and tifffile say about two pages.
func FuzzTIFFDescription(f *testing.F) {
	pages := func(text []byte) []byte {
		return tiffOf(tiffFields{width: 2, height: 1, description: string(text)}, [][]byte{{1, 2}}, [][]byte{{3, 4}})
	}
	fuzz(f, pages, []byte("ImageJ=1.5\nimages=2\nchannels=2\nunit=nm\nspacing=3\nxorigin=1\n"),
		[]byte(
			"<OME><Image><Pixels SizeT='1' SizeZ='2' SizeC='1' DimensionOrder='XYZCT' PhysicalSizeX='3'><TiffData IFD='0'/></Pixels></Image></OME>"),
		[]byte("<OME UUID='u'><Image><Pixels SizeT='1' SizeZ='1' SizeC='2' DimensionOrder='XYZCT'>"+
			"<TiffData IFD='1' PlaneCount='1'><UUID FileName='a'>u</UUID></TiffData>"+
			"<TiffData FirstC='1'><UUID FileName='file'/></TiffData></Pixels></Image></OME>"),
		[]byte(`{"shape": [2, 1, 1, 2], "axes": "ZCYX", "truncated": true}`))
}

func FuzzPNG(f *testing.F) {
	r := image.Rect(0, 0, 3, 2)
	fuzz(f, asIs, pngOf(image.NewGray(r)), pngOf(image.NewNRGBA64(r)),
		pngOf(image.NewPaletted(r, color.Palette{color.Black, color.White})))
}

func FuzzJPEG(f *testing.F) {
	r := image.Rect(0, 0, 9, 2)
	fuzz(f, asIs, jpegOf(image.NewGray(r)), jpegOf(image.NewRGBA(r)))
}
