package integration

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// damageTrial damages the cubes of a mag anywhere, and compares every byte of every file with what a naive reader finds
// in them: what it cannot read is EIO, in blocks, cubes, volumes and boxes, and all else reads.
var damageTrial = torture.New("damage", newDamageCase, runDamage)

// damageCase is a mag whose cubes are in a row.
type damageCase struct {
	BlockLog  int           `json:"block_log"`
	CubeLog   int           `json:"cube_log"`
	BlockType int           `json:"block_type"`
	VoxelType int           `json:"voxel_type"`
	Channels  int           `json:"channels"`
	Cubes     []damagedCube `json:"cubes"`
}

type damagedCube struct {
	Absent bool          `json:"absent,omitempty"`
	Edits  []hostileEdit `json:"edits,omitempty"`
	Cut    int           `json:"cut,omitempty"`
}

func newDamageCase(r *rand.Rand) damageCase {
	c := damageCase{1 + r.IntN(3), r.IntN(3), 1 + r.IntN(3), 1 + r.IntN(10), 1 + r.IntN(3), nil}
	size := len(c.model().file(panicking{}))
	for n := range 1 + r.IntN(4) {
		c.Cubes = append(c.Cubes, damagedCube{n > 0 && r.IntN(5) == 0, hostileEdits(r, size), hostileCut(r, size)})
	}
	return c
}

func (c damageCase) model() model {
	return model{blockLog: c.BlockLog, cubeLog: c.CubeLog, blockType: c.BlockType, voxelType: c.VoxelType,
		channels: c.Channels}
}

func (c damageCase) valid() bool {
	return c.BlockLog >= 0 && c.CubeLog >= 0 && c.BlockType >= 1 && c.VoxelType >= 1 && c.Channels >= 1 &&
		len(c.Cubes) > 0
}

func runDamage(t testing.TB, c damageCase) {
	if !c.valid() {
		t.Skip("no mag has this geometry")
	}
	m, source := c.model(), tempDir(t)
	mag := filepath.Join(source, "layer/1")
	m.writeHeader(t, mag)
	cubes := make([]*naiveCube, len(c.Cubes))
	for x, d := range c.Cubes {
		if d.Absent {
			continue
		}
		m.seed = uint32(x)
		file := hostileFile{Bytes: m.file(t), Edits: d.Edits, Cut: d.Cut}.content(t, "")
		writeFile(t, filepath.Join(mag, fmt.Sprintf("z0/y0/x%d.wkw", x)), file)
		blocks := m.read(file)
		cubes[x] = &naiveCube{blocks, m.assemble(blocks)}
	}
	w := mountWatched(t, source, 1<<20)
	d := damageCheck{t, w, m, filepath.Join(w.dir, "layer/1")}
	for x, cube := range cubes {
		if cube != nil {
			d.cube(fmt.Sprintf("z0/y0/x%d", x), cube)
		}
	}
	last := len(cubes)
	for last > 0 && cubes[last-1] == nil {
		last--
	}
	first := 0
	for first < last && cubes[first] == nil {
		first++
	}
	if first == last {
		return
	}
	d.row("volume.raw", cubes, first*m.side(), last*m.side(), 0, m.side())
	lo, hi := first*m.side()+1, last*m.side()
	d.row(fmt.Sprintf("box/%d-%d_1-%d_1-%d.raw", lo, hi, m.side(), m.side()), cubes, lo, hi, 1, m.side())
}

// naiveCube is what a naive reader found in a cube.
type naiveCube struct {
	blocks [][]byte
	flat   []byte
}

type damageCheck struct {
	t   testing.TB
	w   *watched
	m   model
	dir string
}

// cube checks the files of blocks, and the cube.
func (d damageCheck) cube(stem string, cube *naiveCube) {
	n := 1 << d.m.cubeLog
	for i := range n * n * n {
		x, y, z := i%n, i/n%n, i/n/n
		name := filepath.Join(d.dir, stem+".blocks", fmt.Sprintf("z%d/y%d/x%d.raw", z, y, x))
		var got []byte
		var err error
		d.w.request(d.t, "read "+name, func() { got, err = os.ReadFile(name) })
		want := cube.blocks[d.m.blockAt((x+d.m.side()*(y+d.m.side()*z))<<d.m.blockLog*d.m.voxelSize())]
		if want == nil && !errors.Is(err, unix.EIO) || want != nil && (err != nil || !bytes.Equal(got, want)) {
			d.t.Fatalf("%s: %d bytes, %v; want EIO: %v", name, len(got), err, want == nil)
		}
	}
	d.row(stem+".raw", []*naiveCube{cube}, 0, d.m.side(), 0, d.m.side())
}

// row reads a file of the voxels from lo to hi on x, and from min to max on y and z, of cubes in a row. It reads past
// the page cache, piece by piece: each is of one block.
func (d damageCheck) row(name string, cubes []*naiveCube, lo, hi, minimum, maximum int) {
	name = filepath.Join(d.dir, name)
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		if !errors.Is(err, unix.EIO) || !allUnreadable(cubes) {
			d.t.Fatal(err)
		}
		return
	}
	defer f.Close()
	side, block, size := d.m.side(), 1<<d.m.blockLog, d.m.voxelSize()
	off := 0
	for z := minimum; z < maximum; z++ {
		for y := minimum; y < maximum; y++ {
			for x := lo; x < hi; {
				n := min(block-x%block, hi-x)
				from := (x%side + side*(y+side*z)) * size
				d.piece(f, off, n*size, cubes[x/side], from)
				off += n * size
				x += n
			}
		}
	}
}

// piece reads bytes of one block and compares them with those of the cube from an offset on.
func (d damageCheck) piece(f *os.File, off, n int, cube *naiveCube, from int) {
	got, want := make([]byte, n), make([]byte, n)
	var err error
	d.w.request(d.t, "read "+f.Name(), func() { _, err = f.ReadAt(got, int64(off)) })
	isBad := cube != nil && cube.blocks[d.m.blockAt(from)] == nil
	if cube != nil {
		copy(want, cube.flat[from:])
	}
	if isBad && !errors.Is(err, unix.EIO) || !isBad && (err != nil || !bytes.Equal(got, want)) {
		d.t.Fatalf("%s: %d bytes at %d are %x, %v; want EIO: %v, or %x", f.Name(), n, off, got, err, isBad, want)
	}
}

func allUnreadable(cubes []*naiveCube) bool {
	for _, cube := range cubes {
		for _, b := range cube.blocks {
			if b != nil {
				return false
			}
		}
	}
	return true
}
