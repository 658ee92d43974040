package volume

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// indexMag is a mag with only an index of cubes. The keys are "[]", "[z]" and "[z y]". A level that is nil
// cannot be listed.
type indexMag struct {
	Mag
	index map[string][]int
}

var errList = errors.New("cannot be listed")

func (m indexMag) Cubes(zy ...int) ([]int, error) {
	found, ok := m.index[fmt.Sprint(zy)]
	if ok && found == nil {
		return nil, errList
	}
	return found, nil
}

func TestAllCubes(t *testing.T) {
	sound := map[string][]int{"[]": {0, 5}, "[0]": {1, 2}, "[0 1]": {3, 4}, "[0 2]": {0}, "[5]": {6}, "[5 6]": {7}}
	for _, c := range []struct {
		name   string
		failed string // the level that cannot be listed
		want   []string
	}{
		{"all", "", []string{"3,1,0", "4,1,0", "0,2,0", "7,6,5"}},
		{"nothing can be listed", "[]", []string{"0,0,0 cannot be listed"}},
		{"z 0 cannot be listed", "[0]", []string{"0,0,0 cannot be listed", "7,6,5"}},
		{"z 0, y 1 cannot be listed", "[0 1]", []string{"0,1,0 cannot be listed", "0,2,0", "7,6,5"}},
		{"the last level cannot be listed", "[5 6]", []string{"3,1,0", "4,1,0", "0,2,0", "0,6,5 cannot be listed"}},
	} {
		index := map[string][]int{}
		for level, found := range sound {
			if index[level] = found; level == c.failed {
				index[level] = nil
			}
		}
		var got []string
		for cube, err := range AllCubes(indexMag{index: index}) {
			if err != nil {
				got = append(got, cube.String()+" "+err.Error())
				continue
			}
			got = append(got, cube.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, expected %q", c.name, got, c.want)
		}
		for n := range c.want { // the loop may end after any cube
			for range AllCubes(indexMag{index: index}) {
				if n--; n < 0 {
					break
				}
			}
		}
	}
}
