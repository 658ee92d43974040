package sample

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// small describes a dataset with edges inside of blocks. A cube of mag 1 is absent.
var small = Options{
	Tissue:     Usual,
	Box:        volume.Box{Min: volume.Vec{37, 10, 70}, Max: volume.Vec{101, 64, 101}},
	Block:      16,
	CubeSide:   32,
	Mags:       []int{1, 2},
	Unrecorded: volume.Box{Min: volume.Vec{64, 32, 64}, Max: volume.Vec{96, 64, 96}},
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "sample")
	if err := Write(t.Context(), dir, small); err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		for _, mag := range small.Mags {
			t.Run(fmt.Sprintf("%s/%d", l.name, mag), func(t *testing.T) { checkMag(t, dir, l, mag) })
		}
	}
}

// TestFirstView: the dataset for first steps has no hole in the three planes through its middle, which viewers show
// first. It has a hole elsewhere.
func TestFirstView(t *testing.T) {
	o := Defaults()
	hole := o.Unrecorded.Intersect(o.Box)
	if hole.Empty() {
		t.Fatal("there is no hole")
	}
	for axis := range 3 {
		middle := (o.Box.Min[axis] + o.Box.Max[axis]) / 2
		if hole.Min[axis] <= middle && middle < hole.Max[axis] {
			t.Errorf("plane %d of axis %d has a hole: %v", middle, axis, hole)
		}
	}
}

// checkMag compares every voxel of a mag with the tissue, or with 0 if it was not recorded.
func checkMag(t *testing.T, dir string, l layer, mag int) {
	box, unrecorded := coarser(small.Box, mag), coarser(small.Unrecorded, mag)
	side := volume.Cube(small.CubeSide)
	fsys := os.DirFS(filepath.Join(dir, l.name, fmt.Sprint(mag)))
	seen := 0
	for c := range (volume.Box{Max: volume.Vec{5, 4, 5}}).All() {
		cube := c.BoxOfOne().Mul(side)
		name := fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0])
		inside := cube.Intersect(box)
		if inside.Empty() || inside.Intersect(unrecorded) == inside {
			if _, err := fs.Stat(fsys, name); err == nil {
				t.Errorf("%s exists", name)
			}
			continue
		}
		seen++
		f, err := wkw.OpenFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Header().BlockType != l.blockType {
			t.Errorf("%s: got %v, want %v", name, f.Header().BlockType, l.blockType)
		}
		src := l.source(small.Tissue, Cut{Box: cube, Block: small.Block, Mag: mag})
		for b := range (volume.Box{Max: f.Grid().Blocks()}).All() {
			want := blockOf(t, src, b)
			blockBox := volume.Box{Min: cube.Min.Add(b.Mul(volume.Cube(small.Block)))}
			blockBox.Max = blockBox.Min.Add(volume.Cube(small.Block))
			size := src.Grid().VoxelBytes()
			for at := range blockBox.All() {
				if !box.Contains(at) || unrecorded.Contains(at) {
					i := at.Sub(blockBox.Min).Index(blockBox.Size()) * size
					clear(want[i : i+size])
				}
			}
			if got := blockOf(t, f, b); !bytes.Equal(got, want) {
				t.Errorf("%s: block %v differs", name, b)
			}
		}
	}
	if seen < 2 {
		t.Errorf("%d cubes", seen)
	}
}

func TestProperties(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mouse")
	if err := Write(t.Context(), dir, small); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, webknossos.PropertiesFile))
	if err != nil {
		t.Fatal(err)
	}
	var p properties
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	if p.ID.Name != "mouse" || p.Scale.Unit != "nanometer" || len(p.DataLayers) != 2 {
		t.Fatalf("got %+v", p)
	}
	color, segmentation := p.DataLayers[0], p.DataLayers[1]
	if color.ElementClass != "uint8" || segmentation.ElementClass != "uint32" || color.LargestSegmentID != nil {
		t.Errorf("got %+v", p)
	}
	if want := (boundingBox{volume.Vec{37, 10, 70}, 64, 54, 31}); color.BoundingBox != want {
		t.Errorf("bounding box: got %v, want %v", color.BoundingBox, want)
	}
	if want := (magProperties{volume.Cube(2), "./color/2", 32}); color.Mags[1] != want {
		t.Errorf("mag: got %v, want %v", color.Mags[1], want)
	}
	if got, want := *segmentation.LargestSegmentID, largestID(t, dir); got != want {
		t.Errorf("largest segment id: got %d, want %d", got, want)
	}
}

// largestID returns the largest id in the cubes of the segmentation.
func largestID(t *testing.T, dir string) (largest uint32) {
	fsys := os.DirFS(filepath.Join(dir, "segmentation"))
	cubes, err := fs.Glob(fsys, "*/z*/y*/x*.wkw")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range cubes {
		f, err := wkw.OpenFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for b := range (volume.Box{Max: f.Grid().Blocks()}).All() {
			for block := blockOf(t, f, b); len(block) > 0; block = block[4:] {
				largest = max(largest, binary.LittleEndian.Uint32(block))
			}
		}
	}
	return largest
}

func TestWriteErrors(t *testing.T) {
	full := t.TempDir()
	file := filepath.Join(full, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ dir, want string }{
		{full, "not empty: it contains file"},
		{file, "not a directory"},
	} {
		if err := Write(t.Context(), test.dir, small); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.dir, err, test.want)
		}
	}
}

// TestMetadataAppear: metadata that another process writes at the same time stay as they are.
func TestMetadataAppear(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, webknossos.PropertiesFile)
	if err := os.WriteFile(name, []byte("theirs"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writeProperties(dir, small, 1); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want %v", err, fs.ErrExist)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "theirs" {
		t.Errorf("got %q, %v", b, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 || err != nil {
		t.Errorf("files are left: %v, %v", left, err)
	}
}
