package mosaic

import (
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestSurveyTakesNoMemory: a survey of a mag of many cubes in one directory takes little memory.
func TestSurveyTakesNoMemory(t *testing.T) {
	const limit = 64 << 20
	n := voxeltest.Large(1_000_000)
	header, err := wkw.Header{CubeBlocks: 1, BlockSide: 1, BlockType: wkw.Raw, Type: volume.Uint8,
		Channels: 1}.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	root, err := webknossos.Recognise(voxeltest.ManyCubes(n, header, header), ".", webknossos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var s *survey
	peak := voxeltest.PeakHeap(func() { s = takeSurvey(root.Mag, true, usual.complete) })
	want := volume.Box{Max: volume.Vec{n, 1, 1}}
	if s.err != nil || s.bounds != want || s.stored != int64(n*len(header)) || s.cubes != nil && n > usual.complete ||
		s.unlisted {
		t.Errorf("got %v, %v, %d stored bytes", s.err, s.bounds, s.stored)
	}
	if peak > limit {
		t.Errorf("%d MiB, want at most %d", peak>>20, limit>>20)
	}
}

// rowsMag is a mag of many rows, without cubes.
type rowsMag struct {
	oneCube
	zs, ys int
}

func (m rowsMag) Cubes(zy ...int) ([]int, error) {
	n := []int{m.zs, m.ys, 0}[len(zy)]
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all, nil
}

// TestHolesOfManyRows: a mag of more rows than are kept in memory has no holes.
func TestHolesOfManyRows(t *testing.T) {
	for _, c := range []struct {
		zs, ys int
		many   bool
	}{{100, 1000, false}, {100, 1001, true}, {usual.rows + 1, 1, true}} {
		i := cubeIndex{mag: rowsMag{zs: c.zs, ys: c.ys}, most: usual.rows}
		if i.load(); i.zs.all != c.many || i.rows(0).all != c.many || !c.many && len(i.rows(c.zs-1).sorted) != c.ys {
			t.Errorf("%d × %d: all %v, %d rows", c.zs, c.ys, i.zs.all, len(i.ys))
		}
	}
}
