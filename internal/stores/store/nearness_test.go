package store

import (
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestNear: an object store is near while its disk cache has all that is read. After a range that it does not have, it
// must have many in a row.
func TestNear(t *testing.T) {
	s := Schedule(halfCachedFS{fstest.MapFS{"f": {Data: make([]byte, 100)}}, false}, Options{Remote: true})
	f, err := s.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const cached, other = 0, 10 // offsets
	read := func(off int64, n, times int) {
		for range times {
			vfs.ReadRanges(t.Context(), f, []vfs.Range{{Off: off, P: make([]byte, n)}})
		}
	}
	for _, step := range []struct {
		off      int64
		n, times int
		near     bool
	}{
		{cached, 10, 0, false},
		{cached, 10, 1, true},
		{other, 0, 1, true}, // nothing is read
		{other, 10, 1, false},
		{cached, 10, nearAfter - 1, false},
		{other, 10, 1, false},
		{cached, 10, nearAfter - 1, false},
		{cached, 10, 1, true},
		{cached, 10, 1000, true},
		{other, 10, 1, false},
	} {
		if read(step.off, step.n, step.times); vfs.SpeedOf(f).Near != step.near || vfs.SpeedOf(s).Near != step.near {
			t.Errorf("after %d reads of %d bytes at %d: near %v, want %v", step.times, step.n, step.off,
				vfs.SpeedOf(f).Near, step.near)
		}
		if !s.Speed().Late {
			t.Error("an object store is not late")
		}
	}
}

// TestNotNear: a source without a disk cache is not near, however fast it answers.
func TestNotNear(t *testing.T) {
	s := Schedule(fstest.MapFS{"f": {Data: make([]byte, 100)}}, Options{Remote: true})
	f, err := s.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 * nearAfter {
		vfs.ReadRanges(t.Context(), f, []vfs.Range{{P: make([]byte, 10)}})
	}
	if vfs.SpeedOf(f).Near || vfs.SpeedOf(s).Near {
		t.Error("it is near")
	}
}
