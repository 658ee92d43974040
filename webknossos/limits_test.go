package webknossos

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// repeated returns a metadata file with n layers of m mags each, one after the other. mag is the text of a mag.
func repeated(n, m int, mag func(i int) string) []byte {
	var b strings.Builder
	b.WriteString(`{"scale": [1, 1, 1], "dataLayers": [`)
	for l := range n {
		if l > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name": "layer%d", "mags": [`, l)
		for i := range m {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(mag(i))
		}
		b.WriteString("]}")
	}
	b.WriteString("]}")
	return []byte(b.String())
}

func shortMag(int) string { return `{"mag":1}` }

// TestLimitsOfProperties: metadata of more layers or mags than any real dataset has is an error that names the limit
// and the file. It takes little memory.
func TestLimitsOfProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	padding := strings.Repeat(" ", 1<<20)
	for _, c := range []struct {
		name string
		json func() []byte
		want string // empty: no error
	}{
		{"as many layers as allowed", func() []byte { return repeated(10_000, 1, shortMag) }, ""},
		{"as many mags as allowed", func() []byte { return repeated(1, 1000, shortMag) }, ""},
		{"as many mags of all layers as allowed", func() []byte { return repeated(100, 1000, shortMag) }, ""},
		{"a layer more", func() []byte { return repeated(10_001, 0, shortMag) },
			"dataLayers: expected at most 10000 layers, found more"},
		{"a mag more", func() []byte { return repeated(1, 1001, shortMag) },
			`layer "layer0": mags: expected at most 1000 mags, found more`},
		{"a mag of all layers more", func() []byte { return repeated(101, 991, shortMag) },
			"dataLayers: expected at most 100000 mags of all layers, found more"},
		{"as many bytes of mags as allowed", func() []byte { return repeated(1, 1_600_000, shortMag) },
			"expected at most 1000 mags"},
		{"as many bytes of layers as allowed", func() []byte { return repeated(400_000, 0, shortMag) },
			"expected at most 10000 layers"},
		{"numbers", func() []byte { return []byte(`{"scale": [` + strings.Repeat("1,", 8_000_000) + `1]}`) },
			"scale: expected 3 numbers"},
		{"coordinates", func() []byte {
			return []byte(`{"dataLayers": [{"boundingBox": {"topLeft": [` + strings.Repeat("1,", 8_000_000) + `1]}}]}`)
		}, "topLeft: expected 3 numbers"},
		{"a long file", func() []byte { return []byte(`{` + strings.Repeat(padding, 16) + `}`) },
			"expected at most 16777216 bytes, found 16777218"},
	} {
		start := time.Now()
		var err error
		json := c.json()
		if voxeltest.Race && len(json) > 2<<20 {
			continue
		}
		files := fstest.MapFS{PropertiesFile: {Data: json}}
		peak := voxeltest.PeakHeap(func() { _, err = ReadProperties(files, ".") })
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), PropertiesFile) || len(err.Error()) > 300) {
			t.Errorf("%s: got %.300v, want %q", c.name, err, c.want)
		}
		if took := time.Since(start); peak > 256<<20 || took > 2*time.Minute {
			t.Errorf("%s: %d MiB, %v", c.name, peak>>20, took)
		}
	}
}

// TestManyMags: layers and mags are found by name. Without that, the time grows with the square of their number, and
// the numbers below take hours.
func TestManyMags(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	files := magAt("color/1")
	in := source(t, files, magAt("layer0/1"))
	everywhere := func(i int) string { return fmt.Sprintf(`{"mag": [%d, 1, 1], "path": "./color/1"}`, i+1) }
	repeatedMag := func(int) string { return `{"mag": 7, "path": "./color/nothing"}` }
	for _, c := range []struct {
		name         string
		json         []byte
		layers, mags int // that exist; mags of the first layer
	}{
		{"mags at the same place", repeated(1, 1000, everywhere), 2, 1000},
		{"a mag that is described again and again", repeated(1, 1000, repeatedMag), 2, 1},
		{"layers", repeated(10_000, 1, everywhere), 10_001, 1},
		{"layers that do not exist", repeated(10_000, 10, repeatedMag), 2, 1},
	} {
		start := time.Now()
		d := newDataset(withFile{in, PropertiesFile, c.json}, ".", Options{Log: new(warnings).logger()})
		layers, err := d.Layers()
		if err != nil || len(layers) != c.layers {
			t.Fatalf("%s: %d layers, %v, want %d", c.name, len(layers), err, c.layers)
		}
		for _, name := range layers {
			if _, err := d.Layer(name); err != nil {
				t.Fatal(err)
			}
		}
		l, err := d.Layer("layer0")
		if err != nil {
			t.Fatal(err)
		}
		mags, err := l.Mags()
		if err != nil || len(mags) != c.mags {
			t.Errorf("%s: %d mags, %v, want %d", c.name, len(mags), err, c.mags)
		}
		for _, name := range mags {
			if _, err := l.Mag(name); err != nil {
				t.Error(err)
			}
		}
		l.(volume.Omitter).Omitted()
		d.Omitted()
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%s: %v", c.name, took)
		}
	}
}

// withFile is a file system with another file in its root.
type withFile struct {
	fs.FS
	name    string
	content []byte
}

func (w withFile) Open(name string) (fs.File, error) {
	if name == w.name {
		return fstest.MapFS{name: {Data: w.content}}.Open(name)
	}
	return w.FS.Open(name)
}

// TestManyDirectories: a dataset of more directories than layers are allowed is an error that names the limit.
func TestManyDirectories(t *testing.T) {
	in := fstest.MapFS{PropertiesFile: {Data: []byte("{}")}}
	for i := range maxLayers + 1 {
		in[fmt.Sprintf("layer/%d", i+1)] = &fstest.MapFile{Mode: fs.ModeDir}
		in[fmt.Sprintf("%d", i+1)] = &fstest.MapFile{Mode: fs.ModeDir}
	}
	d := newDataset(in, ".", Options{Log: new(warnings).logger()})
	if layers, err := d.Layers(); err == nil || !strings.Contains(err.Error(),
		"expected at most 10000 directories in a dataset") {
		t.Errorf("%d layers, %v", len(layers), err)
	}
	l := newLayer(in, "layer", "", nil, Scale{}, Options{})
	if mags, err := l.Mags(); err == nil || err.Error() != "layer: expected at most 1000 mags, found more" {
		t.Errorf("%d mags, %v", len(mags), err)
	}
}

// TestManyCubes: a directory of many cubes takes little memory in all that lists cubes, and each is found once.
func TestManyCubes(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	const limit = 64 << 20
	n := voxeltest.Large(1_000_000)
	h := wkw.Header{CubeBlocks: 1, BlockSide: 1, BlockType: wkw.Raw, Type: volume.Uint8, Channels: 1}
	header, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	root, err := Recognise(voxeltest.ManyCubes(n, header, header), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for what, count := range map[string]func() int{
		"AllCubes": func() (found int) {
			sum := 0
			for c, err := range volume.AllCubes(root.Mag) {
				if err != nil {
					t.Fatal(err)
				}
				sum += c[0]
				found++
			}
			if sum != n*(n-1)/2 {
				t.Errorf("the sum of the positions is %d", sum)
			}
			return found
		},
		"ListCubes": func() (found int) {
			for piece, err := range volume.ListCubes(root.Mag, 0, 0) {
				if found += len(piece); err != nil {
					t.Fatal(err)
				}
			}
			return found
		},
		"DescribeCubes": func() (found int) {
			for piece, err := range volume.DescribeCubes(root.Mag, 0, 0) {
				if found += len(piece); err != nil {
					t.Fatal(err)
				}
			}
			return found
		},
		"Bounds": func() int {
			box, err := root.Mag.Bounds()
			if err != nil {
				t.Fatal(err)
			}
			return box.Size()[0]
		},
	} {
		var found int
		if peak := voxeltest.PeakHeap(func() { found = count() }); found != n || peak > limit {
			t.Errorf("%s: %d cubes with %d MiB, want %d with at most %d", what, found, peak>>20, n, limit>>20)
		}
	}
}
