package arrayfile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// bzipped is the bytes 1 to 24, compressed by bzip2.
const bzipped = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x74\x09\xca\xdd\x00\x00\x00\x60\x00\x3f\xff\xff\xc0\x20\x00\x22\x80\x01\xa6\x86\x4c\x85\x06\x8d\x1a\x0c\x80\xd1\x5c\xf8\x46\x53\xa5\x6d\x7c\x64\x34\x3b\xe7\x48\xfc\x8b\xf1\x77\x24\x53\x85\x09\x07\x40\x9c\xad\xd0"

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// counted returns the bytes 1 to n.
func counted(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return b
}

// TestForms opens files that lie about nothing, in all forms that their formats have for the voxels 1, 2, … .
func TestForms(t *testing.T) {
	nrrd := func(fields string, voxels []byte) map[string][]byte {
		return map[string][]byte{"f": append([]byte("NRRD0005\n"+fields+"\n"), voxels...)}
	}
	const three = "type: uchar\ndimension: 3\nsizes: 2 3 4\n"
	meta := func(fields, file string, voxels []byte) map[string][]byte {
		return map[string][]byte{"f": append([]byte("ObjectType = Image\nNDims = 3\nDimSize = 2 3 4\n"+fields+
			"ElementDataFile = "+file+"\n"), voxels...)}
	}
	with := func(m map[string][]byte, name string, b []byte) map[string][]byte { m[name] = b; return m }
	v, size := counted(24), volume.Vec{2, 3, 4}
	byteGrid := volume.Grid{Size: size, Type: volume.Uint8, Channels: 1}
	shorts := volume.Grid{Size: size, Type: volume.Uint16, Channels: 1}
	spaced := byteGrid
	spaced.Spacing, spaced.Origin = [3]float64{4e6, 4e6, 30e6}, volume.Vec{5, 0, 10}
	microns := byteGrid
	microns.Spacing = [3]float64{4e3, 4e3, 30e3}
	for name, test := range map[string]struct {
		files map[string][]byte
		grid  volume.Grid
	}{
		"npy of bool": {map[string][]byte{"f": npy("|b1", "True", "2, 3, 4", v)}, byteGrid},
		"npy of a plane": {map[string][]byte{"f": npy("|u1", "False", "6, 4", v)},
			volume.Grid{Size: volume.Vec{4, 6, 1}, Type: volume.Uint8, Channels: 1}},
		"nrrd of a plane": {nrrd("type: uchar\ndimension: 2\nsizes: 4 6\nencoding: raw\n", v),
			volume.Grid{Size: volume.Vec{4, 6, 1}, Type: volume.Uint8, Channels: 1}},
		"nrrd of a plane in RGB": {nrrd(
			"type: uchar\ndimension: 3\nsizes: 3 4 2\nkinds: RGB-color domain domain\nencoding: raw\n", v),
			volume.Grid{Size: volume.Vec{4, 2, 1}, Type: volume.Uint8, Channels: 3}},
		"nrrd of a placed plane": {nrrd(
			"type: uchar\ndimension: 2\nsizes: 4 6\nencoding: raw\nspace dimension: 2\nspace units: \"nm\" \"nm\"\nspace directions: (4,0) (0,5)\nspace origin: (8,10)\n", v), volume.Grid{Size: volume.Vec{4, 6, 1}, Type: volume.Uint8, Channels: 1, Spacing: [3]float64{4, 5, 0},
			Origin: volume.Vec{2, 2, 0}}},
		"nrrd by gzip":      {nrrd(three+"encoding: gzip\n", gzipped(v)), byteGrid},
		"nrrd by bzip2":     {nrrd(three+"encoding: bzip2\n", []byte(bzipped)), byteGrid},
		"nrrd by two gzips": {nrrd(three+"encoding: gz\n", append(gzipped(v[:5]), gzipped(v[5:])...)), byteGrid},
		"nrrd by gzip, skips": {nrrd(three+"encoding: gzip\nline skip: 2\nbyte skip: 3\n",
			append([]byte("a\nb\n"), gzipped(append([]byte("xyz"), v...))...)), byteGrid},
		"nrrd skips": {nrrd(three+"encoding: raw\nlineskip: 1\nbyteskip: 2\n",
			append([]byte(strings.Repeat("a", 5000)+"\nyz"), v...)), byteGrid},
		"nrrd at the end": {nrrd(three+"encoding: raw\nbyte skip: -1\n", append(make([]byte, 99), v...)),
			byteGrid},
		"nrrd detached": {with(nrrd(three+"encoding: gzip\ndata file: ./g h\n", nil), "g h", gzipped(v)),
			byteGrid},
		"nrrd big-endian by gzip": {nrrd("type: ushort\ndimension: 3\nsizes: 2 3 4\nendian: big\nencoding: gzip\n",
			gzipped(swapped(counted(48), 2))), shorts},
		"meta in one file": {meta("ElementType = MET_UCHAR\n", "LOCAL", v), byteGrid},
		"meta with a unit": {meta("ElementType = MET_UCHAR\nDistanceUnits = um\nElementSize = 4 4 30\n", "LOCAL",
			v), microns},
		"meta with a place": {meta(
			"ElementType = MET_UCHAR\nElementSpacing = 4 4 30\nOffset = 20 0 300\nTransformMatrix = 1 0 0 0 1 0 0 0 1\n", "LOCAL", v), spaced},
		"meta big-endian": {with(meta("ElementType = MET_USHORT\nElementByteOrderMSB = True\n", "g", nil), "g",
			swapped(counted(48), 2)), shorts},
		"meta of unknown unit": {meta("ElementType = MET_UCHAR\nDistanceUnits = furlong\nElementSize = 4 4 30\n",
			"LOCAL", v), byteGrid},
		"meta compressed": {meta(
			"BinaryData = True\nCompressedData = True\nCompressedDataSize = 9\nElementType = MET_UCHAR\n", "local",
			deflated(v)), byteGrid},
		"meta with a header": {with(meta("HeaderSize = 7\nElementType = MET_UCHAR\n", "g", nil), "g",
			append(make([]byte, 7), v...)), byteGrid},
		"meta at the end": {with(meta("HeaderSize = -1\nElementType = MET_UCHAR\n", "g", nil), "g",
			append(make([]byte, 99), v...)), byteGrid},
		"meta with channels": {meta("ElementNumberOfChannels = 2\nElementType = MET_UCHAR\n", "LOCAL",
			counted(48)), volume.Grid{Size: size, Type: volume.Uint8, Channels: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, b := range test.files {
				write(t, filepath.Join(dir, name), b)
			}
			a := mustOpen(t, filepath.Join(dir, "f"))
			test.grid.Block = volume.Cube(1)
			if a.Grid != test.grid || a.Positioned != (test.grid.Origin != volume.Vec{}) {
				t.Errorf("got %+v, want %+v", a.Grid, test.grid)
			}
			if got := voxelsOf(t, a); !bytes.Equal(got, counted(len(got))) {
				t.Errorf("got % x", got)
			}
		})
	}
}

// TestHalves: float16 values become float32 values.
func TestHalves(t *testing.T) {
	halves := []byte{0, 0x3c, 1, 0, 0xff, 0x7b, 0, 0xfc, 0, 0x80, 0, 0xc0}
	want := []float32{1, 0x1p-24, 65504, float32(math.Inf(-1)), float32(math.Copysign(0, -1)), -2}
	for descr, stored := range map[string][]byte{"<f2": halves, ">f2": swapped(halves, 2)} {
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, npy(descr, "True", "3, 2, 1", stored))
		a := mustOpen(t, path)
		if a.Grid.Type != volume.Float32 {
			t.Errorf("%s: got %v", descr, a.Grid.Type)
		}
		got := voxelsOf(t, a)
		for i, v := range want {
			if b := le.Uint32(got[4*i:]); b != math.Float32bits(v) {
				t.Errorf("%s: value %d: got %x, want %v", descr, i, b, v)
			}
		}
	}
	if v := math.Float32frombits(float32Bits(0x7e00)); v == v {
		t.Errorf("NaN became %v", v)
	}
}

// nii returns a NIfTI of the package header, changed.
func nii(t *testing.T, change func(b []byte)) []byte {
	t.Helper()
	a := array(volume.Uint8, 1)
	b, err := os.ReadFile(voxeltest.Export(t, t.TempDir(), a, voxeltest.Pattern(a.Grid), ".nii"))
	if err != nil {
		t.Fatal(err)
	}
	change(b)
	return b
}

// TestNIfTIForms: compressed files and pairs have the same voxels as a single file.
func TestNIfTIForms(t *testing.T) {
	g := array(volume.Uint8, 1).Grid
	single := nii(t, func([]byte) {})
	const voxels = 4096 // the offset
	pair := nii(t, func(b []byte) { copy(b[344:], "ni1"); clear(b[108:112]) })
	near := nii(t, func(b []byte) { le.PutUint32(b[108:], math.Float32bits(352)) })
	near = append(near[:352:352], single[voxels:]...)
	notScaled := nii(t, func(b []byte) {
		le.PutUint32(b[112:], math.Float32bits(float32(math.NaN())))
		le.PutUint32(b[116:], math.Float32bits(float32(math.Inf(1))))
	})
	big := nii(t, func(b []byte) { b[68] = 0xEA; b[69] = 3; b[123] = 0 })
	for name, test := range map[string]struct {
		files    map[string][]byte
		open     string
		warnings int
		labels   Content
	}{
		"gzip":                  {map[string][]byte{"v.nii.gz": gzipped(single)}, "v.nii.gz", 0, Unknown},
		"gzip, as others write": {map[string][]byte{"v.nii.gz": gzipped(near)}, "v.nii.gz", 0, Unknown},
		"header": {map[string][]byte{"v.hdr": pair[:352], "v.img": single[voxels:]}, "v.hdr", 0,
			Unknown},
		"image": {map[string][]byte{"V.HDR": pair[:352], "V.IMG": single[voxels:]}, "V.IMG", 0,
			Unknown},
		"scaled by NaN": {map[string][]byte{"v.nii": notScaled}, "v.nii", 0, Unknown},
		"of labels":     {map[string][]byte{"v.nii": big}, "v.nii", 1, Segmentation},
	} {
		dir := t.TempDir()
		for name, b := range test.files {
			write(t, filepath.Join(dir, name), b)
		}
		a := mustOpen(t, filepath.Join(dir, test.open))
		if got := voxelsOf(t, a); !bytes.Equal(got, voxeltest.Pattern(g)) {
			t.Errorf("%s: voxels differ", name)
		}
		if a.Grid.Origin != origin || a.Grid.Size != size || len(a.Warnings) != test.warnings ||
			a.Labels.Content != test.labels {
			t.Errorf("%s: got %+v, %v, %v", name, a.Grid, a.Warnings, a.Labels)
		}
		if a.Sequential() != strings.HasPrefix(name, "gzip") {
			t.Errorf("%s: sequential is %v", name, a.Sequential())
		}
	}
}

// TestFormErrors: an error of a MetaImage, a skip or a compressed stream names the file and the field.
func TestFormErrors(t *testing.T) {
	const text = "NDims = 3\nDimSize = 2 3 4\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n"
	v := counted(24)
	meta := func(from, to string) []byte { return append([]byte(strings.Replace(text, from, to, 1)), v...) }
	nrrd := func(fields string, voxels []byte) []byte {
		return append([]byte("NRRD0005\ntype: uchar\ndimension: 3\nsizes: 2 3 4\n"+fields+"\n\n"), voxels...)
	}
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"no end": {[]byte("NDims = 3\nDimSize = 2 3 4\n"),
			"header at byte 26: expected ElementDataFile within 65536 bytes, found none"},
		"twice": {meta("DimSize", "NDims"), "header at byte 10: expected a field that occurs once"},
		"four axes": {meta("2 3 4", "2 3 2 2"),
			"DimSize at byte 10: expected 2 or 3 axes, and the same number in NDims"},
		"text":   {meta("DimSize", "BinaryData = False\nDimSize"), "BinaryData at byte 10: expected True"},
		"a tube": {meta("NDims", "ObjectType = Tube\nNDims"), "ObjectType at byte 0: expected Image"},
		"a path": {meta("LOCAL", "../f"),
			"ElementDataFile at byte 50: expected LOCAL, or the name of one file in the same directory"},
		"a list":    {meta("LOCAL", "LIST"), "ElementDataFile at byte 50"},
		"a pattern": {meta("LOCAL", "f%03d 1 9 1"), "ElementDataFile at byte 50"},
		"a type":    {meta("UCHAR", "STRING"), "ElementType at byte 26: expected numbers of 8 to 64 bits"},
		"too long":  {append(meta("", ""), 0), "voxels at byte 74: expected 24 bytes"},
		"of no channels": {meta("DimSize", "ElementNumberOfChannels = 0\nDimSize"),
			"ElementNumberOfChannels at byte 10"},
		"compressed, skipped": {meta("DimSize", "CompressedData = True\nHeaderSize = 1\nDimSize"),
			"HeaderSize at byte 32"},
		"not zlib": {meta("DimSize", "CompressedData = True\nDimSize"),
			"compressed voxels at byte 96: byte 96: expected a header of zlib"},
		"of no size": {meta("DimSize", "ElementSpacing = 0 1 1\nDimSize"),
			"ElementSpacing at byte 10: expected sizes above 0"},
		"lines": {nrrd("encoding: raw\nline skip: 3", []byte("a\nb\n")),
			"line skip at byte 79: expected 3 lines, found 2"},
		"negative": {nrrd("encoding: gzip\nbyte skip: -1", gzipped(v)),
			"byte skip at byte 62: expected a number of at least 0"},
		"far": {nrrd("encoding: raw\nbyte skip: 2305843009213693951", v), "expected 24 bytes"},
		"hex": {nrrd("encoding: hex", v), "encoding at byte 47: expected raw, gzip or bzip2"},
		"bomb": {bytes.Replace(nrrd("encoding: gzip", gzipped(v)), []byte("2 3 4"),
			[]byte("9999 9999 4"), 1), "compressed voxels at byte 69: expected at least"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, test.file, test.want)
		})
	}
}

// TestStreamErrors: a stream that ends early, goes on, or is damaged is an error of the read that finds it.
func TestStreamErrors(t *testing.T) {
	v := counted(24)
	damaged := gzipped(v)
	damaged[len(damaged)-5] ^= 1 // in the checksum
	for name, test := range map[string]struct {
		stored []byte
		want   string
	}{
		"short": {gzipped(v[:20]),
			"compressed voxels at byte 63: expected 24 plain bytes, found 20, where the stream ends"},
		"long":    {gzipped(append(v, 0)), "compressed voxels at byte 63: expected 24 plain bytes, found more"},
		"cut":     {gzipped(v)[:20], "expected 24 plain bytes"},
		"damaged": {damaged, "after 24 plain bytes: byte "},
	} {
		path := filepath.Join(t.TempDir(), "f")
		write(t, path, append([]byte("NRRD0005\ntype: uchar\ndimension: 3\nsizes: 2 3 4\nencoding: gzip\n\n"),
			test.stored...))
		a := mustOpen(t, path)
		err := a.Read(t.Context(), volume.Box{Max: a.Grid.Size}, make([]byte, 24))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// TestStreamOrder: rows of a stream are read in order; those between are skipped, those before are an error.
func TestStreamOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, append([]byte("NRRD0005\ntype: uchar\ndimension: 3\nsizes: 2 3 4\nencoding: gzip\n\n"),
		gzipped(counted(24))...))
	a := mustOpen(t, path)
	row := func(y, z int) ([]byte, error) {
		b := make([]byte, 2)
		return b, a.Read(t.Context(), volume.Box{Min: volume.Vec{0, y, z}, Max: volume.Vec{2, y + 1, z + 1}}, b)
	}
	for _, p := range [][2]int{{1, 0}, {0, 2}, {2, 3}} {
		got, err := row(p[0], p[1])
		if want := byte(6*p[1] + 2*p[0] + 1); err != nil || got[0] != want {
			t.Errorf("row %v: got %d, %v, want %d", p, got[0], err, want)
		}
	}
	if _, err := row(0, 1); err == nil || !strings.Contains(err.Error(), "has only one direction") {
		t.Errorf("backwards: %v", err)
	}
	if err := a.Read(t.Context(), volume.Box{Min: volume.Vec{1, 2, 3}, Max: volume.Vec{2, 3, 4}},
		make([]byte, 1)); err == nil ||
		!strings.Contains(err.Error(), "expected whole rows of 2 voxels") {
		t.Errorf("part of a row: %v", err)
	}
}

// TestSlicerSegmentation: the keys that 3D Slicer writes make an NRRD a segmentation.
func TestSlicerSegmentation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path,
		fmt.Append(nil, "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 1 1\nencoding: raw\nSegment0_ID:=Segment_1\n\n1"))
	if a := mustOpen(t, path); a.Labels.Content != Segmentation || a.Labels.Why == "" {
		t.Errorf("got %+v", a.Labels)
	}
}
