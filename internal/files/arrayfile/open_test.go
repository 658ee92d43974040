package arrayfile

import (
	"bytes"
	"compress/gzip"
	"compress/lzw"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/fileformat/nifti"
	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// voxelsOf returns all voxels of an array.
func voxelsOf(t *testing.T, a *Array) []byte {
	t.Helper()
	b := make([]byte, a.Grid.Bytes())
	if err := a.Read(t.Context(), volume.Box{Max: a.Grid.Size}, b); err != nil {
		t.Fatal(err)
	}
	return b
}

var le = binary.LittleEndian

// swapped returns values of size bytes in the other byte order.
func swapped(b []byte, size int) []byte {
	b = slices.Clone(b)
	for v := range slices.Chunk(b, size) {
		slices.Reverse(v)
	}
	return b
}

func npy(descr, order, shape string, voxels []byte) []byte {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", descr, order, shape)
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict)))
	return slices.Concat(b, []byte(dict), voxels)
}

// TestVariants opens files that differ from those that package header writes.
func TestVariants(t *testing.T) {
	counting := make([]byte, 48)
	for i := range counting {
		counting[i] = byte(i)
	}
	nrrd := func(fields string, voxels []byte) []byte { return append([]byte("NRRD0005\n"+fields+"\n"), voxels...) }
	tests := map[string]struct {
		file []byte
		grid volume.Grid
	}{
		"npy in C order": {npy("<u2", "False", "4, 3, 2", counting),
			volume.Grid{Size: volume.Vec{2, 3, 4}, Type: volume.Uint16, Channels: 1}},
		"npy in C order, channels": {npy("|u1", "False", "4, 2, 2, 3", counting),
			volume.Grid{Size: volume.Vec{2, 2, 4}, Type: volume.Uint8, Channels: 3}},
		"npy big-endian": {npy(">u4", "True", "2, 3, 2", swapped(counting, 4)),
			volume.Grid{Size: volume.Vec{2, 3, 2}, Type: volume.Uint32, Channels: 1}},
		"nrrd without a position": {nrrd("type: short\ndimension: 3\nsizes: 2 3 4\nendian: big\nencoding: raw\n",
			swapped(counting, 2)), volume.Grid{Size: volume.Vec{2, 3, 4}, Type: volume.Int16, Channels: 1}},
		"nrrd with CRLF": {nrrd(
			"type: uchar\r\n# x\r\ndimension: 3\r\nsizes: 4 3 4\r\nkey:=value\r\nencoding: raw\r\n\r", counting),
			volume.Grid{Size: volume.Vec{4, 3, 4}, Type: volume.Uint8, Channels: 1}},
		"nrrd with spacings in units": {nrrd(
			"type: uchar\ndimension: 3\nsizes: 4 3 4\nspacings: 1 2 3\nunits: \"um\" \"nm\" \"nm\"\nencoding: raw\n",
			counting), volume.Grid{Size: volume.Vec{4, 3, 4}, Type: volume.Uint8, Channels: 1,
			Spacing: [3]float64{1000, 2, 3}}},
		"nrrd with names of units": {nrrd(
			"type: uchar\ndimension: 3\nsizes: 4 3 4\nspacings: nan 2 3\nunits: \"Microns\" \"nanometres\" \"ms\"\nencoding: raw\n", counting), volume.Grid{Size: volume.Vec{4, 3, 4}, Type: volume.Uint8, Channels: 1,
			Spacing: [3]float64{0, 2, 0}}},
		"nrrd with axis mins": {nrrd(
			"type: uchar\ndimension: 3\nsizes: 4 3 4\nspacings: 1 2 3\naxis mins: 5 8 15\nencoding: raw\n", counting),
			volume.Grid{Size: volume.Vec{4, 3, 4}, Type: volume.Uint8, Channels: 1, Origin: volume.Vec{5, 4, 5}}},
		"nrrd with unknown mins": {nrrd(
			"type: uchar\ndimension: 3\nsizes: 4 3 4\nspacings: 1 2 3\naxis mins: nan 8 15\nencoding: raw\n", counting),
			volume.Grid{Size: volume.Vec{4, 3, 4}, Type: volume.Uint8, Channels: 1}},
		"nrrd with blanks in vectors": {nrrd(
			"type: uchar\ndimension: 4\nsizes: 1 4 3 4\nspace directions: none ( 2, 0,0) (0, 2, 0)  (0,0,3 )\nspace origin: (4, 6, 9)\nspace units: \"nm\" \"nm\" \"nm\"\nencoding: raw\n", counting), volume.Grid{Size: volume.Vec{4, 3, 4}, Type: volume.Uint8, Channels: 1,
			Spacing: [3]float64{2, 2, 3}, Origin: volume.Vec{2, 3, 3}}},
		"npy of Python 2": {npy("|u1", "True", "4L, 3L, 4L", counting),
			volume.Grid{Size: volume.Vec{4, 3, 4}, Type: volume.Uint8, Channels: 1}},
		"tiff big-endian": {tinyTIFF(binary.BigEndian, tiff.Uncompressed, 1, 16, swapped(counting[:32], 2)),
			volume.Grid{Size: volume.Vec{4, 4, 1}, Type: volume.Uint16, Channels: 1}},
		"tiff by deflate": {tinyTIFF(binary.LittleEndian, tiff.Deflate, 1, 16, deflated(counting[:32])),
			volume.Grid{Size: volume.Vec{4, 4, 1}, Type: volume.Uint16, Channels: 1}},
		"tiff by LZW": {tinyTIFF(binary.LittleEndian, tiff.LZW, 1, 16, lzwed(counting[:32])),
			volume.Grid{Size: volume.Vec{4, 4, 1}, Type: volume.Uint16, Channels: 1}},
		"tiff with predictor": {tinyTIFF(binary.LittleEndian, tiff.Deflate, 2, 16,
			deflated(differences(counting[:32], 4))), volume.Grid{Size: volume.Vec{4, 4, 1}, Type: volume.Uint16,
			Channels: 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			write(t, path, test.file)
			a := mustOpen(t, path)
			test.grid.Block = volume.Cube(1)
			if a.Grid != test.grid {
				t.Errorf("got %+v, want %+v", a.Grid, test.grid)
			}
			if got := voxelsOf(t, a); !bytes.Equal(got, counting[:len(got)]) {
				t.Errorf("got % x, want % x", got, counting[:len(got)])
			}
		})
	}
}

// tinyTIFF returns a TIFF of 4 × 4 samples in one strip.
func tinyTIFF(order binary.AppendByteOrder, compression, predictor, bits uint16, strip []byte) []byte {
	mark := "II*\x00"
	if order == binary.AppendByteOrder(binary.BigEndian) {
		mark = "MM\x00*"
	}
	fields := [][2]uint16{{tiff.TagImageWidth, 4}, {tiff.TagImageLength, 4}, {tiff.TagBitsPerSample, bits},
		{tiff.TagCompression, compression}, {tiff.TagPhotometric, 1},
		{tiff.TagStripOffsets, 200}, {tiff.TagRowsPerStrip, 4}, {tiff.TagStripByteCounts, uint16(len(strip))},
		{tiff.TagPredictor, predictor}}
	b := order.AppendUint32([]byte(mark), 8)
	b = order.AppendUint16(b, uint16(len(fields)))
	for _, f := range fields {
		b = order.AppendUint16(b, f[0])
		b = order.AppendUint16(b, 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(b, f[1])
		b = order.AppendUint16(b, 0)
	}
	b = append(b, make([]byte, 200-len(b))...)
	return append(b, strip...)
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// lzwed compresses with compress/lzw. TIFF widens codes one code earlier, which matters only for more bytes.
func lzwed(b []byte) []byte {
	var out bytes.Buffer
	w := lzw.NewWriter(&out, lzw.MSB, 8)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// differences applies the predictor to rows of 16-bit samples.
func differences(b []byte, row int) []byte {
	out := slices.Clone(b)
	for i := range len(b) / 2 {
		if i%row > 0 {
			binary.LittleEndian.PutUint16(out[2*i:],
				binary.LittleEndian.Uint16(b[2*i:])-binary.LittleEndian.Uint16(b[2*i-2:]))
		}
	}
	return out
}

// TestOpenErrors: an error names the file and the field.
func TestOpenErrors(t *testing.T) {
	nrrd := func(change ...string) []byte {
		text := "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n\n12345678"
		return []byte(strings.NewReplacer(change...).Replace(text))
	}
	nii := func(change func(b []byte)) []byte {
		dir := t.TempDir()
		a := array(volume.Uint8, 1)
		name := voxeltest.Export(t, dir, a, voxeltest.Pattern(a.Grid), ".nii")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		change(b)
		return b
	}
	var zipped bytes.Buffer
	gz := gzip.NewWriter(&zipped)
	gz.Write(nrrd())
	gz.Close()
	tiff := func(at int, v uint16) []byte { // changes the value of a field
		b := tinyTIFF(binary.LittleEndian, tiff.Uncompressed, 1, 16, make([]byte, 32))
		binary.LittleEndian.PutUint16(b[10+12*at+8:], v)
		return b
	}
	loop := tiff(0, 4)
	binary.LittleEndian.PutUint32(loop[10+9*12:], 8)
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"empty":       {nil, "not an .npy, NRRD, MetaImage, NIfTI, MRC, TIFF, PNG or JPEG file"},
		"gzip":        {zipped.Bytes(), "expected NIfTI or MRC in a file that is compressed by gzip"},
		"npy cut off": {[]byte("\x93NUMPY\x01"), "header at byte 0: expected at least 10 bytes"},
		"npy of version 9": {append([]byte("\x93NUMPY\x09\x00"), make([]byte, 9)...),
			"version at byte 6: expected 1 to 3, found 9"},
		"npy length": {[]byte("\x93NUMPY\x01\x00\xff\xff"), "length of the header at byte 8"},
		"npy of objects": {npy("|O", "True", "2, 2, 2", make([]byte, 8)),
			`descr at byte 10: expected numbers of 8 to 64 bits or bool, found "|O"`},
		"npy without type": {npy("", "True", "2, 2, 2", make([]byte, 8)), "descr at byte 10"},
		"npy of one axis":  {npy("|u1", "True", "8,", make([]byte, 8)), "shape at byte 10: expected 2 or 3 axes"},
		"npy too short":    {npy("|u1", "True", "2, 2, 2", make([]byte, 7)), "expected 8 bytes"},
		"npy too large":    {npy("<u8", "True", "4000000000, 4000000000, 4000000000", nil), "2^63"},
		"npy code": {npy("|u1", "open('/etc/passwd')", "2, 2, 2", make([]byte, 8)),
			"header at byte 10: expected a dictionary"},
		"nrrd by gzip":   {nrrd("raw", "gzip"), "compressed voxels at byte 63: unexpected EOF"},
		"nrrd of blocks": {nrrd("uint8", "block"), "type at byte 9: expected numbers"},
		"nrrd without sizes": {nrrd("sizes: 2 2 2\n", ""),
			"sizes at byte 0: expected 2 or 3 axes, or one more for channels, and the same number in dimension, found none"},
		"nrrd with other sizes": {nrrd("dimension: 3", "dimension: 4"), "sizes at byte 34"},
		"nrrd with a direction": {nrrd("sizes: 2 2 2", "sizes: 2 2 2\nspace directions: (1,0,0)"),
			"space directions at byte 47: expected 3 vectors"},
		"nrrd with a spacing": {nrrd("sizes: 2 2 2", "sizes: 2 2 2\nspacings: 1 2"),
			"spacings at byte 47: expected 3 numbers"},
		"nrrd with words": {nrrd("sizes: 2 2 2", "sizes: 2 2 2\nspacings: 1 2 3\naxis mins: 1 2 x"),
			"axis mins at byte 63: expected a number"},
		"nrrd of text":    {nrrd("raw", "ascii", "uint8", "uint16"), "encoding at byte 48: expected raw"},
		"nrrd of 16 bits": {nrrd("uint8", "uint16"), "endian at byte 0: expected little or big, found none"},
		"nrrd twice": {nrrd("encoding: raw", "type: uint8"),
			"header at byte 47: expected a field that occurs once"},
		"nrrd without end": {nrrd("\n\n12345678", "\nx"), "header at byte 61: expected a field"},
		"nrrd with time":   {nrrd("sizes: 2 2 2", "sizes: 2 2 2\nkinds: domain domain time"), "kinds at byte 47"},
		"nrrd with a path": {nrrd("encoding: raw", "encoding: raw\ndata file: ../volume.raw"),
			"data file at byte 61: expected the name of one file in the same directory"},
		"nrrd too short":     {nrrd("12345678", "1234567"), "voxels at byte 62: expected 8 bytes"},
		"nifti of two files": {nii(func(b []byte) { copy(b[344:], "ni1") }), "no such file"},
		"analyze": {nii(func(b []byte) { clear(b[344:348]) }),
			"unsupported ANALYZE 7.5 at byte 344: expected NIfTI"},
		"nifti that is scaled": {nii(func(b []byte) { binary.LittleEndian.PutUint32(b[112:], 0x40000000) }),
			"scl_slope at byte 112: expected no scaling, found 2 × value + 0"},
		"nifti of complex":   {nii(func(b []byte) { b[70] = 32 }), "datatype at byte 70"},
		"nifti of four axes": {nii(func(b []byte) { b[40] = 4; b[48] = 0 }), "dim[4]"},
		"nifti of five axes": {nii(func(b []byte) { b[40] = 5; b[48] = 1; b[50] = 2 }), "dim[5]"},
		"nifti of no axes":   {nii(func(b []byte) { b[40] = 0 }), "dim[0]"},
		"nifti with voxels at 0": {nii(func(b []byte) { clear(b[108:112]) }),
			"vox_offset at byte 108: expected 348 to"},
		"nifti that is short":   {nii(func(b []byte) { b[46] = 99 }), "voxels at byte 4096"},
		"tiff cut off":          {[]byte("II*\x00"), "header at byte 0"},
		"tiff without a page":   {[]byte("II*\x00\x00\x00\x00\x00"), "first directory"},
		"tiff without an end":   {[]byte("II*\x00\x08\x00\x00\x00\xff\xff"), "directory at byte 10"},
		"tiff in a loop":        {loop, "directory at byte 8: expected each page once"},
		"tiff of no width":      {tiff(0, 0), "ImageWidth at byte 8: expected 1 to 4294967295, found 0"},
		"tiff of 12 bits":       {tiff(2, 12), "BitsPerSample at byte 8: expected one of [1 8 16 32 64], found 12"},
		"tiff by JPEG":          {tiff(3, 7), "Compression at byte 8"},
		"tiff of negatives":     {tiff(4, 0), "PhotometricInterpretation at byte 8: expected 0 as black"},
		"tiff with strips away": {tiff(5, 60000), "strip 0 within the 232 bytes"},
		"tiff with long strips": {tiff(7, 60000), "strip 0 within the 232 bytes"},
		"tiff with more strips": {tiff(6, 1), "expected 4 strips, found 1 offsets and 1 lengths"},
		"tiff with short strips": {tiff(7, 31),
			"strip lengths at byte 8: expected at least 32 bytes in strip 0, found 31"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, test.file, test.want)
		})
	}
}

// TestDamagedStrip: reading a strip that cannot be expanded fails.
func TestDamagedStrip(t *testing.T) {
	for _, compression := range []uint16{tiff.LZW, tiff.Deflate} {
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, tinyTIFF(binary.LittleEndian, compression, 1, 16, deflated([]byte("short"))))
		a := mustOpen(t, path)
		err := a.Read(t.Context(), volume.Box{Max: volume.Cube(1)}, make([]byte, 2))
		if err == nil || !strings.Contains(err.Error(), "strip at byte 200: ") {
			t.Errorf("compression %d: got %v", compression, err)
		}
	}
}

// TestDirectory: the planes are ordered by number, and all must have the same type.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"z2.tif", "z10.TIF", "z011.tiff"} {
		write(t, filepath.Join(dir, name), tinyTIFF(binary.LittleEndian, tiff.Uncompressed, 1, 8,
			bytes.Repeat([]byte{byte(i)}, 16)))
	}
	write(t, filepath.Join(dir, "Thumbs.db"), nil)
	a := mustOpen(t, dir)
	if got := voxelsOf(t, a); len(got) != 48 || got[0] != 0 || got[16] != 1 || got[32] != 2 {
		t.Errorf("got %v", got)
	}
	for _, f := range a.files {
		if f.handle != nil {
			t.Errorf("%s is open: there may be more planes than a process can have open", f.Name())
		}
	}
	if len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "z2.tif and z10.TIF") {
		t.Errorf("warnings: %q", a.Warnings)
	}
	write(t, filepath.Join(dir, "z3.tif"), tinyTIFF(binary.LittleEndian, tiff.Uncompressed, 1, 16, make([]byte, 32)))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "z3.tif: plane 1 at byte 8: expected") {
		t.Errorf("planes of two types: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no .tif, .png or .jpg files") {
		t.Errorf("empty directory: %v", err)
	}
}

// TestPositionErr: an array with an invalid position opens, and has a PositionErr.
func TestPositionErr(t *testing.T) {
	const fields = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 1 1 1\nencoding: raw\nspace directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (0,0,0)\n\n1"
	for change, invalid := range map[string]bool{"(1,0,0)=(1,0,0)": false, "(1,0,0)=(-1,0,0)": true,
		"(1,0,0)=(1,1,0)": true, "(0,0,0)=(0,0.5,0)": true, "(0,0,0)=(1e30,0,0)": true} {
		from, to, _ := strings.Cut(change, "=")
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, []byte(strings.Replace(fields, from, to, 1)))
		if a := mustOpen(t, path); errors.Is(a.PositionErr, ErrPosition) != invalid {
			t.Errorf("%s: got %v", change, a.PositionErr)
		}
	}
}

// TestSpacingOfRotatedNIfTI: a rotated or mirrored NIfTI has a PositionErr, and the spacing of pixdim.
func TestSpacingOfRotatedNIfTI(t *testing.T) {
	half := math.Sqrt(0.5)
	for name, test := range map[string]struct {
		rows    [3][4]float64 // srow
		invalid bool
	}{
		"aligned":  {[3][4]float64{{4, 0, 0, 8}, {0, 5, 0, 10}, {0, 0, 6, 12}}, false},
		"rotated":  {[3][4]float64{{4 * half, -5 * half, 0, 8}, {4 * half, 5 * half, 0, 10}, {0, 0, 6, 12}}, true},
		"mirrored": {[3][4]float64{{-4, 0, 0, 8}, {0, 5, 0, 10}, {0, 0, 6, 12}}, true},
	} {
		file := make([]byte, 353)
		short := func(at int, v uint16) { binary.LittleEndian.PutUint16(file[at:], v) }
		float := func(at int, v float64) { binary.LittleEndian.PutUint32(file[at:], math.Float32bits(float32(v))) }
		binary.LittleEndian.PutUint32(file, nifti.Size1)
		copy(file[344:], nifti.Magic1)
		for i, n := range []uint16{3, 1, 1, 1} {
			short(40+2*i, n) // dim
		}
		short(70, 2) // datatype: uint8
		for i, v := range []float64{1, 4, 5, 6} {
			float(76+4*i, v) // pixdim
		}
		float(108, 352) // vox_offset
		file[123] = nifti.UnitMicron
		short(254, 1) // sform_code
		for row := range test.rows {
			for column, v := range test.rows[row] {
				float(280+16*row+4*column, v)
			}
		}
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, file)
		a := mustOpen(t, path)
		if errors.Is(a.PositionErr, ErrPosition) != test.invalid || a.Grid.Spacing != [3]float64{4000, 5000, 6000} {
			t.Errorf("%s: spacing %v, error %v", name, a.Grid.Spacing, a.PositionErr)
		}
	}
}
