package integration

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// geometryTrial imports random voxels in a random geometry, and reads the volume in several ways, some at the same
// time. Each voxel that is read must be the one that was imported. Volumes have up to 60 MB: the windows of prefetch,
// pushes and the kernel's readahead are larger than the datasets of other trials.
var geometryTrial = torture.New("geometry", newGeometryCase, runGeometry)

type geometryCase struct {
	VoxelType int              `json:"voxel_type"` // as in the specification of WKW
	Channels  int              `json:"channels"`
	Size      [3]int           `json:"size"`   // in voxels
	Offset    [3]int           `json:"offset"` // of the first voxel in the dataset
	Block     int              `json:"block"`  // voxels of a side
	Cube      int              `json:"cube"`   // blocks of a side
	Raw       bool             `json:"raw,omitempty"`
	Zarr3     bool             `json:"zarr3,omitempty"`
	Content   torture.Seed     `json:"content"`
	Run       int              `json:"run"`             // bytes that are equal, one after another
	Empty     [2]int           `json:"empty,omitempty"` // planes of zeros, from the first to before the second
	Cache     int              `json:"cache"`           // MiB
	Delay     int              `json:"delay,omitempty"` // µs of a read of the source; 0: a local disk
	Readers   []geometryReader `json:"readers"`
}

// geometryTypes has the names of the types that import knows, by VoxelType.
var geometryTypes = [...]string{1: "uint8", 2: "uint16", 3: "uint32", 4: "uint64", 5: "float32", 6: "float64",
	7: "int8", 8: "int16", 9: "int32", 10: "int64"}

const (
	mostGeometryBytes  = 64_000_000
	mostGeometryBlocks = 1 << 16
	mostGeometryCubes  = 256 // more files take long to write
)

func newGeometryCase(r *rand.Rand) geometryCase {
	c := geometryCase{
		VoxelType: randomOf(r, []int{1, 1, 1, 2, 1 + r.IntN(10)}), Channels: randomOf(r, []int{1, 1, 1, 1, 2, 3}),
		Block: randomOf(r, []int{8, 16, 32, 32, 32, 64}), Cube: randomOf(r, []int{1, 2, 4, 8}), Raw: r.IntN(3) == 0,
		Zarr3:   r.IntN(6) == 0,
		Content: torture.Seed(r.Uint64()), Run: randomOf(r, []int{1, 1, 64}),
		Cache: randomOf(r, []int{1, 4, 16, 64, 64, 256}), Delay: randomOf(r, []int{0, 0, 0, 1000, 6000}),
	}
	for axis := range 3 {
		c.Offset[axis] = randomOf(r, []int{0, 0, r.IntN(100)})
	}
	c.Size = c.newSize(r)
	for c.count(c.Block) > mostGeometryBlocks || c.count(c.Block*c.Cube) > mostGeometryCubes {
		if c.Block < 64 {
			c.Block *= 2
		} else {
			c.Cube *= 2
		}
	}
	if r.IntN(5) == 0 {
		c.Empty[0] = r.IntN(c.Size[2])
		c.Empty[1] = c.Empty[0] + 1 + r.IntN(c.Size[2]-c.Empty[0])
	}
	for range 1 + r.IntN(5) {
		c.Readers = append(c.Readers, newGeometryReader(r))
	}
	return c
}

// newSize chooses a volume of 0.1 to 60 MB. Half of the volumes end beside a border between slabs.
func (c geometryCase) newSize(r *rand.Rand) (size [3]int) {
	most := randomOf(r, []int{200_000, 3_000_000, 20_000_000, 60_000_000}) / c.voxelSize()
	border := (1+r.IntN(4))*c.Block - c.Offset[2]%c.Block
	size[2] = max(randomOf(r, []int{border - 1, border, border + 1, border + 1, 1 + r.IntN(c.Block), 1 + r.IntN(300),
		1 + r.IntN(3000)}), 1)
	size[0] = min(randomOf(r, []int{1 + r.IntN(200), 100 + r.IntN(1400), 512, 1000, 1024}), max(most/size[2], 1))
	size[1] = min(max(most/size[2]/size[0], 1), 1500)
	if r.IntN(3) == 0 && size[1] >= 64 {
		size[1] -= size[1] % 64
	}
	return size
}

func (c geometryCase) voxelSize() int { return typeSizes[c.VoxelType] * c.Channels }

func (c geometryCase) bytes() int { return c.Size[0] * c.Size[1] * c.Size[2] * c.voxelSize() }

// count returns the number of blocks or cubes with this side.
func (c geometryCase) count(side int) int {
	n := 1
	for axis := range 3 {
		n *= (c.Offset[axis]+c.Size[axis]-1)/side - c.Offset[axis]/side + 1
	}
	return n
}

// valid reports whether the case is one that newGeometryCase could return, or a smaller one.
func (c geometryCase) valid() bool {
	if c.VoxelType < 1 || c.VoxelType >= len(geometryTypes) || c.Channels < 1 || c.Channels > 4 || c.Run < 1 ||
		c.Cache < 1 || c.Cache > 256 || c.Delay < 0 {
		return false
	}
	for axis := range 3 {
		if c.Size[axis] < 1 || c.Size[axis] > 3000 || c.Offset[axis] < 0 || c.Offset[axis] > 100 {
			return false
		}
	}
	for _, side := range []int{c.Block, c.Cube} {
		if side < 1 || side > 512 || side&(side-1) != 0 {
			return false
		}
	}
	for _, r := range c.Readers {
		if !r.valid() {
			return false
		}
	}
	return c.bytes() <= mostGeometryBytes && c.count(c.Block) <= mostGeometryBlocks &&
		c.count(c.Block*c.Cube) <= mostGeometryCubes && c.Block*c.Cube <= 1024 &&
		c.Empty[0] >= 0 && c.Empty[0] <= c.Empty[1] && c.Empty[1] <= c.Size[2]
}

func runGeometry(t testing.TB, c geometryCase) {
	if !c.valid() {
		t.Skip("no volume has this geometry, or nobody reads like that")
	}
	voxels := c.voxels()
	source := c.write(t, voxels)
	if c.Delay > 0 {
		source = serveLate(t, source, "-read", (time.Duration(c.Delay) * time.Microsecond).String()).Dir
	}
	w := mountWatched(t, source, c.Cache<<20)
	w.files += c.count(c.Block * c.Cube) // they may stay open for some seconds
	m := geometryMount{t: t, w: w, c: c, voxels: voxels, dir: filepath.Join(w.dir, "v/1")}
	err := m.readAll()
	w.checkLog(t) // first: readers of a server that has crashed fail in many ways
	if err != nil {
		t.Fatal(err)
	}
}

// voxels returns the volume in Fortran order, with interleaved channels.
func (c geometryCase) voxels() []byte {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(c.Content))
	chosen := make([]byte, (c.bytes()+c.Run-1)/c.Run)
	rand.NewChaCha8(seed).Read(chosen) // it returns no error
	voxels := chosen
	if c.Run > 1 {
		voxels = make([]byte, c.bytes())
		for i := range voxels {
			voxels[i] = chosen[i/c.Run]
		}
	}
	plane := c.bytes() / c.Size[2]
	clear(voxels[c.Empty[0]*plane : c.Empty[1]*plane])
	return voxels
}

// write imports the voxels as the layer v of a dataset, and returns its directory.
func (c geometryCase) write(t testing.TB, voxels []byte) (source string) {
	source = tempDir(t)
	commas := func(v [3]int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]") }
	args := []string{
		"import", "--quiet", writeFile(t, filepath.Join(tempDir(t), "voxels.raw"), voxels), source, "--layer", "v",
		"--category", "color", "--voxel-size", "10,10,30",
		"--shape", commas(c.Size), "--offset", commas(c.Offset), "--dtype", geometryTypes[c.VoxelType], "--channels",
		strconv.Itoa(c.Channels),
		"--block", strconv.Itoa(c.Block), "--cube", strconv.Itoa(c.Block * c.Cube),
	}
	switch {
	case c.Zarr3:
		args = append(args, "--format", "zarr3")
	case c.Raw:
		args = append(args, "--compression", "raw")
	}
	mustRun(t, args...)
	return source
}
