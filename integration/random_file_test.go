package integration

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// openFile is an open file and the model of its bytes. Each byte is a byte of a cube, or a zero.
type openFile struct {
	file   *os.File
	name   string
	layer  *randomLayer
	size   int
	locate func(i int) (*history, int) // the cube of byte i and the byte's offset in it; nil: byte i is 0

	// opening has the newest version of each cube when the file was opened. seen has, for each cube that was read,
	// the versions that agree with the bytes.
	opening map[*history]int
	seen    map[*history][]int
	joined  bool // made of many cubes
	direct  bool // bypasses the page cache
}

// randomFile chooses a file of a random layer. It does not open it.
func (s *session) randomFile() *openFile {
	l := randomOf(s.r, s.layers)
	o := &openFile{layer: l, opening: map[*history]int{}, seen: map[*history][]int{}}
	h, v := randomOf(s.r, l.cubes), l.voxelSize()
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
		o.setBox(l.name+"/1/volume.raw", lo, hi, lo, hi)
	case 3:
		var start, end [3]int
		for axis := range 3 {
			start[axis] = lo[axis] - 5 + s.r.IntN(hi[axis]-lo[axis]+5)
			end[axis] = max(start[axis], lo[axis]) + 1 + s.r.IntN(2*l.side())
		}
		o.setBox(fmt.Sprintf("%s/1/box/%d-%d_%d-%d_%d-%d.raw", l.name, start[0], end[0], start[1], end[1], start[2],
			end[2]), start, end, lo, hi)
	}
	return o
}

// setBox makes o the file of the box from start to end. The layer has voxels from lo to hi.
func (o *openFile) setBox(name string, start, end, lo, hi [3]int) {
	x, y, z, v := end[0]-start[0], end[1]-start[1], end[2]-start[2], o.layer.voxelSize()
	o.name, o.size, o.joined = name, x*y*z*v, true
	o.locate = func(i int) (*history, int) {
		at := i / v
		h, n := o.layer.cubeAt([3]int{start[0] + at%x, start[1] + at/x%y, start[2] + at/x/y}, lo, hi)
		return h, n*v + i%v
	}
}

// candidates returns the versions of a cube that this file may have. There may be several if they agree in all
// bytes that were read.
func (o *openFile) candidates(h *history) []int {
	if seen, ok := o.seen[h]; ok {
		return seen
	}
	return []int{o.opening[h]}
}

// compare checks bytes that were read at offset off against all candidates, and drops those that differ.
func (o *openFile) compare(got []byte, off int) error {
	remaining := map[*history][]int{}
	for i, b := range got {
		h, at := o.locate(off + i)
		if h == nil {
			if b != 0 {
				return fmt.Errorf("byte %d is %d, want 0: no cube can exist there", off+i, b)
			}
			continue
		}
		if _, ok := remaining[h]; !ok {
			remaining[h] = o.candidates(h)
		}
		before := remaining[h]
		remaining[h] = nil
		for _, n := range before {
			if v := h.versions[n]; !v.bad(o.layer.model, at) && v.byteAt(at) == b {
				remaining[h] = append(remaining[h], n)
			}
		}
		if len(remaining[h]) == 0 {
			return fmt.Errorf("byte %d, which is byte %d of cube %v, is %d: that is in none of the versions %v", off+i,
				at, h.at, b, before)
		}
	}
	for h, versions := range remaining {
		o.seen[h] = versions
	}
	return nil
}

// mayFail reports whether a read of the page at offset off may fail: a byte of it is damaged, or its cube has
// changed.
func (o *openFile) mayFail(off int) bool {
	page := off &^ 4095
	return o.mayFailIn(page, page+4096)
}

// mayFailIn reports whether a byte from start to end is damaged, or its cube has changed.
func (o *openFile) mayFailIn(start, end int) bool {
	for i := start; i < min(end, o.size); i++ {
		h, at := o.locate(i)
		if h != nil && (len(h.versions)-1 > o.opening[h] || h.now().bad(o.layer.model, at)) {
			return true
		}
	}
	return false
}

// mayBypassCache reports whether the kernel reads the file past the page cache when it is first opened.
func (o *openFile) mayBypassCache() bool {
	return o.size > 128<<10 && (strings.Contains(o.name, "/box/") || strings.Contains(o.name, "/slices/"))
}

// checkRead checks the result of a read of n bytes at offset off.
func (o *openFile) checkRead(got []byte, err error, off, n int) error {
	end := min(off+n, o.size)
	mayFail := o.mayFail
	switch inRange := o.mayFailIn(off, end); {
	case o.direct:
		mayFail = func(int) bool { return inRange }
	case o.mayBypassCache(): // it is not known whether the file was opened before
		mayFail = func(page int) bool { return inRange || o.mayFail(page) }
	}
	switch {
	case err != nil && err != io.EOF && !errors.Is(err, syscall.EIO):
		return err
	case err != nil && err != io.EOF && !mayFail(off):
		return fmt.Errorf("read of %d bytes at %d: %w, but all bytes are intact", n, off, err)
	case len(got) < end-off && (err == nil || err == io.EOF) && !mayFail(off+len(got)):
		return fmt.Errorf("read of %d bytes at %d: got only %d, but the next bytes are intact", n, off, len(got))
	case len(got) > max(end-off, 0):
		return fmt.Errorf("got %d bytes at %d: more than the file has", len(got), off)
	}
	return o.compare(got, off)
}
