package knossos

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	stdimage "image"

	"github.com/klauspost/compress/snappy"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const conf = `experiment name "e_1_mag1";
boundary x 12;
boundary y 8;
boundary z 4;
scale x 10.5;
scale y 10.5;
scale z 30;
cube_edge_length 8;
magnification 1;
`

const tomlText = `[[Layer]]
Name = "e"
VoxelSize_nm = [[10, 10, 30.5], [20, 20, 30.5]]
Extent_px = [12, 8, 5]
CubeShape_px = [8, 8, 8]
FileExtension = ".raw"
`

// cubeName returns the path of a cube along x.
func cubeName(base string, mag, x int, suffix string) string {
	return fmt.Sprintf("mag%d/x%04d/y0000/z0000/%s_mag%d_x%04d_y0000_z0000%s", mag, x, base, mag, x, suffix)
}

// voxelsOf returns a cube of 8³ voxels of one byte that differ.
func voxelsOf(seed int) []byte {
	b := make([]byte, 512)
	for i := range b {
		b[i] = byte(i*7 + i/256 + seed)
	}
	return b
}

// wide returns bytes as integers of 64 bits with other high bytes.
func wide(voxels []byte) (b []byte) {
	for _, v := range voxels {
		b = binary.LittleEndian.AppendUint64(b, uint64(v)<<40|uint64(v))
	}
	return b
}

func zipped(t testing.TB, method uint16, files ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, content := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%d.seg.sz", i), Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, voxels []byte, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	m := &stdimage.Gray{Pix: voxels, Stride: width, Rect: stdimage.Rect(0, 0, width, len(voxels)/width)}
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, files map[string]string, name string) (volume.Root, error) {
	t.Helper()
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return Recognise(m, name, slog.New(slog.DiscardHandler))
}

// TestCubes reads a cube of each kind, and zeros where there is none.
func TestCubes(t *testing.T) {
	voxels := voxelsOf(1)
	var gray bytes.Buffer
	flat := stdimage.NewGray(stdimage.Rect(0, 0, 8, 64))
	for i := range flat.Pix {
		flat.Set(i%8, i/8, color.Gray{200})
	}
	if err := jpeg.Encode(&gray, flat, nil); err != nil {
		t.Fatal(err)
	}
	ids := wide(voxels)
	for _, c := range []struct {
		suffix       string
		stored, want []byte
	}{
		{".raw", voxels, voxels},
		{".png", pngOf(t, voxels, 8), voxels},
		{".png", pngOf(t, voxels, 128), voxels},
		{".jpg", gray.Bytes(), bytes.Repeat([]byte{200}, 512)},
		{".seg", ids, ids},
		{".seg.sz", snappy.Encode(nil, ids), ids},
		{".seg.sz.zip", zipped(t, zip.Deflate, snappy.Encode(nil, ids)), ids},
		{".seg.sz.zip", zipped(t, zip.Store, snappy.Encode(nil, ids)), ids},
	} {
		root, err := open(t, map[string]string{"knossos.conf": conf, cubeName("e_1", 1, 0, c.suffix): string(c.stored)},
			".")
		if err != nil {
			t.Errorf("%s: %v", c.suffix, err)
			continue
		}
		m, err := root.Layer.Mag("1")
		if err != nil {
			t.Fatal(err)
		}
		got, err := volume.ReadBox(t.Context(), m, volume.Box{Max: volume.Vec{12, 8, 4}})
		size := len(c.want) / 512
		want := make([]byte, 0, 12*8*4*size)
		for row := range 8 * 4 {
			want = append(append(want, c.want[row*8*size:(row+1)*8*size]...), make([]byte, 4*size)...)
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got other voxels, %v", c.suffix, err)
		}
		if g, _ := m.CubeGrid(); g.Spacing != [3]float64{10.5, 10.5, 30} ||
			m.About().Factor != (volume.Factor{1, 1, 1}) {
			t.Errorf("%s: got voxels of %v nm, the factor %v", c.suffix, g.Spacing, m.About().Factor)
		}
	}
}

// TestDamage: a cube that is not what its name says is an error that names the file, never zeros. Other cubes are read.
func TestDamage(t *testing.T) {
	voxels, ids := voxelsOf(1), wide(voxelsOf(1))
	sz := snappy.Encode(nil, ids)
	long := binary.AppendUvarint(nil, 1<<31)
	flipped := zipped(t, zip.Store, sz)
	flipped[60] ^= 0xff
	for _, c := range []struct {
		suffix, want string
		stored       []byte
	}{
		{".raw", "expected 512 decoded bytes, found 511", voxels[:511]},
		{".raw", "at most 512 decoded bytes", append(slices.Clone(voxels), 0)},
		{".raw", "expected 1 byte or more", nil},
		{".png", "expected 512 pixels, found 8 × 32", pngOf(t, voxels[:256], 8)},
		{".png", "png: data", pngOf(t, voxels, 8)[:100]},
		{".jpg", "jpeg", voxels},
		{".seg", "expected 4096 decoded bytes, found 4095", ids[:4095]},
		{".seg.sz", "snappy data", sz[:len(sz)-1]},
		{".seg.sz", "snappy data: expected at most 4096 decoded bytes, found 2147483648", append(long, sz...)},
		{".seg.sz", "expected 4096 decoded bytes, found 8", snappy.Encode(nil, ids[:8])},
		{".seg.sz.zip", "expected one file, found 2", zipped(t, zip.Store, sz, sz)},
		{".seg.sz.zip", "expected one file, found 0", zipped(t, zip.Store)},
		{".seg.sz.zip", "zip directory", zipped(t, zip.Store, sz)[:80]},
		{".seg.sz.zip", "zip file: zip: checksum error", flipped},
		{".seg.sz.zip", "bytes in its file, found 100000", zipped(t, zip.Deflate, make([]byte, 100000))},
	} {
		name := cubeName("e_1", 1, 0, c.suffix)
		root, err := open(t, map[string]string{"knossos.conf": conf, name: string(c.stored)}, ".")
		if err != nil {
			t.Errorf("%s: %v", c.suffix, err)
			continue
		}
		m, _ := root.Layer.Mag("1")
		_, err = volume.ReadBox(t.Context(), m, volume.Box{Max: volume.Vec{1, 1, 1}})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, expected %q", c.suffix, err, c.want)
		}
		if _, ok := errors.AsType[*volume.FormatError](err); !ok {
			t.Errorf("%s: got %T", c.suffix, err)
		}
		if b, err := volume.ReadBox(t.Context(), m,
			volume.Box{Min: volume.Vec{8}, Max: volume.Vec{9, 1, 1}}); err != nil ||
			slices.ContainsFunc(b, func(v byte) bool { return v != 0 }) {
			t.Errorf("%s: beside it: got %v, %v", c.suffix, b, err)
		}
	}
}

// layersOf returns the layers of a source with their mags and types, and what is omitted.
func layersOf(t *testing.T, root volume.Root) (found []string) {
	t.Helper()
	d := root.AsDataset("source")
	names, err := d.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		l, _ := d.Layer(name)
		mags, _ := l.Mags()
		text := name + ":"
		for _, mag := range mags {
			m, _ := l.Mag(mag)
			g, _ := m.CubeGrid()
			box, _ := m.Bounds()
			text += fmt.Sprintf(" %s %v %v", mag, g.Type, box.Size())
		}
		found = append(found, text)
		if o, ok := l.(volume.Omitter); ok {
			for _, left := range o.Omitted() {
				found = append(found, "without "+left.Name)
			}
		}
	}
	if o, ok := d.(volume.Omitter); ok {
		for _, left := range o.Omitted() {
			found = append(found, "without "+left.Name)
		}
	}
	return found
}

// TestLayers: which layers and mags a dataset has, by its configuration, its folders and a sample of its cubes.
func TestLayers(t *testing.T) {
	raw, seg := cubeName("e_1", 1, 1, ".raw"), cubeName("e_1", 1, 1, ".seg")
	second := strings.ReplaceAll(tomlText, ".raw", ".seg.sz.zip")
	for _, c := range []struct {
		name  string
		open  string
		files map[string]string
		want  string // layers with semicolons, or an error
	}{
		{"two kinds", ".", map[string]string{"knossos.conf": conf, raw: "", seg: ""},
			"color: 1 uint8 12,8,4; segmentation: 1 uint64 12,8,4"},
		{"in the folder of a mag", ".", map[string]string{"mag1/knossos.conf": conf, raw: "", "mag4/x0000/a": ""},
			"source: 1 uint8 12,8,4 4 uint8 3,2,1"},
		{"folders of mags with names", ".", map[string]string{"e_1_mag1/knossos.conf": conf, "e_1_" + raw: "",
			"e_2_mag2/x0000/a": ""}, "source: 1 uint8 12,8,4"},
		{"no cube at all", ".", map[string]string{"a.k.conf": conf, "mag1/x0000/y": ""}, "source: 1 uint8 12,8,4"},
		{"JPEG 2000 beside segmentation", ".", map[string]string{"knossos.conf": conf,
			cubeName("e_1", 1, 0, ".6.jp2"): "", seg: ""}, "segmentation: 1 uint64 12,8,4; without color"},
		{"JPEG 2000", ".", map[string]string{"knossos.conf": conf, cubeName("e_1", 1, 0, ".j2k"): ""},
			"_x0000_y0000_z0000.j2k: unsupported cube: expected .raw, "},
		{"another experiment", ".", map[string]string{"knossos.conf": conf, cubeName("e_2", 1, 0, ".raw"): ""},
			`expected one that starts with "e_1_mag"`},
		{"no mag", ".", map[string]string{"knossos.conf": conf}, "expected a folder for each mag"},
		{"no boundary", ".", map[string]string{"knossos.conf": strings.Replace(conf, "boundary y", "y", 1), raw: ""},
			"knossos.conf: boundary y: expected the size of the dataset in voxels, found none"},
		{"no scale", ".", map[string]string{"knossos.conf": strings.Replace(conf, "scale y 10.5", "scale y 0", 1),
			raw: ""}, "knossos.conf: voxel size: expected numbers above 0"},
		{"a path as a name", ".", map[string]string{"knossos.conf": strings.Replace(conf, "e_1", "../e", 1), raw: ""},
			"experiment name: expected a name of up to 200 bytes without slashes"},
		{"huge cubes", ".", map[string]string{"knossos.conf": strings.Replace(conf, "length 8", "length 4096", 1),
			raw: ""}, "expected at most 1073741824 bytes"},

		{"toml", ".", map[string]string{"a.k.toml": tomlText, "knossos.conf": conf, cubeName("e", 1, 0, ".raw"): "",
			cubeName("e", 2, 0, ".raw"): ""},
			"source: 1 uint8 12,8,5 2-2-1 uint8 6,4,5"},
		{"the configuration itself", "a.k.toml", map[string]string{"a.k.toml": tomlText,
			cubeName("e", 1, 0, ".raw"): ""}, "source: 1 uint8 12,8,5"},
		{"a mag without a voxel size", ".", map[string]string{"a.k.toml": tomlText, cubeName("e", 1, 0, ".raw"): "",
			cubeName("e", 3, 0, ".raw"): ""},
			"source: 1 uint8 12,8,5; without mag3"},
		{"two layers of one name", ".", map[string]string{"a.k.toml": tomlText + second,
			cubeName("e", 1, 0, ".raw"): ""},
			"e: 1 uint8 12,8,5; e_segmentation: 1 uint64 12,8,5"},
		{"a layer of its own folder", ".", map[string]string{"a.k.toml": tomlText + second + `URL = "./ids/"`,
			cubeName("e", 1, 0, ".raw"): "", "ids/mag1/x0000/a": ""},
			"e: 1 uint8 12,8,5; e_ids: 1 uint64 12,8,5"},
		{"a layer elsewhere", ".", map[string]string{"a.k.toml": tomlText + second + `URL = "../ids"`,
			cubeName("e", 1, 0, ".raw"): ""}, "e: 1 uint8 12,8,5; without e_segmentation"},
		{"a layer on a server", ".", map[string]string{"a.k.toml": tomlText + second + `URL = "https://x.org/e"`,
			cubeName("e", 1, 0, ".raw"): ""}, "e: 1 uint8 12,8,5; without e_segmentation"},
		{"another suffix than named", ".", map[string]string{"a.k.toml": tomlText, cubeName("e", 1, 0, ".png"): ""},
			"unsupported cube: expected .raw, found .png"},
		{"an unknown suffix", ".", map[string]string{"a.k.toml": strings.ReplaceAll(tomlText, ".raw", ".tif"),
			"mag1/x0000/a": ""}, "unsupported suffix of cubes: expected .raw, .png"},
		{"another server", ".", map[string]string{"a.k.toml": tomlText + `ServerFormat = "openconnectome"`,
			"mag1/x0000/a": ""}, "unsupported ServerFormat"},
		{"no extent", ".", map[string]string{"a.k.toml": strings.Replace(tomlText, "Extent_px", "X", 1)},
			"Extent_px: expected three whole numbers"},
		{"no layer", ".", map[string]string{"a.k.toml": "a = 1"}, "Layer: expected 1 to 1,000 layers, found 0"},
		{"no toml", ".", map[string]string{"a.k.toml": "[["}, "a.k.toml: TOML: "},
		{"too long", ".", map[string]string{"a.k.toml": strings.Repeat(" ", maxConfig+1)},
			"a.k.toml: expected at most 262144 bytes"},
		{"not UTF-8", ".", map[string]string{"a.k.conf": "\xff"}, "a.k.conf: text: expected UTF-8"},

		{"pyk", ".",
			map[string]string{"a.pyk.conf": "[Dataset]\n_BaseName = p\n_DataScale = 5,5,10, 10,10,10,\n_Extent = 9,9,9\n_CubeSize = 8,8,8\n_FileType = 0",
				cubeName("p", 1, 0, ".raw"): "", cubeName("p", 2, 0, ".raw"): ""},
			"source: 1 uint8 9,9,9 2-2-1 uint8 5,5,9"},
		{"pyk with powers", ".",
			map[string]string{"a.pyk.conf": "[Dataset]\n_BaseName = p\n_ServerFormat = knossos\n_DataScale = 5,5,10\n_Extent = 9,9,9\n_CubeSize = 8,8,8\n",
				cubeName("p", 1, 0, ".raw"): "", cubeName("p", 2, 0, ".raw"): ""},
			"source: 1 uint8 9,9,9 2 uint8 5,5,5"},
		{"pyk without a scale", ".", map[string]string{"a.pyk.conf": "[Dataset]\n_BaseName = p\n_Extent = 9,9,9\n"},
			"_DataScale: expected three numbers for each mag"},
		{"pyk of another type", ".",
			map[string]string{"a.pyk.conf": "[Dataset]\n_BaseName = p\n_DataScale=1,1,1\n_Extent = 9,9,9\n_FileType = 1"}, "unsupported _FileType"},

		{"nothing", ".", map[string]string{"mag1/x0000/y0000/z0000/a": ""}, ErrNotRecognised.Error()},
	} {
		root, err := open(t, c.files, c.open)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, expected %q", c.name, err, c.want)
			}
			continue
		}
		if got := strings.Join(layersOf(t, root), "; "); got != c.want {
			t.Errorf("%s: got %q, expected %q", c.name, got, c.want)
		}
	}
}

// TestNames: folders have at least four digits, and no others that are zero.
func TestNames(t *testing.T) {
	x := tree{"e", 2, ".raw"}
	for name, want := range map[string]int{"x0000": 0, "x0012": 12, "x9999": 9999, "x12345": 12345, "x01234": -1,
		"x12": -1, "y0000": -1, "x": -1, "x-001": -1, "x00a0": -1} {
		n, ok := x.Index(0, name)
		if ok != (want >= 0) || ok && (n != want || x.Dir(0, n) != name) {
			t.Errorf("%s: got %d, %v", name, n, ok)
		}
	}
	for suffix, want := range map[string]volume.CubeName{".seg.sz.zip": volume.BesideName, ".png": volume.OtherName,
		".j2k": volume.OtherName} {
		if got := x.Kind([]int{1, 0, 0}, "e_mag2_x0001_y0000_z0000"+suffix); got != want {
			t.Errorf("%s: got %v, expected %v", suffix, got, want)
		}
	}
	if got := x.File([]int{1, 20, 12345}); got != "e_mag2_x0001_y0020_z12345.raw" {
		t.Errorf("got %s", got)
	}
}

// TestSample: cubes of a kind that is rare are found where there are few folders, and no more than a bounded number of
// folders is read.
func TestSample(t *testing.T) {
	files := fstest.MapFS{"knossos.conf": {Data: []byte(conf)}}
	for x := range 60 {
		files[cubeName("e_1", 1, x, ".raw")] = &fstest.MapFile{}
	}
	files[cubeName("e_1", 2, 7, ".seg")] = &fstest.MapFile{} // only in the coarsest mag
	counted := &countingFS{MapFS: files}
	root, err := Recognise(counted, ".", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if layers, _ := root.Dataset.Layers(); !slices.Equal(layers, []string{"color", "segmentation"}) {
		t.Errorf("got %v", layers)
	}
	if counted.lists > 30 {
		t.Errorf("%d folders were listed", counted.lists)
	}
	local := counted.lists
	counted.lists, counted.remote = 0, true
	if _, err := Recognise(counted, ".", slog.New(slog.DiscardHandler)); err != nil || counted.lists >= local {
		t.Errorf("%d folders of an object store were listed, %d of a disk, %v", counted.lists, local, err)
	}
}

type countingFS struct {
	fstest.MapFS
	lists  int
	remote bool
}

// Speed implements [vfs.SpeedReporter].
func (c *countingFS) Speed() vfs.Speed { return vfs.Speed{Remote: c.remote} }

func (c *countingFS) Open(name string) (fs.File, error) {
	if info, err := c.MapFS.Stat(name); err == nil && info.IsDir() {
		c.lists++
	}
	return c.MapFS.Open(name)
}

func (c *countingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	c.lists++
	return c.MapFS.ReadDir(name)
}

// FuzzConfig opens a dataset with any configuration. Nothing may panic, and errors must be those of the format.
func FuzzConfig(f *testing.F) {
	f.Add(0, conf)
	f.Add(1, tomlText)
	f.Add(2, "[Dataset]\n_BaseName = p\n_DataScale = 5,5,10\n_Extent = 9,9,9\n")
	f.Add(1, "[[Layer]]\nName='e'\nVoxelSize_nm=[[1e-300,1,1],[1e300,nan,inf]]\nExtent_px=[1e18,1,1]\n")
	f.Fuzz(func(t *testing.T, which int, text string) {
		files := map[string]string{cubeName("e", 1, 0, ".raw"): "", cubeName("e", 2, 0, ".seg"): ""}
		files[[]string{"a.k.conf", "a.k.toml", "a.pyk.conf"}[uint(which)%3]] = text
		root, err := open(t, files, ".")
		if err != nil {
			return
		}
		for _, text := range layersOf(t, root) {
			if strings.HasSuffix(text, ":") {
				t.Errorf("a layer without mags: %s", text)
			}
		}
	})
}

// FuzzCube decodes any bytes as cubes of each kind.
func FuzzCube(f *testing.F) {
	ids := wide(voxelsOf(1))
	f.Add(1, pngOf(f, voxelsOf(1), 8))
	f.Add(5, snappy.Encode(nil, ids))
	f.Add(4, zipped(f, zip.Deflate, snappy.Encode(nil, ids)))
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		k := kinds[uint(which)%uint(len(kinds))]
		n := 512 * k.typ.Size()
		dst := make([]byte, n)
		if b, err := k.codecs.Decode(dst, data, n); err == nil && len(b) > n {
			t.Errorf("%s: %d bytes", k.suffix, len(b))
		}
	})
}
