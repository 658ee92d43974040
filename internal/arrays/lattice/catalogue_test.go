package lattice

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// listed is a store of some chunks of a lattice of 3 × 2 × 2 chunks.
type listed struct {
	lattice Lattice
	chunks  []volume.Vec
	err     error // of Positions
}

func (l listed) Positions(bool) (Positions, error) {
	var raster []uint64
	for _, c := range l.chunks {
		raster = append(raster, l.lattice.Raster(c))
	}
	if IsTooMany(l.err) {
		raster = nil
	}
	return NewPositions(l.lattice, raster), l.err
}

func (l listed) Walk(yield func(volume.Vec, error) bool) {
	for _, c := range l.chunks {
		if !yield(c, nil) {
			return
		}
	}
}

func (l listed) Describe() func(volume.Vec) (fs.FileInfo, error) {
	return func(c volume.Vec) (fs.FileInfo, error) {
		if !slices.Contains(l.chunks, c) {
			return nil, fs.ErrNotExist
		}
		return fs.Stat(fstest.MapFS{c.String(): {}}, c.String())
	}
}

// TestCatalogue: the chunks that are stored are listed level by level, walked and described. Others are absent. If all
// are shown, levels have all chunks, and only the stored ones are walked. A store that cannot list all has its error.
func TestCatalogue(t *testing.T) {
	l, err := New(volume.Vec{3, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	chunks := []volume.Vec{{0, 0, 0}, {2, 0, 0}, {1, 1, 1}}
	broken := errors.New("broken")
	for _, x := range []struct {
		name   string
		store  listed
		all    int
		levels string // z; y of z 0; x of row 0 0; the errors of row 1 0 and of row 0 5
		walked string
	}{
		{"stored", listed{l, chunks, nil}, 0, "[0 1] [0] [0 2] mag/z0/y1: absent, mag/z5/y0: absent",
			"[0,0,0 2,0,0 1,1,1] <nil>"},
		{"all", listed{l, chunks, nil}, 12, "[0 1] [0 1] [0 1 2] <nil>, mag/z5/y0: absent",
			"[0,0,0 2,0,0 1,1,1] <nil>"},
		{"more than all", listed{l, chunks, nil}, 11, "[] [] [] more than 11 chunks, more than 11 chunks",
			"[0,0,0 2,0,0 1,1,1] <nil>"},
		{"broken", listed{l, chunks, broken}, 0, "[0 1] [0] [0 2] broken, broken", "[0,0,0 2,0,0 1,1,1] broken"},
		{"too many", listed{l, chunks, TooManyError{Limit: 2}}, 0, "[] [] [] more than 2 chunks, more than 2 chunks",
			"[0,0,0 2,0,0 1,1,1] <nil>"},
	} {
		c := NewCatalogue(x.store, l, "mag", func() (fs.FileInfo,
			error) {
			return fs.Stat(fstest.MapFS{"dir/a": {}}, "dir")
		})
		c.ShowAll(x.all)
		absent := func(err error) any {
			if p, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
				return p.Path + ": absent"
			}
			return err
		}
		z, _ := c.Cubes()
		y, _ := c.Cubes(0)
		xs, _ := c.Cubes(0, 0)
		_, other := c.Cubes(0, 1)
		_, outside := c.Cubes(5, 0)
		if got := fmt.Sprintf("%v %v %v %v, %v", z, y, xs, absent(other), absent(outside)); got != x.levels {
			t.Errorf("%s: levels: got %s, expected %s", x.name, got, x.levels)
		}
		var walked []volume.Vec
		var failed error
		for at, err := range c.WalkCubes() {
			if failed = err; err == nil {
				walked = append(walked, at)
			}
		}
		if got := fmt.Sprint(walked, " ", failed); got != x.walked {
			t.Errorf("%s: walk: got %s, expected %s", x.name, got, x.walked)
		}
	}
}

// TestCatalogueDescribes: chunks have the attributes of the store, the levels above them those of the directory.
func TestCatalogueDescribes(t *testing.T) {
	l, err := New(volume.Vec{3, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCatalogue(listed{l, []volume.Vec{{0, 0, 0}, {2, 0, 0}}, nil}, l, "mag", func() (fs.FileInfo, error) {
		return fs.Stat(fstest.MapFS{"dir/a": {}}, "dir")
	})
	for _, x := range []struct {
		zyx  []int
		want string
	}{
		{[]int{0}, "dir"}, {[]int{0, 0}, "dir"}, {[]int{0, 0, 2}, "2,0,0"}, {[]int{0, 0, 1}, ""}, {[]int{1}, ""},
		{[]int{0, 0, 3}, ""}, {[]int{0, 0, -1}, ""},
	} {
		info, err := c.StatCubes(x.zyx...)
		if x.want == "" && !errors.Is(err, fs.ErrNotExist) || x.want != "" && (err != nil || info.Name() != x.want) {
			t.Errorf("%v: got %v, %v, expected %q", x.zyx, info, err, x.want)
		}
	}
	c.ShowAll(12) // also the chunk that has no attributes
	for entries, err := range c.DescribeCubes(0, 0) {
		if err != nil || len(entries) != 2 || entries[1].N != 2 || entries[1].Info.Name() != "2,0,0" {
			t.Errorf("got %v, %v", entries, err)
		}
	}
}
