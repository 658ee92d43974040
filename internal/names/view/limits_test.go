package view

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// smallLayer is a layer of some of 2 × 2 × 2 equal cubes of 32³ bytes, in blocks of 16³.
type smallLayer struct {
	files  fstest.MapFS
	cubes  []volume.Vec
	bounds volume.Box // from the origin on
	cube   []byte     // voxels
	origin volume.Vec
}

// shiftedLayer is a layer whose mags have another origin.
type shiftedLayer struct {
	volume.Layer
	of *smallLayer
}

func (l shiftedLayer) Mag(name string) (volume.Mag, error) {
	m, err := l.Layer.Mag(name)
	return shiftedMag{m, l.of}, err
}

type shiftedMag struct {
	volume.Mag
	of *smallLayer
}

func (m shiftedMag) Bounds() (volume.Box, error) { return m.of.bounds.Add(m.of.origin), nil }

func (m shiftedMag) CubeGrid() (volume.Grid, error) {
	g, err := m.Mag.CubeGrid()
	g.Origin = m.of.origin
	return g, err
}

const smallSide, smallBlock = 32, 16

// newSmallLayers returns the layers with the cubes whose bits are set, for each of the sets.
func newSmallLayers(t *testing.T, sets []int) (layers []smallLayer) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x0.wkw")
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(smallSide), volume.Cube(smallBlock), volume.Uint8, 1)}
	if err := wkw.WriteCube(t.Context(), name, wkw.Raw, src); err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		l := smallLayer{files: fstest.MapFS{}, cube: src.Flat(volume.Box{Max: volume.Cube(smallSide)})}
		for i := range 8 {
			if c := (volume.Vec{i & 1, i >> 1 & 1, i >> 2}); set>>i&1 != 0 {
				l.files[fmt.Sprintf("color/1/z%d/y%d/x%d.wkw", c[2], c[1], c[0])] = &fstest.MapFile{Data: stored}
				l.cubes = append(l.cubes, c)
				l.bounds = l.bounds.Union(c.BoxOfOne().Mul(volume.Cube(smallSide)))
			}
		}
		layers = append(layers, l)
	}
	return layers
}

// open returns the tree of the layer.
func (l smallLayer) open(t *testing.T, most limits) *FS {
	t.Helper()
	root, err := webknossos.Recognise(l.files, "color", webknossos.Options{Name: "color"})
	if err != nil {
		t.Fatal(err)
	}
	root.Layer = shiftedLayer{root.Layer, &l}
	return newFS(root, Options{}, most)
}

// has reports whether a box, in absolute voxels, has a voxel of a cube.
func (l smallLayer) has(box volume.Box) bool {
	box = box.Sub(l.origin)
	return slices.ContainsFunc(l.cubes,
		func(c volume.Vec) bool { return !box.Intersect(c.BoxOfOne().Mul(volume.Cube(smallSide))).Empty() })
}

// voxels returns the voxels of a box, in absolute voxels.
func (l smallLayer) voxels(box volume.Box) (b []byte) {
	side := volume.Cube(smallSide)
	for v := range box.Sub(l.origin).All() {
		if !slices.Contains(l.cubes, v.Div(side)) {
			b = append(b, 0)
			continue
		}
		b = append(b, l.cube[v.Sub(v.Div(side).Mul(side)).Index(side)])
	}
	return b
}

// names lists a directory.
func names(t *testing.T, f *FS, dir string) []string {
	t.Helper()
	entries, err := f.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestAllListings lists slices and chunks of layers of all kinds, with all limits of entries. A directory has all of
// them, or none if they are more. All can be opened, whatever is listed.
func TestAllListings(t *testing.T) {
	sets := []int{1, 2, 16, 17, 128, 129, 33, 66, 90, 105, 126, 254, 255}
	if testing.Short() {
		sets = sets[8:10]
	}
	for _, l := range newSmallLayers(t, sets) {
		for blocks := 1; blocks <= 2; blocks++ { // of a column
			for _, most := range []int{0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 1000} {
				l.checkListings(t, limits{listed: most, cubes: int64(most), levels: int64(most),
					column: columnLimits{bytes: blocks * smallBlock * smallBlock * smallBlock}})
			}
		}
	}
}

// TestListingsOfOrigins: chunks of OME-Zarr start at voxel 0, or at the first voxel of the layer if that is before it.
// They need not start where a cube does.
func TestListingsOfOrigins(t *testing.T) {
	for _, l := range newSmallLayers(t, []int{1, 90, 254}) {
		for _, l.origin = range []volume.Vec{volume.Cube(-64), {-40, 8, 100}, {20, -10, -33}, volume.Cube(48)} {
			l.checkListings(t, limits{listed: 1000, cubes: 1, levels: 1,
				column: columnLimits{bytes: smallBlock * smallBlock * smallBlock}})
		}
	}
}

// checkListings compares all listings with a naive model.
func (l smallLayer) checkListings(t *testing.T, most limits) {
	t.Helper()
	f := l.open(t, most)
	expect := func(dir string, all []string) {
		t.Helper()
		if len(all) > most.listed {
			all = []string{}
		}
		slices.Sort(all)
		if got := names(t, f, dir); !slices.Equal(got, all) {
			t.Errorf("cubes %v at %v, %s with %+v: got %q, expected %q", l.cubes, l.origin, dir, most, got, all)
		}
	}
	bounds := l.bounds.Add(l.origin)
	var slices, scale []string
	for z := bounds.Min[2]; z < bounds.Max[2]; z++ {
		slices = append(slices, tree.SliceName(z))
	}
	expect("1/slices", slices)
	for at := range l.bounds.Div(volume.Cube(smallBlock)).All() {
		if box := at.BoxOfOne().Mul(volume.Cube(smallBlock)).Add(l.origin); l.has(box) {
			scale = append(scale, tree.BoxName(box))
		}
	}
	expect("precomputed/1", scale)
	o := omeModel{smallLayer: l, chunk: volume.Vec{smallBlock, smallBlock,
		most.column.bytes / (smallBlock * smallBlock)}}
	for axis, lo := range bounds.Min {
		if lo < 0 {
			o.start[axis] = lo
		}
	}
	o.numbers = bounds.Sub(o.start).Div(o.chunk).Max
	o.check(t, f, expect)
}

// omeModel is a naive model of the chunks of a layer as OME-Zarr.
type omeModel struct {
	smallLayer
	start, chunk volume.Vec
	numbers      volume.Vec // of chunks
}

// listed returns the numbers on an axis of chunks that have a voxel of a cube. part has the chunks, of all numbers on
// the axis.
func (o omeModel) listed(axis int, part volume.Box) (all []string) {
	for n := range o.numbers[axis] {
		part.Min[axis], part.Max[axis] = n, n+1
		if o.has(part.Mul(o.chunk).Add(o.start).Intersect(o.bounds.Add(o.origin))) {
			all = append(all, strconv.Itoa(n))
		}
	}
	return all
}

// check checks the listings, and which chunks exist. It reads some of them.
func (o omeModel) check(t *testing.T, f *FS, expect func(string, []string)) {
	t.Helper()
	zs := o.listed(2, volume.Box{Max: o.numbers})
	expect("ome-v3.zarr/1/c", slices.Clone(zs))
	for z := range o.numbers[2] {
		part := volume.Box{Max: o.numbers}
		part.Min[2], part.Max[2] = z, z+1
		ys := o.listed(1, part)
		if slices.Contains(zs, strconv.Itoa(z)) {
			expect(fmt.Sprintf("ome-v3.zarr/1/c/%d", z), slices.Clone(ys))
		}
		for y := range o.numbers[1] {
			part.Min[1], part.Max[1] = y, y+1
			xs := o.listed(0, part)
			if slices.Contains(ys, strconv.Itoa(y)) {
				expect(fmt.Sprintf("ome-v3.zarr/1/c/%d/%d", z, y), slices.Clone(xs))
			}
			for x := range o.numbers[0] {
				o.checkChunk(t, f, volume.Vec{x, y, z}, slices.Contains(xs, strconv.Itoa(x)))
			}
		}
	}
}

func (o omeModel) checkChunk(t *testing.T, f *FS, at volume.Vec, exists bool) {
	t.Helper()
	name := fmt.Sprintf("ome-v3.zarr/1/c/%d/%d/%d", at[2], at[1], at[0])
	if _, err := fs.Stat(f, name); exists != (err == nil) {
		t.Errorf("cubes %v at %v: %s: %v", o.cubes, o.origin, name, err)
	}
	if !exists || f.limits.listed < 64 || (at[0]+at[1]+at[2])%4 != 0 {
		return
	}
	if got, err := fs.ReadFile(f, name); err != nil ||
		!bytes.Equal(got, o.voxels(at.BoxOfOne().Mul(o.chunk).Add(o.start))) {
		t.Errorf("cubes %v at %v: %s: wrong bytes, %v", o.cubes, o.origin, name, err)
	}
}

// TestAllBatches lists a directory in batches of all sizes. All but the last are full, and each is sorted.
func TestAllBatches(t *testing.T) {
	l := newSmallLayers(t, []int{255})[0]
	f := l.open(t, usual)
	n, err := f.find("readdir", "1/z0/y0")
	if err != nil {
		t.Fatal(err)
	}
	want := names(t, f, "1/z0/y0")
	for size := 1; size <= len(want)+1; size++ {
		var got []string
		for batch, err := range batches(n.(directory), size) {
			if err != nil || len(batch) == 0 || len(batch) > size || len(got)%size != 0 {
				t.Errorf("batches of %d: %d entries after %d, %v", size, len(batch), len(got), err)
			}
			for i, e := range batch {
				if got = append(got, e.Name()); i > 0 && batch[i-1].Name() >= e.Name() {
					t.Errorf("batches of %d: %q is not sorted", size, got)
				}
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("batches of %d: got %q, expected %q", size, got, want)
		}
	}
}

// TestContentMemory: memory of all sizes has the length that is asked for, also if it is used again.
func TestContentMemory(t *testing.T) {
	for n := range 70 {
		checkContent(t, n)
	}
	for log := 7; log <= maxKeptLog; log++ {
		for _, n := range []int{1<<log - 1, 1 << log, 1<<log + 1} {
			checkContent(t, n)
		}
	}
}

func checkContent(t *testing.T, n int) {
	for range 2 {
		b := newContent(n)
		if len(b) != n || n <= 1<<maxKeptLog && cap(b)&(cap(b)-1) != 0 {
			t.Errorf("%d bytes: length %d, capacity %d", n, len(b), cap(b))
		}
		keepContent(b[:n/2])
	}
}
