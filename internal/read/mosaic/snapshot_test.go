package mosaic

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// listedCubes is a mag that lists cubes x, 0, 0, and finds all others by name.
type listedCubes struct {
	oneCube
	xs []int
}

func (m *listedCubes) Cubes(zy ...int) ([]int, error) {
	if len(zy) < 2 {
		return []int{0}, nil
	}
	return m.xs, nil
}

func (*listedCubes) Bounds() (volume.Box, error) { return volume.Box{Max: volume.Vec{2, 1, 1}}, nil }

// TestCubeThatIsNotListed: some file systems find a name that they do not list. No survey has such a cube, so it does
// not count as new: each open would take another snapshot.
func TestCubeThatIsNotListed(t *testing.T) {
	mag := &listedCubes{xs: []int{0}}
	m, err := New(mag, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, box := range []volume.Box{m.Bounds(), {Min: volume.Vec{1}, Max: volume.Vec{2, 1, 1}}} {
		mag.xs = []int{0}
		if !m.Current(box) {
			t.Errorf("box %v: a cube that is not listed is a change", box)
		}
		mag.xs = []int{0, 1}
		if m.Current(box) {
			t.Errorf("box %v: a cube that is listed now is no change", box)
		}
	}
}

// partlyListed is a mag whose directories at one level cannot be listed.
type partlyListed struct {
	oneCube
	level int
}

func (m partlyListed) Cubes(zy ...int) ([]int, error) {
	if len(zy) == m.level {
		return nil, errors.New("cannot be listed")
	}
	return []int{0}, nil
}

// TestDirectoryThatCannotBeListed: its cubes are not absent, but are opened and read.
func TestDirectoryThatCannotBeListed(t *testing.T) {
	for level := range 3 {
		t.Run(fmt.Sprint("level ", level), func(t *testing.T) {
			m, err := New(partlyListed{oneCube{open: func() (volume.CubeFile, error) { return seven{}, nil }}, level},
				false)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := volume.ReadBlock(t.Context(), m, volume.Vec{}); err != nil || !slices.Equal(got, []byte{7}) {
				t.Errorf("got %v, %v, expected 7", got, err)
			}
		})
	}
}
