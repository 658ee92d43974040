package mosaic

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// row is a mag of three cubes in a row, of 4 × 4 × 4 blocks of one voxel. Cube 0 is absent, and cube 2 cannot be
// opened.
type row struct {
	oneCube
	announced *[]volume.Box
}

func (row) Bounds() (volume.Box, error) { return volume.Box{Max: volume.Vec{12, 4, 4}}, nil }
func (row) Cubes(zy ...int) ([]int, error) {
	if len(zy) < 2 {
		return []int{0}, nil
	}
	return []int{1, 2}, nil
}
func (row) CubeGrid() (volume.Grid, error) {
	return volume.Grid{Size: volume.Cube(4), Block: volume.Cube(1), Type: volume.Uint8, Channels: 1}, nil
}
func (m row) OpenCube(at volume.Vec) (volume.CubeFile, error) {
	if at[0] == 2 {
		return nil, errors.New("cannot be opened")
	}
	return announcer{announced: m.announced}, nil
}

// announcer is a cube that records announcements.
type announcer struct {
	seven
	announced *[]volume.Box
}

func (a announcer) Announce(_ context.Context, box volume.Box) {
	*a.announced = append(*a.announced, box)
}

// TestAnnounce: a cube gets the part of an announcement that lies in it, in its own coordinates. Cubes that cannot be
// opened are left out.
func TestAnnounce(t *testing.T) {
	var got []volume.Box
	m, err := New(row{announced: &got}, false)
	if err != nil {
		t.Fatal(err)
	}
	m.Announce(t.Context(), volume.Box{Min: volume.Vec{1, 0, 2}, Max: volume.Vec{12, 3, 4}})
	want := []volume.Box{{Min: volume.Vec{0, 0, 2}, Max: volume.Vec{4, 3, 4}}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("announced %v, expected %v", got, want)
	}
	for at, h := range m.handles {
		if h.users > 0 {
			t.Errorf("cube %v is still in use", at)
		}
	}
}

// TestAnnounceOpensFew: an announcement opens one cube if cubes take none, and no cube if they are many or ctx is done.
func TestAnnounceOpensFew(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		cubes int
		want  int // opened
	}{{"two", t.Context(), 2, 1}, {"many", t.Context(), usual.announced() + 1, 0}, {"canceled", done, 2, 0}} {
		opened := 0
		m, err := New(wide{oneCube{open: func() (volume.CubeFile, error) {
			opened++
			return seven{}, nil
		}}, c.cubes}, false)
		if err != nil {
			t.Fatal(err)
		}
		m.Announce(c.ctx, volume.Box{Max: volume.Vec{c.cubes, 1, 1}})
		if opened != c.want {
			t.Errorf("%s: %d cubes are opened, expected %d", c.name, opened, c.want)
		}
	}
}

// wide is a mag of n cubes of one voxel in a row.
type wide struct {
	oneCube
	n int
}

func (w wide) Bounds() (volume.Box, error) { return volume.Box{Max: volume.Vec{w.n, 1, 1}}, nil }
func (w wide) Cubes(zy ...int) (numbers []int, err error) {
	if len(zy) < 2 {
		return []int{0}, nil
	}
	for i := range w.n {
		numbers = append(numbers, i)
	}
	return numbers, nil
}
