package volume

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// levels is the index of cubes of a mag, by "z" and "z y"; a level that is nil cannot
// be listed.
type levels struct {
	Mag
	index map[string][]int
}

var errList = errors.New("cannot be listed")

func (l levels) Cubes(zy ...int) ([]int, error) {
	found, ok := l.index[fmt.Sprint(zy)]
	if ok && found == nil {
		return nil, errList
	}
	return found, nil
}

func TestAllCubes(t *testing.T) {
	sound := map[string][]int{"[]": {0, 5}, "[0]": {1, 2}, "[0 1]": {3, 4}, "[0 2]": {0}, "[5]": {6}, "[5 6]": {7}}
	for _, c := range []struct {
		what string
		lost string // the level that cannot be listed
		want []string
	}{
		{"all", "", []string{"3,1,0", "4,1,0", "0,2,0", "7,6,5"}},
		{"nothing can be listed", "[]", []string{"0,0,0 cannot be listed"}},
		{"a z cannot", "[0]", []string{"0,0,0 cannot be listed", "7,6,5"}},
		{"a y cannot", "[0 1]", []string{"0,1,0 cannot be listed", "0,2,0", "7,6,5"}},
		{"the last cannot", "[5 6]", []string{"3,1,0", "4,1,0", "0,2,0", "0,6,5 cannot be listed"}},
	} {
		index := map[string][]int{}
		for level, found := range sound {
			if index[level] = found; level == c.lost {
				index[level] = nil
			}
		}
		var got []string
		for cube, err := range AllCubes(levels{index: index}) {
			if err != nil {
				got = append(got, cube.String()+" "+err.Error())
				continue
			}
			got = append(got, cube.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, expected %q", c.what, got, c.want)
		}
		for n := range c.want { // a loop may end anywhere
			for range AllCubes(levels{index: index}) {
				if n--; n < 0 {
					break
				}
			}
		}
	}
}

func TestParseFactor(t *testing.T) {
	for _, c := range []struct {
		name   string
		want   Factor
		string string // where it is another than name
	}{
		{"1", Factor{1, 1, 1}, ""},
		{"2", Factor{2, 2, 2}, ""},
		{"512", Factor{512, 512, 512}, ""},
		{"2-2-1", Factor{2, 2, 1}, ""},
		{"1-2-4", Factor{1, 2, 4}, ""},
		{"3", Factor{3, 3, 3}, ""}, // the format knows no powers
		{"1-1-1", Factor{1, 1, 1}, "1"},
		{"1099511627776", Factor{1 << 40, 1 << 40, 1 << 40}, ""},
	} {
		got, ok := ParseFactor(c.name)
		if c.string == "" {
			c.string = c.name
		}
		if !ok || got != c.want || got.String() != c.string {
			t.Errorf("%s: got %v, %v", c.name, got, ok)
		}
	}
	for _, name := range []string{
		"", "0", "01", "-1", "+1", "1.0", "1 ", " 1", "x", "0x1", "1_0", "１",
		"2-2", "2-2-1-1", "2--1", "-2-2", "2-2-", "2-2-0", "02-2-1", "2-2-x", "2,2,1", "2-2-1/",
		"1099511627777", "99999999999999999999", "color", ".", "..",
	} {
		if got, ok := ParseFactor(name); ok {
			t.Errorf("%q: got %v", name, got)
		}
	}
}

func TestParseIndex(t *testing.T) {
	for _, c := range []struct {
		s  string
		n  int
		ok bool
	}{
		{"0", 0, true}, {"9", 9, true}, {"10", 10, true}, {"5748", 5748, true},
		{"1099511627775", 1<<40 - 1, true}, {"1099511627776", 1 << 40, true}, {"1099511627777", 0, false},
		{"9999999999999", 0, false}, {"10000000000000", 0, false}, {"18446744073709551616", 0, false},
		{"", 0, false}, {"00", 0, false}, {"01", 0, false}, {"-1", 0, false}, {"-0", 0, false}, {"+1", 0, false},
		{"1.5", 0, false}, {"1e3", 0, false}, {" 1", 0, false}, {"1\n", 0, false}, {"٣", 0, false},
	} {
		if n, ok := ParseIndex(c.s); ok != c.ok || ok && n != c.n {
			t.Errorf("%q: got %d, %v", c.s, n, ok)
		}
	}
}

// FuzzParseIndex holds that a number has one name.
func FuzzParseIndex(f *testing.F) {
	for _, s := range []string{"0", "7", "007", "1099511627776", "-1", "1\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := ParseIndex(s)
		if ok && (n < 0 || n > 1<<40 || strconv.Itoa(n) != s) {
			t.Errorf("%q: got %d", s, n)
		}
		want, err := strconv.Atoi(s)
		if !ok && err == nil && want >= 0 && want <= 1<<40 && strconv.Itoa(want) == s {
			t.Errorf("%q: refused", s)
		}
	})
}

// FuzzParseFactor holds that a factor's own name leads back to it.
func FuzzParseFactor(f *testing.F) {
	for _, s := range []string{"1", "2-2-1", "1-1-1", "2-2", "--", "1-1099511627776-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := ParseFactor(s)
		if !ok {
			return
		}
		if again, ok := ParseFactor(got.String()); !ok || again != got {
			t.Errorf("%q: got %v, whose name is read as %v, %v", s, got, again, ok)
		}
		if got[0] < 1 || got[1] < 1 || got[2] < 1 {
			t.Errorf("%q: got %v", s, got)
		}
	})
}
