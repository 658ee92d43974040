package pyramid

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/write/downsample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// array is a source in memory. It checks that it is read as it asks for.
type array struct {
	size                    volume.Vec
	voxel                   int
	voxels                  []byte
	sequential, wholePlanes bool

	mu     sync.Mutex
	next   int         // first byte that a sequential source may be asked for
	reads  map[int]int // by plane: bytes that were read
	onRead func()
}

func (a *array) Sequential() bool  { return a.sequential }
func (a *array) WholePlanes() bool { return a.wholePlanes }

func (a *array) Read(ctx context.Context, box volume.Box, dst []byte) error {
	if a.onRead != nil {
		a.onRead()
	}
	if box.Empty() || box.Intersect(volume.Box{Max: a.size}) != box || len(dst) != int(bytesOf(box, a.voxel)) {
		return fmt.Errorf("box %v of %v into %d bytes", box, a.size, len(dst))
	}
	size := box.Size()
	if a.wholePlanes && (size[0] != a.size[0] || size[1] != a.size[1]) {
		return fmt.Errorf("box %v is not of whole planes", box)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sequential {
		first := box.Min.Index(a.size) * a.voxel
		if size[0] != a.size[0] || size[1] != a.size[1] && size[2] > 1 || first < a.next {
			return fmt.Errorf("box %v is out of order", box)
		}
		a.next = first + len(dst)
	}
	for z := box.Min[2]; z < box.Max[2]; z++ {
		if a.reads == nil {
			a.reads = map[int]int{}
		}
		a.reads[z] += size[0] * size[1] * a.voxel
		for y := box.Min[1]; y < box.Max[1]; y++ {
			from := volume.Vec{box.Min[0], y, z}.Index(a.size) * a.voxel
			copy(dst[:size[0]*a.voxel], a.voxels[from:])
			dst = dst[size[0]*a.voxel:]
		}
	}
	return ctx.Err()
}

// layerCase is a layer to write, and the voxels that its mags must have.
type layerCase struct {
	Layer
	src  *array
	grid volume.Grid
}

// newCase returns a layer of random voxels, with boxes of zeros and of equal voxels in between.
func newCase(t *testing.T, r *rand.Rand, h wkw.Header, box volume.Box, factors ...volume.Factor) layerCase {
	t.Helper()
	c := layerCase{grid: h.Grid(), src: &array{size: box.Size(), voxel: h.Grid().VoxelBytes()}}
	c.src.voxels = make([]byte, bytesOf(box, c.src.voxel))
	for i := range c.src.voxels {
		c.src.voxels[i] = byte(r.Uint32())
	}
	for range 3 {
		c.fill(r)
	}
	dir := voxeltest.TempDir(t)
	c.Layer = Layer{Box: box, Memory: 1 << 20, Jobs: 2, Temp: dir, Method: downsample.Mode, Stats: &Stats{}}
	for _, f := range append([]volume.Factor{{1, 1, 1}}, factors...) {
		m := Mag{Factor: f, Dir: filepath.Join(dir, f.String()), Header: h}
		if err := os.Mkdir(m.Dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := wkw.WriteHeader(filepath.Join(m.Dir, "header.wkw"), h); err != nil {
			t.Fatal(err)
		}
		c.Mags = append(c.Mags, m)
	}
	return c
}

// fill gives all voxels of a random box the same bytes, often zeros.
func (c *layerCase) fill(r *rand.Rand) {
	var box volume.Box
	for axis := range 3 {
		box.Min[axis] = r.IntN(c.src.size[axis])
		box.Max[axis] = box.Min[axis] + 1 + r.IntN(c.src.size[axis]-box.Min[axis])
	}
	value := byte(r.IntN(3))
	for p := range box.All() {
		at := p.Index(c.src.size) * c.src.voxel
		for i := range c.src.voxel {
			c.src.voxels[at+i] = value
		}
	}
}

// write writes the layer and compares all its mags.
func (c layerCase) write(t *testing.T) {
	t.Helper()
	if err := Write(t.Context(), c.src, c.Layer); err != nil {
		t.Fatal(err)
	}
	c.compare(t)
}

// compare compares all mags with the model: each mag is computed from the voxels of the one before, with zeros outside
// of their box.
func (c layerCase) compare(t *testing.T) {
	t.Helper()
	box, voxels := c.Box, c.src.voxels
	for i, m := range c.Mags {
		if i > 0 {
			box, voxels = c.reduced(t, box, voxels, c.Mags[i-1].Factor, m.Factor)
		}
		got, err := volume.ReadBox(t.Context(), openMag(t, m.Dir), box)
		if err != nil {
			t.Fatal(err)
		}
		for j := range voxels {
			if got[j] != voxels[j] {
				t.Fatalf("mag %v of %v, byte %d of voxel %d: got %d, want %d", m.Factor, box, j%c.src.voxel,
					j/c.src.voxel, got[j], voxels[j])
			}
		}
	}
	c.checkNoTemp(t)
}

func (c layerCase) checkNoTemp(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(c.Temp, func(path string, d os.DirEntry, err error) error {
		if filepath.Ext(path) == ".tmp" {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reduced computes a mag from the one before with one call of the Reducer for the whole array.
func (c layerCase) reduced(t *testing.T, box volume.Box, voxels []byte, from, to volume.Factor) (volume.Box, []byte) {
	t.Helper()
	ratio := volume.Vec(to).Div(volume.Vec(from))
	out := box.Div(ratio)
	padded := out.Mul(ratio)
	src := make([]byte, bytesOf(padded, c.src.voxel))
	size, whole := box.Size(), padded.Size()
	for p := range box.All() {
		at := p.Sub(padded.Min).Index(whole) * c.src.voxel
		copy(src[at:at+c.src.voxel], voxels[p.Sub(box.Min).Index(size)*c.src.voxel:])
	}
	r, err := downsample.New(c.Method, c.grid.Type, c.grid.Channels, ratio)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, bytesOf(out, c.src.voxel))
	r.Reduce(dst, pitchOf(out, c.src.voxel), src, pitchOf(padded, c.src.voxel), whole)
	return out, dst
}

func pitchOf(b volume.Box, voxel int) downsample.Pitch {
	size := b.Size()
	return downsample.Pitch{Row: size[0] * voxel, Plane: size[0] * size[1] * voxel}
}

func openMag(t *testing.T, dir string) volume.Mag {
	t.Helper()
	root, err := webknossos.Recognise(os.DirFS(dir), ".", webknossos.Options{Name: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return root.Mag
}
