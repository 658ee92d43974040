package overlay

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/read/mosaic"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestRandom compares random overlays, whose blocks have any sizes and places, with a model that knows no blocks.
func TestRandom(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		bounds := volume.Box{Min: volume.Vec{1, 2, 3}, Max: volume.Vec{4 + r.IntN(20), 5 + r.IntN(20), 6 + r.IntN(20)}}
		voxels := []volume.Type{volume.Uint8, volume.Uint32, volume.Uint64}[r.IntN(3)]
		below, above := random(r, bounds, voxels), random(r, bounds, voxels)
		if seed%5 == 0 { // the grids agree
			above = random(r, bounds, voxels)
			above.grid, above.cubes = below.grid, map[volume.Vec]map[volume.Vec][]byte{}
			for c, blocks := range below.cubes {
				for at := range blocks {
					above.cubes[c] = map[volume.Vec][]byte{at: bytes.Repeat([]byte{9}, above.grid.BlockBytes())}
				}
			}
		}
		m := NewMag(below, above)
		want := naive(below, above, bounds)
		var got []byte
		got, err := volume.ReadBox(t.Context(), m, bounds)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: ReadBox differs: %v", seed, err)
		}
		if got = readMosaic(t, m, bounds); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: the mosaic differs: a cube is not listed, or has another version than it is opened with",
				seed)
		}
		checkLevels(t, m)
	}
}

// readMosaic reads a box as the read path does: by the cubes that are listed, in the versions that they were listed
// with.
func readMosaic(t *testing.T, m volume.Mag, box volume.Box) []byte {
	t.Helper()
	all, err := mosaic.New(m, true)
	if err != nil {
		t.Fatal(err)
	}
	all.Open()
	defer func() { all.Close(); all.CloseIdle() }()
	var voxels []byte
	array := all.Flat(box)
	voxels = make([]byte, array.Size())
	err = array.Fill(voxels, 0, func(blocks []volume.Vec, copyBlock func(volume.Vec, []byte)) error {
		for _, at := range blocks {
			b, err := volume.ReadBlock(t.Context(), all, at)
			if err != nil {
				return err
			}
			if b == nil {
				b = make([]byte, all.Grid().BlockBytes())
			}
			copyBlock(at, b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return voxels
}

// checkLevels: all ways to list cubes agree, and each cube that is listed can be described and opened, in the same
// version.
func checkLevels(t *testing.T, m *Mag) {
	t.Helper()
	var walked, listed []volume.Vec
	for c, err := range m.walkCubes() {
		if err != nil {
			t.Fatal(err)
		}
		walked = append(walked, c)
	}
	zs, _ := m.Cubes()
	for _, z := range zs {
		ys, _ := m.Cubes(z)
		for _, y := range ys {
			var described []int
			for entries, err := range m.describeCubes(z, y) {
				for _, e := range entries {
					if described = append(described, e.N); e.Err != nil || err != nil {
						t.Fatal(e.Err, err)
					}
				}
			}
			xs, _ := m.Cubes(z, y)
			if slices.Sort(described); !slices.Equal(xs, described) {
				t.Fatalf("described %v, listed %v", described, xs)
			}
			for _, x := range xs {
				listed = append(listed, volume.Vec{x, y, z})
			}
		}
	}
	order := func(a, b volume.Vec) int { return slices.Compare([]int{a[2], a[1], a[0]}, []int{b[2], b[1], b[0]}) }
	if slices.SortFunc(walked, order); !slices.Equal(walked, listed) {
		t.Fatalf("walked %v, listed %v", walked, listed)
	}
	for _, c := range listed {
		info, err := m.StatCubes(c[2], c[1], c[0])
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.OpenCube(c)
		if err != nil {
			t.Fatal(err)
		}
		if f.Version() != vfs.VersionOf(info) {
			t.Fatalf("cube %v is opened with another version than it is described with", c)
		}
		f.Close()
	}
}

// pair returns two mags of one block in each cube: cube 0 is in both, cube 1 below only, cube 2 above only.
func pair() (below, above *stored) {
	grid := volume.Grid{Type: volume.Uint8, Channels: 1, Size: volume.Cube(2), Block: volume.Cube(2)}
	made := func(value byte, xs ...int) *stored {
		m := &stored{grid: grid, bounds: volume.Box{Max: volume.Vec{8, 2, 2}},
			cubes: map[volume.Vec]map[volume.Vec][]byte{}, age: map[volume.Vec]int{}}
		for _, x := range xs {
			m.cubes[volume.Vec{x}] = map[volume.Vec][]byte{{}: bytes.Repeat([]byte{value}, 8)}
		}
		return m
	}
	return made(1, 0, 1), made(2, 0, 2)
}

// TestUntouched: a cube without a block above is the cube below itself, in its version.
func TestUntouched(t *testing.T) {
	below, above := pair()
	m := NewMag(below, above)
	f, err := m.OpenCube(volume.Vec{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.(*storedCube); !ok || above.opened != 0 {
		t.Errorf("got a %T, and %d cubes above were opened", f, above.opened)
	}
	if _, err := m.OpenCube(volume.Vec{3}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a cube that neither has: %v", err)
	}
}

// TestVersions: a change of either side changes the version of a merged cube; a part that changes after it was listed
// is an error.
func TestVersions(t *testing.T) {
	below, above := pair()
	version := func() vfs.Version {
		info, err := NewMag(below, above).StatCubes(0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return vfs.VersionOf(info)
	}
	seen := map[vfs.Version]string{version(): "first"}
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"below", func() { below.age[volume.Vec{}]++ }},
		{"above", func() { above.age[volume.Vec{}]++ }},
		{"gone", func() { delete(below.cubes, volume.Vec{}) }},
	} {
		name := c.name
		c.change()
		if v := version(); seen[v] != "" {
			t.Errorf("%s: the version is that of %s", name, seen[v])
		} else {
			seen[v] = name
		}
	}
	m := NewMag(below, above)
	f, err := m.OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	above.age[volume.Vec{}]++
	if _, err := volume.ReadBlock(t.Context(), f, volume.Vec{}); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("a part that changed: %v", err)
	}
	delete(above.cubes, volume.Vec{})
	if _, err := volume.ReadBlock(t.Context(), f, volume.Vec{}); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("a part that is gone: %v", err)
	}
}

// TestFaults: a block above that cannot be read is an error of the blocks that it covers, never the voxels below.
func TestFaults(t *testing.T) {
	below, above := pair()
	broken := errors.New("broken")
	above.faults = map[volume.Vec]error{{}: broken}
	for _, origin := range []volume.Vec{{}, {1}} { // exactly over a block, and over two
		above.grid.Origin = origin
		m := NewMag(below, above)
		if _, err := volume.ReadBox(t.Context(), m,
			volume.Box{Min: volume.Vec{1}, Max: volume.Vec{2, 1, 1}}); !errors.Is(err, broken) {
			t.Errorf("origin %v: %v", origin, err)
		}
		if b, err := volume.ReadBox(t.Context(), m,
			volume.Box{Min: volume.Vec{5}, Max: volume.Vec{6, 1, 1}}); err != nil || b[0] != 2 {
			t.Errorf("origin %v: %v %v", origin, b, err)
		}
	}
}

// TestTypes: voxels of another type are refused, and the error names both.
func TestTypes(t *testing.T) {
	below, above := pair()
	above.grid.Type = volume.Uint16
	if err := Compatible(below, above, "segmentation", "Volume"); err == nil ||
		!strings.Contains(err.Error(), "Volume over segmentation: expected voxels of 1 × uint8, found 1 × uint16") {
		t.Error(err)
	}
	if _, err := NewMag(below, above).OpenCube(volume.Vec{}); err == nil || !strings.Contains(err.Error(), "uint16") {
		t.Error(err)
	}
}

// TestConcurrent reads one cube from many goroutines.
func TestConcurrent(t *testing.T) {
	below, above := pair()
	f, err := NewMag(below, above).OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			above := *above // its counter of calls is not safe
			shared := f.(*cube)
			own := &cube{below: shared.below, above: &above, parts: shared.parts, grid: shared.grid, info: shared.info}
			if b, err := volume.ReadBlock(t.Context(), own, volume.Vec{}); err != nil || b[0] != 2 {
				t.Error(b, err)
			}
		})
	}
	wait.Wait()
}

// TestVersionsOfParts: two cubes that a block above covers, and that are absent below, are two contents.
func TestVersionsOfParts(t *testing.T) {
	below, above := pair()
	below.cubes = map[volume.Vec]map[volume.Vec][]byte{}
	above.grid.Size, above.grid.Block = volume.Vec{4, 2, 2}, volume.Vec{4, 2, 2}
	above.cubes = map[volume.Vec]map[volume.Vec][]byte{{}: {{}: {1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}}}
	m := NewMag(below, above)
	seen := map[vfs.Version]bool{}
	for x := range 2 {
		f, err := m.OpenCube(volume.Vec{x})
		if err != nil {
			t.Fatal(err)
		}
		info, err := m.StatCubes(0, 0, x)
		if err != nil || vfs.VersionOf(info) != f.Version() || seen[f.Version()] {
			t.Errorf("cube %d: %v, or its version is that of another one", x, err)
		}
		seen[f.Version()] = true
	}
}
