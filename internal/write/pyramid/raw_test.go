package pyramid

import (
	"testing"
	"unsafe"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestCongruent: memory has the position of the offset in a page, also when it is used again.
func TestCongruent(t *testing.T) {
	var memory []byte
	for _, n := range []int{1, 100, pageBytes, 100_000, 5} {
		for _, offset := range []int64{0, 1, 16, pageBytes - 1, pageBytes, 1<<40 + 17} {
			b := congruent(&memory, n, offset)
			if at := int64(uintptr(unsafe.Pointer(&b[0]))); len(b) != n || (at-offset)%pageBytes != 0 {
				t.Errorf("%d bytes for offset %d: got %d bytes at %#x", n, offset, len(b), at)
			}
			before := unsafe.SliceData(memory)
			if congruent(&memory, n, 0); unsafe.SliceData(memory) != before {
				t.Errorf("%d bytes: other memory the second time", n)
			}
		}
	}
}

// TestRawGroup: the blocks of a group are next to each other in a cube, wherever the group is.
func TestRawGroup(t *testing.T) {
	for _, test := range []struct {
		header wkw.Header
		onZ    int
		want   volume.Vec
	}{
		{header(32, 32, wkw.Raw, volume.Uint8), 1, volume.Vec{2, 2, 1}},
		{header(32, 32, wkw.Raw, volume.Uint8), 2, volume.Vec{4, 4, 2}},
		{header(32, 32, wkw.Raw, volume.Uint16), 2, volume.Vec{4, 2, 2}},
		{header(32, 32, wkw.Raw, volume.Uint32), 2, volume.Vec{2, 2, 2}},
		{header(32, 32, wkw.Raw, volume.Uint64), 2, volume.Vec{2, 2, 1}},
		{header(32, 1, wkw.Raw, volume.Uint8), 1, volume.Vec{1, 1, 1}},
		{header(32, 2, wkw.Raw, volume.Uint8), 2, volume.Vec{2, 2, 2}},
		{header(8, 16, wkw.Raw, volume.Uint8), 4, volume.Vec{8, 8, 4}},
		{header(128, 8, wkw.Raw, volume.Uint8), 1, volume.Vec{1, 1, 1}},
		{header(64, 8, wkw.Raw, volume.Uint8), 1, volume.Vec{2, 2, 1}},
	} {
		got := rawGroup(test.header, test.onZ)
		if got != test.want {
			t.Errorf("%v blocks of %d, %d on z: got %v, want %v", test.header.Type, test.header.BlockSide, test.onZ,
				got, test.want)
		}
		groups := volume.Box{Max: volume.Cube(test.header.CubeBlocks).Div(got)}
		for at := range groups.All() {
			first := at.Mul(got)
			for i := range uint64(got[0] * got[1] * got[2]) {
				b := first.Add(wkw.MortonBlock(i))
				if !wkw.MortonBlock(i).In(got) || wkw.MortonIndex(b) != wkw.MortonIndex(first)+i {
					t.Fatalf("%v: block %d of the group at %v is not where it should be", got, i, first)
				}
			}
		}
	}
}

// TestRawSlabs: slabs have more planes only where that makes larger groups, and where there is memory.
func TestRawSlabs(t *testing.T) {
	for _, test := range []struct {
		name   string
		block  int
		bt     wkw.BlockType
		typ    volume.Type
		box    volume.Box
		memory int64
		want   int
	}{
		{"tall", 32, wkw.Raw, volume.Uint8, box(0, 0, 0, 100, 100, 100), 64 << 20, 64},
		{"flat", 32, wkw.Raw, volume.Uint8, box(0, 0, 0, 100, 100, 63), 64 << 20, 32},
		{"little memory", 32, wkw.Raw, volume.Uint8, box(0, 0, 0, 100, 100, 100), 4 << 20, 32},
		{"large blocks", 32, wkw.Raw, volume.Uint64, box(0, 0, 0, 100, 100, 100), 64 << 20, 32},
		{"blocks of 64", 64, wkw.Raw, volume.Uint8, box(0, 0, 0, 100, 100, 100), 64 << 20, 64},
		{"compressed", 32, wkw.LZ4, volume.Uint8, box(0, 0, 0, 100, 100, 100), 64 << 20, 32},
	} {
		w := &writer{tile: test.memory / 8}
		m, err := newMag(w, Mag{Header: header(test.block, 8, test.bt, test.typ)}, test.box)
		if err != nil || m.slab != test.want {
			t.Errorf("%s: slabs of %d planes, %v: want %d", test.name, m.slab, err, test.want)
		}
	}
}
