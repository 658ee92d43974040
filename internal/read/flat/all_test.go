package flat

import (
	"bytes"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// axis is the geometry of an array on one axis, in voxels.
type axis struct {
	block    int
	min, max int    // of the box
	valid    [2]int // start and end
}

// axes returns the geometries of boxes of up to size voxels in blocks of up to block voxels. They start at all voxels
// of a block, and before the grid. With cuts, the valid part may also be smaller than the box, at the start, at the end
// or both. It may be empty.
func axes(size, block int, cuts bool) (all []axis) {
	for b := 1; b <= block; b++ {
		for n := 1; n <= size; n++ {
			for lo := -1; lo < b; lo++ {
				for _, cut := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
					start := max(lo, 0) + cut[0]
					all = append(all, axis{b, lo, lo + n, [2]int{start, max(lo+n-cut[1], start)}})
					if !cuts {
						break
					}
				}
			}
		}
	}
	return all
}

// scene is an array, its blocks, and its bytes by a naive model. Every third block was never written.
type scene struct {
	*Array
	inMemory volume.Box // blocks
	voxels   [][]byte   // of the blocks, or nil
	want     []byte
	blockOf  []int // of each byte: the index of the block, or -1 if the byte is not valid
	reads    []int // of each block, in the last read
	memory   []byte
}

// newScene returns the scene of the geometries of x, y and z. A voxel has one byte for each channel.
func newScene(t *testing.T, geometry [3]axis, channels int, l limits) *scene {
	var box, valid volume.Box
	g := volume.Grid{Type: volume.Uint8, Channels: channels}
	for i, a := range geometry {
		g.Block[i], box.Min[i], box.Max[i], valid.Min[i], valid.Max[i] = a.block, a.min, a.max, a.valid[0], a.valid[1]
		g.Size[i] = max(a.max, a.valid[1], 1)
	}
	s := &scene{Array: New(g, box, valid)}
	s.limits = l
	if part := box.Intersect(valid); !part.Empty() {
		s.inMemory = part.Div(g.Block)
	}
	for at := range s.inMemory.All() {
		var voxels []byte
		if (at[0]+at[1]+at[2])%3 != 1 {
			for v := range at.BoxOfOne().Mul(g.Block).All() {
				for c := range channels {
					voxels = append(voxels, voxeltest.ByteAt(v, c))
				}
			}
		}
		s.voxels = append(s.voxels, voxels)
	}
	s.reads = make([]int, len(s.voxels))
	for v := range box.All() {
		block := -1
		if valid.Contains(v) {
			block = v.Div(g.Block).Sub(s.inMemory.Min).Index(s.inMemory.Size())
		}
		if off := s.Offset(v); off != int64(len(s.want)) {
			t.Fatalf("voxel %v of box %v is at byte %d, expected %d", v, box, off, len(s.want))
		}
		for c := range channels {
			if y, z := s.RowAt(int64(len(s.want))); y != v[1] || z != v[2] {
				t.Fatalf("byte %d of box %v is in row %d of plane %d, expected voxel %v", len(s.want), box, y, z, v)
			}
			b := byte(0)
			if block >= 0 && s.voxels[block] != nil {
				b = voxeltest.ByteAt(v, c)
			}
			s.want, s.blockOf = append(s.want, b), append(s.blockOf, block)
		}
	}
	s.memory = make([]byte, len(s.want)+len(untouched))
	return s
}

// untouched are bytes around the memory of a range. Nothing may write them.
var untouched = bytes.Repeat([]byte{0xAA}, 80)

// check reads the bytes [off, end) with Fill, and with Gather if they are in one plane. It fails if a byte is wrong, if
// a byte beside the memory is written, or if Fill reads other blocks than those of the range.
func (s *scene) check(t *testing.T, off, end int) {
	read := func(what string, read func(p []byte)) {
		guard := len(untouched) / 2
		copy(s.memory, untouched)
		copy(s.memory[guard+end-off:], untouched)
		p := s.memory[guard:][: end-off : end-off]
		read(p)
		if !bytes.Equal(p, s.want[off:end]) || !bytes.Equal(s.memory[:guard], untouched[:guard]) ||
			!bytes.Equal(s.memory[guard+end-off:][:guard], untouched[:guard]) {
			t.Fatalf("%s of bytes %d to %d of box %v, valid %v, of %v: %v in %v, expected %v", what, off, end, s.box,
				s.valid, s.grid, p, s.memory[:len(untouched)+end-off], s.want[off:end])
		}
	}
	clear(s.reads)
	read("Fill", func(p []byte) {
		err := s.Fill(p, int64(off), func(list []volume.Vec, copyBlock func(volume.Vec, []byte)) error {
			if len(list) == 0 || len(list) > s.limits.blocks {
				t.Fatalf("%d blocks are read at once", len(list))
			}
			for _, at := range list {
				i := at.Sub(s.inMemory.Min).Index(s.inMemory.Size())
				s.reads[i]++
				copyBlock(at, s.voxels[i])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	for i, times := range s.reads {
		if needed := slices.Contains(s.blockOf[off:end], i); needed && times != 1 || !needed && times != 0 {
			t.Fatalf("Fill of bytes %d to %d of box %v, valid %v, of %v: the blocks of %v are read %v times", off, end,
				s.box, s.valid, s.grid, s.inMemory, s.reads)
		}
	}
	if int64(off)/s.plane == int64(end-1)/s.plane {
		read("Gather", func(p []byte) { s.Gather(p, int64(off), s.inMemory, s.voxels) })
	}
}

// checkAll checks all ranges that start and end at the given bytes.
func (s *scene) checkAll(t *testing.T, at []int) {
	for i, off := range at {
		for _, end := range at[i+1:] {
			s.check(t, off, end)
		}
	}
}

// everyByte returns the offsets of all bytes, and the end.
func (s *scene) everyByte() (at []int) {
	for i := range len(s.want) + 1 {
		at = append(at, i)
	}
	return at
}

// aroundVoxels returns the offsets at which voxels start, those beside them, and the end.
func (s *scene) aroundVoxels() (at []int) {
	for i := 0; i <= len(s.want); i += int(s.voxel) {
		at = append(at, max(i-1, 0), i, min(i+1, len(s.want)))
	}
	return slices.Compact(at)
}

// few are limits that arrays of a few voxels reach.
var few = limits{blocks: 2, tile: volume.Vec{2, 1, 1}}

// sparse returns whether to leave out case n: the race detector gets a sample.
func sparse(n int) bool { return testing.Short() && n%16 != 0 }

// TestAllSmallArrays reads all ranges of all arrays of up to 3 × 3 × 3 bytes.
func TestAllSmallArrays(t *testing.T) {
	all, n := axes(3, 2, false), 0
	for _, x := range all {
		for _, y := range all {
			for _, z := range all {
				if n++; !sparse(n) {
					s := newScene(t, [3]axis{x, y, z}, 1, few)
					s.checkAll(t, s.everyByte())
				}
			}
		}
	}
}

// TestAllAxes tries all geometries on one axis, with two on the others, and reads all ranges.
func TestAllAxes(t *testing.T) {
	one, three, n := axis{1, 0, 1, [2]int{0, 1}}, axis{2, 1, 4, [2]int{1, 3}}, 0
	for along, size := range []int{5, 5, 9} {
		for _, a := range axes(size, 4, true) {
			for _, others := range [][]axis{{one, three}, {three, one}} {
				if n++; !sparse(n) {
					s := newScene(t, [3]axis(slices.Insert(others, along, a)), 1, few)
					s.checkAll(t, s.everyByte())
				}
			}
		}
	}
}

// TestAllRanges reads all ranges of arrays of up to 200 bytes, with voxels of several bytes.
func TestAllRanges(t *testing.T) {
	for n, c := range []struct {
		geometry [3]axis
		channels int
	}{
		{[3]axis{{2, 1, 6, [2]int{1, 6}}, {3, 2, 6, [2]int{3, 5}}, {2, -1, 4, [2]int{0, 4}}}, 2},
		{[3]axis{{4, 3, 8, [2]int{4, 8}}, {1, 0, 2, [2]int{0, 2}}, {4, 1, 7, [2]int{1, 6}}}, 3},
		{[3]axis{{3, -1, 6, [2]int{1, 6}}, {2, 0, 5, [2]int{0, 5}}, {1, 0, 5, [2]int{2, 4}}}, 1},
	} {
		if s := newScene(t, c.geometry, c.channels, few); !sparse(n) {
			s.checkAll(t, s.everyByte())
		}
	}
}

// TestAllWideRows reads ranges of rows of whole blocks, which are copied by other means if they have a multiple of 32
// bytes.
func TestAllWideRows(t *testing.T) {
	n := 0
	for _, x := range axes(4, 2, true) {
		for _, y := range axes(3, 2, false) {
			for _, channels := range []int{32, 288} {
				if n++; !sparse(n) && (channels == 32 || x.block+y.block == 3) {
					s := newScene(t, [3]axis{x, y, {2, 1, 2, [2]int{1, 2}}}, channels, usual)
					s.checkAll(t, s.aroundVoxels())
				}
			}
		}
	}
}
