package integration

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// opened is an open file and what is known of it: each byte is one of a cube.
type opened struct {
	file   *os.File
	name   string
	layer  *randomLayer
	size   int
	locate func(i int) (*history, int) // the cube and its byte that byte i is; nil: a zero

	// opening has, for each cube, its last version when the file was opened. seen are
	// those that it can have been, by what was read.
	opening map[*history]int
	seen    map[*history][]int
	whole   bool // made of many cubes
	direct  bool // past the page cache
}

// randomFile chooses a file of a random layer.
func (s *session) randomFile() *opened {
	l := pickOf(s.r, s.layers)
	o := &opened{layer: l, opening: map[*history]int{}, seen: map[*history][]int{}}
	h, v := pickOf(s.r, l.cubes), l.voxelSize()
	stem := fmt.Sprintf("%s/1/z%d/y%d/x%d", l.name, h.at[2], h.at[1], h.at[0])
	lo, hi := l.box()
	switch s.r.IntN(4) {
	case 0:
		o.name, o.size = stem+".raw", l.side()*l.side()*l.side()*v
		o.locate = func(i int) (*history, int) { return h, i }
	case 1:
		n, side := 1<<l.cubeLog, 1<<l.blockLog
		x, y, z := s.r.IntN(n), s.r.IntN(n), s.r.IntN(n)
		o.name, o.size = fmt.Sprintf("%s.blocks/z%d/y%d/x%d.raw", stem, z, y, x), side*side*side*v
		o.locate = func(i int) (*history, int) {
			at := i / v
			at = x*side + at%side + l.side()*(y*side+at/side%side+l.side()*(z*side+at/side/side))
			return h, at*v + i%v
		}
	case 2:
		o.volume(l.name+"/1/volume.raw", lo, hi, lo, hi)
	case 3:
		var from, to [3]int
		for axis := range 3 {
			from[axis] = s.r.IntN(3*l.side()+10) - 5
			to[axis] = from[axis] + 1 + s.r.IntN(2*l.side())
		}
		o.volume(fmt.Sprintf("%s/1/box/%d-%d_%d-%d_%d-%d.raw", l.name, from[0], to[0], from[1], to[1], from[2], to[2]), from, to, lo, hi)
	}
	return o
}

// volume makes it the file of a box of the layer, whose own box is lo to hi.
func (o *opened) volume(name string, from, to, lo, hi [3]int) {
	x, y, z, v := to[0]-from[0], to[1]-from[1], to[2]-from[2], o.layer.voxelSize()
	o.name, o.size, o.whole = name, x*y*z*v, true
	o.locate = func(i int) (*history, int) {
		at := i / v
		h, n := o.layer.cubeAt([3]int{from[0] + at%x, from[1] + at/x%y, from[2] + at/x/y}, lo, hi)
		return h, n*v + i%v
	}
}

// can returns the versions that a cube may show in this file: several where a change
// made no difference to what was read.
func (o *opened) can(h *history) []int {
	if seen, ok := o.seen[h]; ok {
		return seen
	}
	return []int{o.opening[h]}
}

// compare checks bytes that were read at an offset.
func (o *opened) compare(got []byte, off int) error {
	left := map[*history][]int{}
	for i, b := range got {
		h, at := o.locate(off + i)
		if h == nil {
			if b != 0 {
				return fmt.Errorf("byte %d is %d, want 0: there is no cube", off+i, b)
			}
			continue
		}
		if _, ok := left[h]; !ok {
			left[h] = o.can(h)
		}
		was := left[h]
		left[h] = nil
		for _, n := range was {
			if v := h.versions[n]; !v.bad(o.layer.model, at) && v.byteAt(at) == b {
				left[h] = append(left[h], n)
			}
		}
		if len(left[h]) == 0 {
			return fmt.Errorf("byte %d, byte %d of cube %v, is %d: of none of its versions %v", off+i, at, h.at, b, was)
		}
	}
	for h, versions := range left {
		o.seen[h] = versions
	}
	return nil
}

// mayFail reports whether the page that holds a byte has one that cannot be read, or
// is of a cube that has changed.
func (o *opened) mayFail(off int) bool {
	page := off &^ 4095
	return o.anyBad(page, page+4096)
}

func (o *opened) anyBad(from, to int) bool {
	for i := from; i < min(to, o.size); i++ {
		h, at := o.locate(i)
		if h != nil && (len(h.versions)-1 > o.opening[h] || h.now().bad(o.layer.model, at)) {
			return true
		}
	}
	return false
}

// judge checks the answer to a read of n bytes.
func (o *opened) judge(got []byte, err error, off, n int) error {
	end := min(off+n, o.size)
	mayFail := o.mayFail
	if o.direct {
		mayFail = func(int) bool { return o.anyBad(off, end) }
	}
	switch {
	case err != nil && err != io.EOF && !errors.Is(err, syscall.EIO):
		return err
	case err != nil && err != io.EOF && !mayFail(off):
		return fmt.Errorf("%d bytes at %d: %w, but all of it is sound", n, off, err)
	case len(got) < end-off && (err == nil || err == io.EOF) && !mayFail(off+len(got)):
		return fmt.Errorf("%d bytes at %d: only %d, but what follows is sound", n, off, len(got))
	case len(got) > max(end-off, 0):
		return fmt.Errorf("%d bytes at %d: past the end", len(got), off)
	}
	return o.compare(got, off)
}
