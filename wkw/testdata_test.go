package wkw

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

var update = flag.Bool("update", false, "write testdata")

const testdata = "../testdata"

// samples holds the cubes of testdata/damaged: x0.wkw, x1.wkw and so on. Their geometry is that of sampleCube. want is
// the error of opening the cube, or of reading a block.
var (
	sampleCube = cubeOf(volume.Uint8, 1, 8, 2)

	samples = []struct {
		content string
		file    func(t *testing.T) []byte
		want    string
	}{
		{"sound, LZ4", written(LZ4), ""},
		{"bad magic", damaged(set(2, 'X')), `magic at byte 0: expected "WKW", found "WKX"`},
		{"version 2", damaged(set(3, 2)), `unsupported version at byte 3: expected 1, found 2`},
		{"header cut off after 10 bytes", damaged(cut(10)), `header at byte 0: expected 16 bytes, found 10`},
		{"cut off inside the jump table", damaged(cut(51)),
			`jump table entry of block 0,0,0 at byte 16: expected at most 51 (end of file), found 595`},
		{"jump table entry 1 is below entry 0; only blocks 1,0,0 and 0,1,0 are lost", damaged(put(24, 90)),
			`jump table entry of block 1,0,0 at byte 24: expected more than 595, found 90`},
		{"block 1,0,0 decodes to 500 bytes, not 512", damaged(replaceBlock1(literals(make([]byte, 500)), 515)),
			`block 1,0,0 at byte 595: expected 512 decoded bytes, found 500`},
		{"dataOffset 0", damaged(put(8, 0)), `dataOffset at byte 8: expected at least 80, found 0`},
		{"the last two blocks cut off", damaged(cut(80 + 6*515)),
			`jump table entry of block 0,1,1 at byte 64: expected at most 3170 (end of file), found 3685`},
		{"empty", damaged(cut(0)), `header at byte 0: expected 16 bytes, found 0`},
		{"sound, raw", written(Raw), ""},
		{"sound, LZ4HC", written(LZ4HC), ""},
		{"sound, with bytes after the last block", damaged(func(b []byte) []byte { return append(b, "more"...) }), ""},
		{"sound, raw, dataOffset 40", func(*testing.T) []byte { return rawCube(sampleCube, 40) }, ""},
		{"sound, but of uint16: it does not fit the mag", func(*testing.T) []byte {
			return rawCube(cubeOf(volume.Uint16, 1, 4, 2), 16)
		}, ""},
		{"block 1,0,0 is not LZ4", damaged(set(80+515, 0x0F)),
			`block 1,0,0 at byte 595: expected 512 decoded bytes, found 0, then a match 62207 bytes back at compressed byte 1`},
	}
)

func written(bt BlockType) func(t *testing.T) []byte {
	return func(t *testing.T) []byte {
		path := filepath.Join(t.TempDir(), "x0.wkw")
		if err := WriteCube(t.Context(), path, bt, sampleCube); err != nil {
			t.Fatal(err)
		}
		return bytesOf(t, os.DirFS(filepath.Dir(path)), "x0.wkw")
	}
}

func damaged(changes ...func([]byte) []byte) func(*testing.T) []byte {
	return func(*testing.T) []byte {
		b := literalCube(sampleCube, 80)
		for _, change := range changes {
			b = change(b)
		}
		return b
	}
}

// testdataFiles returns the files of testdata by name.
func testdataFiles(t *testing.T) map[string][]byte {
	mag := filepath.Join(t.TempDir(), "header.wkw")
	h := Header{BlockSide: 8, CubeBlocks: 2, BlockType: LZ4, Type: volume.Uint8, Channels: 1}
	if err := WriteHeader(mag, h); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"damaged/datasource-properties.json": properties("damaged", 16*len(samples), 16, 16),
		"damaged/color/1/header.wkw":         bytesOf(t, os.DirFS(filepath.Dir(mag)), "header.wkw"),
		"damaged/color/1/z0/y0/x0.wkw.tmp":   []byte("WKW"),
		"draft/datasource-properties.json":   properties("draft", 1024, 1024, 1024),
		"draft/color/1/z0/y0/x0.wkw":         draftSample(t),
	}
	for i, sample := range samples {
		files[sampleName(i)] = sample.file(t)
	}
	files["README.md"] = readme()
	return files
}

func sampleName(i int) string { return fmt.Sprintf("damaged/color/1/z0/y0/x%d.wkw", i) }

// draftSample returns a raw draft cube that ends after its first block. A whole one would have a gigabyte.
func draftSample(t *testing.T) []byte {
	b, err := draftHeader(volume.Uint8, Raw).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return append(b, cubeOf(volume.Uint8, 1, 32, 32).block(volume.Vec{})...)
}

func properties(name string, x, y, z int) []byte {
	return fmt.Appendf(nil, `{
  "id": {"name": %q, "team": ""},
  "scale": {"factor": [11.24, 11.24, 28], "unit": "nanometer"},
  "dataLayers": [{
    "name": "color",
    "category": "color",
    "elementClass": "uint8",
    "numChannels": 1,
    "dataFormat": "wkw",
    "boundingBox": {"topLeft": [0, 0, 0], "width": %d, "height": %d, "depth": %d},
    "mags": [{"mag": [1, 1, 1], "cubeLength": %d}]
  }]
}
`, name, x, y, z, z)
}

func readme() []byte {
	var b bytes.Buffer
	b.WriteString(`# Test data

Small datasets, valid and damaged. Other programs wrote the files in [refdata](refdata/README.md). This command
writes all other files, and also this text:

    go test ./wkw -run TestTestdata -update

Without -update, the test compares the files with what it would write.

The value of a voxel encodes its position x, y, z in its cube. X and Y are the sides of the cube, and n = x + X·(y + Y·z).
The value is n + 0x9D·(n >> 8) + 0x3B·(n >> 16), truncated to the bytes of the voxel.

## damaged

A dataset of one layer and one mag, of uint8. Its cubes have 2 × 2 × 2 blocks of 8 × 8 × 8 voxels.

| cube | content | error |
|---|---|---|
`)
	for i, sample := range samples {
		fmt.Fprintf(&b, "| `x%d.wkw` | %s | %s |\n", i, sample.content, sample.want)
	}
	b.WriteString(`
` + "`x0.wkw.tmp`" + ` is not a cube. A writer that was killed leaves such a file.

## draft

The MPIBR draft of January 2017, raw, uint8, without header.wkw. The cube ends after block 0,0,0, because a
whole cube has a gigabyte. All other blocks are errors.
`)
	return b.Bytes()
}

// TestTestdata compares testdata with the files that it would write. With -update it writes them.
func TestTestdata(t *testing.T) {
	files := testdataFiles(t)
	if *update {
		writeTestdata(t, files)
	}
	for name, want := range files {
		if got := bytesOf(t, os.DirFS(testdata), name); !bytes.Equal(got, want) {
			t.Errorf("%s: differs from the file that -update writes", name)
		}
	}
}

func writeTestdata(t *testing.T, files map[string][]byte) {
	for name, content := range files {
		path := filepath.Join(testdata, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTestdataErrors shows that each sample is sound or has the error in the README.
func TestTestdataErrors(t *testing.T) {
	for i, sample := range samples {
		name := sampleName(i)
		err := readAll(t, os.DirFS(testdata), name)
		switch {
		case sample.want == "" && err != nil:
			t.Error(err)
		case sample.want != "" && (err == nil || err.Error() != name+": "+sample.want):
			t.Errorf("got %v\nexpected %s: %s", err, name, sample.want)
		}
	}
}

// readAll reads all blocks and returns the error of the first that fails.
func readAll(t *testing.T, fsys fs.FS, name string) error {
	f, err := OpenFile(fsys, name)
	if err != nil {
		return err
	}
	defer f.Close()
	for n := range f.Header().blocks() {
		if _, err := volume.ReadBlock(t.Context(), f, MortonBlock(n)); err != nil {
			return err
		}
	}
	return nil
}
