package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/integration/torture"
)

// geometryReader reads files of a volume.
type geometryReader struct {
	File string `json:"file"` // one of geometryFiles
	Way  string `json:"way"`  // in which order: one of geometryWays
	// "direct": past the page cache; "mapped": out of memory that is mapped
	Through string       `json:"through,omitempty"`
	Request int          `json:"request"`          // bytes
	From    int          `json:"from,omitempty"`   // thousandths of the file that are left out at the start
	Seed    torture.Seed `json:"seed"`             // of what the way leaves open, and of the box
	Beside  bool         `json:"beside,omitempty"` // starts together with the reader before it
}

// geometryFiles are the files that are read: the volume, a box in it, a box around it, and slices.
var geometryFiles = []string{
	"volume.raw", "volume.raw", "volume.raw", "volume.npy", "volume.nrrd", "volume.nii", "volume.tif",
	"box.raw", "box.npy", "around.raw", "around.tif", "slices",
}

var geometryWays = []string{"forward", "forward", "forward", "forward", "backward", "strided", "interleaved", "random",
	"patches", "end"}

func newGeometryReader(r *rand.Rand) geometryReader {
	return geometryReader{
		File: randomOf(r, geometryFiles), Way: randomOf(r, geometryWays),
		Through: randomOf(r, []string{"", "", "", "direct", "mapped"}),
		Request: randomOf(r, []int{4096, 65536, 131072, 1 << 20, 1 << 20, 1000 + r.IntN(300_000)}),
		From:    randomOf(r, []int{0, 0, r.IntN(1000)}), Seed: torture.Seed(r.Uint64()), Beside: r.IntN(5) < 2,
	}
}

func (g geometryReader) valid() bool {
	return slices.Contains(geometryFiles, g.File) && slices.Contains(geometryWays, g.Way) &&
		slices.Contains([]string{"", "direct", "mapped"}, g.Through) &&
		g.Request >= 1000 && g.Request <= 1<<20 && g.From >= 0 && g.From < 1000
}

// geometryMount is a mount of a volume.
type geometryMount struct {
	t      testing.TB
	w      *watched
	c      geometryCase
	voxels []byte
	dir    string // of the mag
	faulty bool   // reads may fail with EIO
}

// failed returns an error, unless reads may fail in this way.
func (m geometryMount) failed(err error) error {
	if m.faulty && errors.Is(err, unix.EIO) {
		return nil
	}
	return err
}

// readAll runs all readers. It returns the first errors.
func (m geometryMount) readAll() error {
	for left := m.c.Readers; len(left) > 0; {
		n := 1
		for n < len(left) && left[n].Beside {
			n++
		}
		failed := make([]error, n)
		var group sync.WaitGroup
		for i, g := range left[:n] {
			group.Go(func() { failed[i] = m.read(g) })
		}
		group.Wait()
		if err := errors.Join(failed...); err != nil {
			return err
		}
		left = left[n:]
	}
	return nil
}

// read runs one reader.
func (m geometryMount) read(g geometryReader) error {
	r := g.Seed.Rand()
	lo, hi := [3]int{}, m.c.Size
	file, suffix, _ := strings.Cut(g.File, ".")
	switch file {
	case "slices":
		return m.readSlices(g, r)
	case "box":
		for axis := range 3 {
			lo[axis] = r.IntN(hi[axis])
			hi[axis] = min(lo[axis]+1+r.IntN(randomOf(r, []int{1, 70, 400})), hi[axis])
		}
	case "around":
		for axis := range 3 {
			lo[axis] -= r.IntN(4)
			hi[axis] += r.IntN(4)
		}
	}
	name := g.File
	if file != "volume" {
		at := m.c.Offset
		name = fmt.Sprintf("box/%d-%d_%d-%d_%d-%d.%s", at[0]+lo[0], at[0]+hi[0], at[1]+lo[1], at[1]+hi[1], at[2]+lo[2],
			at[2]+hi[2], suffix)
	}
	if suffix == "nii" && m.c.Channels > 1 && (m.c.Channels != 3 || m.c.VoxelType != 1) {
		return nil // the format has no such voxels
	}
	return m.readFile(g, r, name, lo, hi)
}

// readSlices reads slices in the order of the way, each of them forward.
func (m geometryMount) readSlices(g geometryReader, r *rand.Rand) error {
	from := m.c.Size[2] * g.From / 1000
	most := min(200, 1+20_000_000/(m.c.bytes()/m.c.Size[2]))
	for i := range inOrder(g.Way, m.c.Size[2]-from, r) {
		if most--; most < 0 {
			break
		}
		lo, hi := [3]int{}, m.c.Size
		lo[2], hi[2] = from+i, from+i+1
		slice := g
		slice.Way, slice.From = "forward", 0
		if err := m.readFile(slice, r, fmt.Sprintf("slices/z%07d.tif", m.c.Offset[2]+lo[2]), lo, hi); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a file of the voxels from lo to hi. The page cache has forgotten what it had of it.
func (m geometryMount) readFile(g geometryReader, r *rand.Rand, name string, lo, hi [3]int) error {
	flags := os.O_RDONLY
	if g.Through == "direct" {
		flags |= unix.O_DIRECT
	}
	f, err := os.OpenFile(filepath.Join(m.dir, name), flags, 0)
	if err != nil {
		return m.failed(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m.failed(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("%s: fadvise: %w", name, err)
	}
	o := geometryOpen{m: m, g: g, name: name, size: int(info.Size()), voxels: m.box(lo, hi), readAt: f.ReadAt}
	if !strings.HasSuffix(name, ".raw") {
		o.head = 4096
	}
	if tail := o.size - o.head - len(o.voxels); tail < 0 || tail > 0 && !strings.HasSuffix(name, ".tif") {
		return fmt.Errorf("%s has %d bytes, want %d voxels of %d bytes after %d", name, o.size,
			len(o.voxels)/m.c.voxelSize(), m.c.voxelSize(), o.head)
	}
	if g.Through == "mapped" {
		mapped, err := unix.Mmap(int(f.Fd()), 0, o.size, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return fmt.Errorf("%s: map: %w", name, err)
		}
		defer unix.Munmap(mapped)
		o.readAt = mappedFile(mapped).ReadAt
	}
	return o.read(r, [3]int{hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]})
}

// box returns the voxels from lo to hi. Those outside of the volume are zeros.
func (m geometryMount) box(lo, hi [3]int) []byte {
	s, size := m.c.voxelSize(), m.c.Size
	if lo[0] == 0 && lo[1] == 0 && hi[0] == size[0] && hi[1] == size[1] && lo[2] >= 0 && hi[2] <= size[2] {
		plane := size[0] * size[1] * s
		return m.voxels[lo[2]*plane : hi[2]*plane]
	}
	b := make([]byte, (hi[0]-lo[0])*(hi[1]-lo[1])*(hi[2]-lo[2])*s)
	row, first, end := (hi[0]-lo[0])*s, max(lo[0], 0), min(hi[0], size[0])
	for z := max(lo[2], 0); z < min(hi[2], size[2]); z++ {
		for y := max(lo[1], 0); y < min(hi[1], size[1]); y++ {
			to := ((z-lo[2])*(hi[1]-lo[1])+y-lo[1])*row + (first-lo[0])*s
			from := (size[0]*(y+size[1]*z) + first) * s
			copy(b[to:], m.voxels[from:from+(end-first)*s])
		}
	}
	return b
}

// geometryOpen is an open file: a head, voxels, and a tail in TIFF.
type geometryOpen struct {
	m      geometryMount
	g      geometryReader
	name   string
	size   int
	head   int
	voxels []byte
	readAt func(p []byte, off int64) (int, error)
}

// read reads the file in the way of the reader. shape is that of the voxels.
func (o geometryOpen) read(r *rand.Rand, shape [3]int) error {
	buffer := make([]byte, o.g.Request)
	most := o.mostRequests()
	for off, n := range o.requests(r, shape) {
		if most--; most < 0 {
			return nil
		}
		if err := o.request(buffer[:n], off); err != nil {
			return err
		}
	}
	return nil
}

// mostRequests returns how many requests a reader makes. If the page cache cannot help, each may wait for the source.
func (o geometryOpen) mostRequests() int {
	if o.g.Way == "forward" && o.g.Through != "direct" {
		return o.size
	}
	return 4000 * 1000 / (1000 + o.m.c.Delay)
}

// requests yields the offset and the length of each request.
func (o geometryOpen) requests(r *rand.Rand, shape [3]int) iter.Seq2[int, int] {
	from, n := o.size*o.g.From/1000, o.g.Request
	return func(yield func(off, n int) bool) {
		switch o.g.Way {
		case "random":
			for yield(from+r.IntN(o.size-from), 1+r.IntN(n)) {
			}
		case "patches":
			for o.patch(r, shape, yield) {
			}
		default:
			for i := range inOrder(o.g.Way, (o.size-from+n-1)/n, r) {
				if !yield(from+i*n, n) {
					return
				}
			}
		}
	}
}

// patch yields the rows of a box in the volume.
func (o geometryOpen) patch(r *rand.Rand, shape [3]int, yield func(off, n int) bool) bool {
	var lo, hi [3]int
	side := randomOf(r, []int{1, 5, 64})
	for axis := range 3 {
		lo[axis] = r.IntN(shape[axis])
		hi[axis] = min(lo[axis]+side, shape[axis])
	}
	s := o.m.c.voxelSize()
	for z := lo[2]; z < hi[2]; z++ {
		for y := lo[1]; y < hi[1]; y++ {
			at := o.head + (lo[0]+shape[0]*(y+shape[1]*z))*s
			if !yield(at, min((hi[0]-lo[0])*s, o.g.Request)) {
				return false
			}
		}
	}
	return true
}

// inOrder yields the numbers below count in the order of a way.
func inOrder(way string, count int, r *rand.Rand) iter.Seq[int] {
	steps := 2 + r.IntN(5)
	lane := (count + steps - 1) / steps
	return func(yield func(int) bool) {
		for i := range lane * steps {
			switch way {
			case "backward":
				i = count - 1 - i
			case "strided":
				i = i%lane*steps + i/lane
			case "interleaved":
				i = i%steps*lane + i/steps
			case "random":
				i = r.IntN(count)
			case "end":
				yield(count - 1)
				return
			}
			if i >= 0 && i < count && !yield(i) {
				return
			}
		}
	}
}

// request makes one request. It may extend past the end of the file.
func (o geometryOpen) request(p []byte, off int) error {
	var n int
	var err error
	o.m.w.request(o.m.t, o.name, func() { n, err = o.readAt(p, int64(off)) })
	want := min(len(p), o.size-off)
	if err == io.EOF {
		err = nil
	}
	if err != nil && o.m.failed(err) == nil { // what was read before counts
		want, err = n, nil
	}
	if n != want || err != nil {
		return fmt.Errorf("%s, %s: %d of %d bytes at %d of %d, %v", o.name, o.g.Way, n, want, off, o.size, err)
	}
	first := max(off, o.head) - o.head
	end := max(min(off+n-o.head, len(o.voxels)), first)
	got, voxels := p[min(first+o.head-off, n):], o.voxels[min(first, len(o.voxels)):min(end, len(o.voxels))]
	if bytes.Equal(got[:len(voxels)], voxels) {
		return nil
	}
	for i, b := range voxels {
		if got[i] != b {
			return fmt.Errorf("%s, %s: byte %d is %d, want %d, in a request of %d bytes at %d", o.name, o.g.Way,
				o.head+first+i, got[i], b, len(p), off)
		}
	}
	return nil
}

// mappedFile is a file that is mapped into memory.
type mappedFile []byte

// ReadAt copies bytes. A page that cannot be read is an error.
func (m mappedFile) ReadAt(p []byte, off int64) (n int, err error) {
	want := min(len(p), len(m)-int(off))
	if n = copyMapped(p[:want], m, int(off)); n < want {
		return n, unix.EIO
	}
	return n, nil
}
