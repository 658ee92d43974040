package view_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/internal/tests/refdata"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/precomputed"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
	"github.com/wkwfs/wkwfs/zarr"
)

// writeCube writes a cube of the layer color.
func writeCube(t *testing.T, dir, name string, bt wkw.BlockType, src volume.Source) string {
	t.Helper()
	path := filepath.Join(dir, "color/1", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := wkw.WriteCube(context.Background(), path, bt, src); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOMEZarrOfManyChunks: an array with more than 2^20 numbers of chunks on an axis lists none there. Each has a name.
// It lists the chunks on the other axes.
func TestOMEZarrOfManyChunks(t *testing.T) {
	dir := t.TempDir()
	header := []byte{'W', 'K', 'W', 1, 15<<4 | 4, 1, 1, 1, 16, 0, 0, 0, 0, 0, 0, 0} // 2^15 blocks of 2^4 voxels a side
	for x := range 33 {
		path := filepath.Join(dir, fmt.Sprintf("color/1/z0/y0/x%d.wkw", x))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, header, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tree := open(t, dir, ".")
	const column = 32 // blocks
	for name, want := range map[string]int{"1": 2 + 1<<15/column, "1/7": 1 << 15, "1/1023/32767": 0} {
		if entries, err := fs.ReadDir(tree, "color/ome.zarr/"+name); err != nil || len(entries) != want {
			t.Errorf("%s: got %d entries, %v; expected %d", name, len(entries), err, want)
		}
	}
	if info, err := fs.Stat(tree, "color/ome.zarr/1/1023/5/1081343"); err != nil || info.Size() != column*4096 {
		t.Errorf("the last chunk: %v, %v", info, err)
	}
	for _, name := range []string{"1/1024", "1/1023/5/1081344"} {
		if _, err := fs.Stat(tree, "color/ome.zarr/"+name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOMEZarrDamage damages one block. Its chunk is an error in both forms, with the file and the block. The other
// chunks read, and each is what it was.
func TestOMEZarrDamage(t *testing.T) {
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(32), volume.Cube(16), volume.Uint8, 1)}
	dir := t.TempDir()
	path := writeCube(t, dir, "z0/y0/x0.wkw", wkw.LZ4, src)
	sound := chunksOf(t, open(t, dir, "."))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	start := int(binary.LittleEndian.Uint64(b[16+3*8:])) // of block 0,0,1, the fifth
	for _, c := range []struct {
		at     int // in the file
		damage byte
		block  string
		stat   bool // the size is not known
	}{
		{16 + 8*8, 0xFF, "block 0,0,0", false}, // its first token
		{start, 0xFF, "block 0,0,1", false},    // the second block of the same chunk
		{16 + 7, 0x7F, "block 0,0,0", true},    // its end in the jump table
		{16 + 4*8 + 7, 0x7F, "block 0,0,1", true},
	} {
		damaged := bytes.Clone(b)
		damaged[c.at] ^= c.damage
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		tree := open(t, dir, ".")
		for _, form := range []string{"ome.zarr/1", "ome-v3.zarr/1/c"} {
			_, err := fs.ReadFile(tree, "color/"+form+"/0/0/0")
			if err == nil || !strings.Contains(err.Error(), "x0.wkw") || !strings.Contains(err.Error(), c.block) {
				t.Errorf("byte %d: %s: %v", c.at, form, err)
			}
			if _, err := fs.Stat(tree, "color/"+form+"/0/0/0"); (err != nil) != c.stat {
				t.Errorf("byte %d: %s: stat: %v", c.at, form, err)
			}
		}
		for name, want := range sound {
			// starts where the other ends
			skip := name == "color/ome.zarr/1/0/0/0" || name == "color/ome.zarr/1/0/0/1" && c.stat
			if got, err := fs.ReadFile(tree, name); !skip && (err != nil || !bytes.Equal(got, want)) {
				t.Errorf("byte %d: %s: %d bytes, %v", c.at, name, len(got), err)
			}
		}
	}
}

// chunksOf returns all chunks of ome.zarr in mag 1 of color.
func chunksOf(t *testing.T, tree fs.FS) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(tree, "color/ome.zarr/1", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[name], err = fs.ReadFile(tree, name)
		}
		return err
	})
	if err != nil || len(all) < 3 {
		t.Fatalf("%d chunks, %v", len(all), err)
	}
	return all
}

// TestOMEZarrChanges: a new cube has chunks at once, those of a removed cube are gone, and an open chunk of a replaced
// cube is what it was or fails.
func TestOMEZarrChanges(t *testing.T) {
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(64), volume.Cube(16), volume.Uint8, 1)}
	dir := writeLayer(t, src, "color", []string{"z0/y0/x0.wkw"})
	tree := open(t, dir, ".")
	const old, added = "color/ome.zarr/1/0/2/1", "color/ome.zarr/1/0/2/5"
	want, err := fs.ReadFile(tree, old)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(tree, added); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a chunk without a cube: %v", err)
	}
	writeCube(t, dir, "z0/y0/x1.wkw", wkw.LZ4, src)
	if got, err := fs.ReadFile(tree, added); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a chunk of a new cube: %d bytes, %v", len(got), err)
	}
	f, err := tree.Open(old)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := writeCube(t, dir, "z0/y0/x0.wkw", wkw.Raw, src)
	if got, err := readPiece(f, 0, 1<<16); err == nil && !bytes.Equal(got, want) {
		t.Errorf("an open chunk: %d other bytes", len(got))
	}
	got, err := fs.ReadFile(tree, old)
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range second(bloscBlocks(t, got, 4*16*16*16)) {
		if i >= 2 && len(block) != 16*16*16 { // the layer starts at z 33
			t.Errorf("a chunk of a replaced cube: block %d has %d bytes", i, len(block))
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Open(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a chunk of a removed cube: %v", err)
	}
}

// TestOMEZarrRoundTrip opens copies of the views as Zarr sources. They have the voxels and voxel sizes of the layer,
// and end where it ends. They start at 0.
func TestOMEZarrRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	for _, source := range []string{"wkw/sparse", "wkw/two_channels", "wkw/type_uint16", "wkw/type_int64",
		"wkw/type_double"} {
		tree := open(t, refdata.Dir(t, source), ".")
		layers, err := fs.ReadDir(tree, ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			if !l.IsDir() {
				continue
			}
			for _, form := range []string{"ome.zarr", "ome-v3.zarr"} {
				name := l.Name() + "/" + form
				compareLayers(t, source+"/"+name, tree, l.Name(), openCopy(t, tree, name))
			}
		}
	}
}

// openCopy returns the tree of a copy of a view.
func openCopy(t *testing.T, tree fs.FS, name string) fs.FS {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	from, err := fs.Sub(tree, name)
	if err == nil {
		err = os.CopyFS(dir, from)
	}
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	root, err := zarr.Recognise(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	return view.New(root, view.Options{})
}

// compareLayers compares the mags of a layer of want with those of the root of got: a box that has the start of the
// layer.
func compareLayers(t *testing.T, name string, want fs.FS, layer string, got fs.FS) {
	t.Helper()
	mags, err := fs.ReadDir(want, layer)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range mags {
		var about struct {
			Origin, Shape volume.Vec
			Spacing       []float64 `json:"voxel_size"`
			Mag           volume.Vec
		}
		b, err := fs.ReadFile(want, layer+"/"+m.Name()+"/volume.json")
		if err != nil {
			continue // not a mag
		}
		if err := json.Unmarshal(b, &about); err != nil {
			t.Fatal(err)
		}
		other := about
		if b, err = fs.ReadFile(got, m.Name()+"/volume.json"); err != nil || json.Unmarshal(b, &other) != nil {
			t.Errorf("%s: mag %s: %v", name, m.Name(), err)
			continue
		}
		if end := about.Origin.Add(about.Shape); other.Origin != (volume.Vec{}) || other.Shape != end ||
			!slices.Equal(about.Spacing, other.Spacing) {
			t.Errorf("%s: mag %s: got the box %v + %v and voxels of %v, expected the end %v and voxels of %v", name,
				m.Name(), other.Origin, other.Shape, other.Spacing, end, about.Spacing)
		}
		size := about.Shape.Min(volume.Cube(100))
		box := volume.Box{Min: about.Origin, Max: about.Origin.Add(size)}
		file := fmt.Sprintf("%s/box/%v.raw", m.Name(), box)
		if sum(t, want, layer+"/"+file) != sum(t, got, file) {
			t.Errorf("%s: mag %s: other voxels in %v", name, m.Name(), box)
		}
		compared++
	}
	if compared == 0 {
		t.Errorf("%s: no mag", name)
	}
}

func sum(t *testing.T, tree fs.FS, name string) [32]byte {
	t.Helper()
	b, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Error(err)
	}
	return sha256.Sum256(b)
}

// TestOMEZarrBelowZero shows a Precomputed volume that starts below 0. Index 0 is its first voxel, and the translation
// says where that is.
func TestOMEZarrBelowZero(t *testing.T) {
	dir := t.TempDir()
	info := `{"@type":"neuroglancer_multiscale_volume","type":"image","data_type":"uint8","num_channels":1,"scales":[
		{"key":"a","size":[20,20,20],"voxel_offset":[-10,5,-40],"chunk_sizes":[[20,20,20]],"resolution":[4,4,40],"encoding":"raw"}]}`
	voxels := voxeltest.Pattern(volume.Grid{Size: volume.Cube(20), Block: volume.Cube(20), Type: volume.Uint8,
		Channels: 1})
	for name, content := range map[string][]byte{"info": []byte(info), "a/-10-10_5-25_-40--20": voxels} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	root, err := precomputed.Recognise(fsys, ".", precomputed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree := view.New(root, view.Options{})
	if a := readArray(t, tree, "ome.zarr/a/.zarray"); !slices.Equal(a.Shape, []int{20, 25, 20}) || a.Compressor != nil {
		t.Errorf("array: %+v", a)
	}
	attributes, err := fs.ReadFile(tree, "ome.zarr/.zattrs")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(attributes)), ""),
		`"translation":[-1600,0,-40]`) {
		t.Errorf("%v: %s", err, attributes)
	}
	first, err := fs.ReadFile(tree, "ome.zarr/a/0/0/0") // y 0 to 19, of which the layer has those from 5 on
	if err != nil || !bytes.Equal(first[100:120], voxels[:20]) || !bytes.Equal(first[:100], make([]byte, 100)) {
		t.Errorf("chunk: %d bytes, %v", len(first), err)
	}
}

// TestOMEZarrWindow: the metadata of an image of 16 bits have the window of the layer in the metadata of the dataset,
// and have none without that.
func TestOMEZarrWindow(t *testing.T) {
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(32), volume.Cube(16), volume.Uint16, 1)}
	dir := t.TempDir()
	writeCube(t, dir, "z0/y0/x0.wkw", wkw.LZ4, src)
	for view, want := range map[string]string{
		`{"intensityRange":[100,2000]}`: `"window":{"min":0,"max":65535,"start":100,"end":2000}`,
		`{}`:                            "",
	} {
		properties := `{"dataLayers":[{"name":"color","category":"color","defaultViewConfiguration":` + view + `}]}`
		if err := os.WriteFile(filepath.Join(dir, webknossos.PropertiesFile), []byte(properties), 0o644); err != nil {
			t.Fatal(err)
		}
		tree := open(t, dir, ".")
		for _, file := range []string{"ome.zarr/.zattrs", "ome.zarr/.zmetadata", "ome-v3.zarr/zarr.json"} {
			b, err := fs.ReadFile(tree, "color/"+file)
			text := strings.Join(strings.Fields(string(b)), "")
			if err != nil || strings.Contains(text, "omero") != (want != "") || !strings.Contains(text, want) {
				t.Errorf("%s: %s: %v: %s", view, file, err, text)
			}
		}
	}
}
