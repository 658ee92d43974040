package mosaic

import (
	"errors"
	"io"
	"testing"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/volume"
)

// layoutMag is a mag of 3 × 3 rows of cubes. Bit y + 3z says whether row y, z has one. A level that fails cannot be
// listed: 1 for z, and 2 + z for the rows of z.
type layoutMag struct {
	oneCube
	rows, fails int
}

func (m layoutMag) Cubes(zy ...int) (found []int, err error) {
	if len(zy) == 0 && m.fails == 1 || len(zy) == 1 && m.fails == 2+zy[0] {
		return nil, errors.New("cannot be listed")
	}
	for n := range 3 {
		in := m.rows >> (3 * n) & 7
		if len(zy) == 1 {
			in = m.rows >> (3*zy[0] + n) & 1
		}
		if in != 0 {
			found = append(found, n)
		}
	}
	return found, nil
}

// has reports whether row y, z of cubes may have a cube.
func (m layoutMag) has(y, z int) bool {
	return m.fails == 1 || m.rows>>(3*z)&7 != 0 && (m.fails == 2+z || m.rows>>(3*z+y)&1 != 0)
}

// TestAllHoles looks for data and holes at each offset of arrays in all layouts of cubes, and compares them with a
// naive model: a byte is in a gap if its row is in no cube or not valid.
func TestAllHoles(t *testing.T) {
	arrays := []struct {
		box, valid volume.Box
		side       volume.Vec // of a cube
	}{
		{volume.Box{Max: volume.Vec{1, 3, 3}}, volume.Box{Max: volume.Vec{1, 3, 3}}, volume.Cube(1)},
		{volume.Box{Max: volume.Vec{2, 6, 3}}, volume.Box{Max: volume.Vec{2, 5, 3}}, volume.Vec{1, 2, 1}},
		{volume.Box{Min: volume.Vec{-1, -1, -1}, Max: volume.Vec{1, 4, 4}}, volume.Box{Max: volume.Vec{1, 3, 3}},
			volume.Cube(1)},
		{volume.Box{Min: volume.Vec{0, 1, 1}, Max: volume.Vec{1, 5, 6}},
			volume.Box{Min: volume.Vec{0, 2, 1}, Max: volume.Vec{1, 5, 5}}, volume.Cube(2)},
		{volume.Box{Min: volume.Vec{0, 1, 1}, Max: volume.Vec{1, 5, 4}}, volume.Box{Max: volume.Vec{1, 9, 9}},
			volume.Cube(3)},
		{volume.Box{Min: volume.Vec{0, 5, 1}, Max: volume.Vec{1, 9, 3}}, volume.Box{Max: volume.Vec{1, 3, 3}},
			volume.Cube(1)},
	}
	for rows := range 1 << 9 {
		for fails := range 5 {
			if fails > 0 && rows%32 != 5 || testing.Short() && rows%16 != 5 {
				continue
			}
			mag := layoutMag{rows: rows, fails: fails}
			index := &cubeIndex{mag: mag, most: 9}
			for _, c := range arrays {
				a := flat.New(volume.Grid{Size: c.side.Mul(volume.Cube(3)), Block: volume.Cube(1), Type: volume.Uint16,
					Channels: 1}, c.box, c.valid)
				var gap []bool
				for v := range c.box.All() {
					in := c.valid.Contains(volume.Vec{c.valid.Min[0], v[1], v[2]}) && v[1] >= 0 && v[2] >= 0 &&
						mag.has(v[1]/c.side[1], v[2]/c.side[2])
					gap = append(gap, !in, !in)
				}
				for _, least := range []int{1, 3, 5, 12} {
					checkHoles(t, Holes{a, index, c.side, int64(least)}, gap)
				}
			}
		}
	}
}

// checkHoles compares all results with the bytes that are in gaps.
func checkHoles(t *testing.T, h Holes, gap []bool) {
	t.Helper()
	size := len(gap)
	next := func(off int, want bool) int {
		for off < size && gap[off] != want {
			off++
		}
		return off
	}
	for off := range size + 1 {
		data, hole := next(off, false), next(off, true)
		wantErr := error(nil)
		if data == size {
			data, wantErr = 0, io.EOF
		} else if data-off < int(h.least) {
			data = off
		}
		for end := next(hole, false); end < size && end-hole < int(h.least); end = next(hole, false) {
			hole = next(end, true)
		}
		if got, err := h.SeekData(int64(off)); got != int64(data) || err != wantErr {
			t.Fatalf("data from %d: got %d, %v, expected %d, %v; gaps %v of box %v in cubes of %v", off, got, err, data,
				wantErr, gap, h.array.Box(), h.side)
		}
		if got, err := h.SeekHole(int64(off)); got != int64(hole) || err != nil {
			t.Fatalf("hole from %d: got %d, %v, expected %d; gaps %v of box %v in cubes of %v, least %d", off, got, err,
				hole, gap, h.array.Box(), h.side, h.least)
		}
	}
}
