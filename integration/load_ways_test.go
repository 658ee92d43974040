package integration

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ways are how people read.
var ways = []struct {
	name string
	read func(*load, *rand.Rand) error
}{
	{"sequential", (*load).readSequentially},
	{"random", (*load).readSomewhere},
	{"random direct", (*load).readDirectly},
	{"mmap", (*load).readMapped},
	{"cube", (*load).readCube},
	{"block", (*load).readBlock},
	{"box", (*load).readBox},
	{"slice", (*load).readSlice},
}

// readSequentially reads the volume from its begin to its end.
func (l *load) readSequentially(*rand.Rand) error {
	return l.withVolume(0, func(f *os.File) error {
		p := make([]byte, 1<<20)
		for off := 0; off < len(l.want); off += len(p) {
			n, err := f.ReadAt(p, int64(off))
			if err != nil && err != io.EOF {
				return err
			}
			if err := same(p[:n], l.want[off:min(off+len(p), len(l.want))]); err != nil {
				return fmt.Errorf("at %d: %w", off, err)
			}
		}
		return nil
	})
}

// withVolume opens the volume, and takes it out of the page cache at the end.
func (l *load) withVolume(flags int, use func(*os.File) error) error {
	f, err := os.OpenFile(filepath.Join(l.dir, "volume.raw"), os.O_RDONLY|flags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := use(f); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// readSomewhere reads 4 KiB to 1 MiB of the volume.
func (l *load) readSomewhere(r *rand.Rand) error {
	return l.withVolume(0, func(f *os.File) error { return l.readFrom(f, r) })
}

// readDirectly does the same past the page cache.
func (l *load) readDirectly(r *rand.Rand) error {
	return l.withVolume(unix.O_DIRECT, func(f *os.File) error { return l.readFrom(f, r) })
}

func (l *load) readFrom(f *os.File, r *rand.Rand) error {
	p := make([]byte, 4096<<r.IntN(9))
	off := r.IntN(len(l.want) - len(p))
	if _, err := f.ReadAt(p, int64(off)); err != nil {
		return err
	}
	return same(p, l.want[off:off+len(p)])
}

// readMapped looks at bytes here and there in a mapping.
func (l *load) readMapped(r *rand.Rand) error {
	return l.withVolume(0, func(f *os.File) error {
		m, err := unix.Mmap(int(f.Fd()), 0, len(l.want), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		for range 50 {
			if off := r.IntN(len(m)); m[off] != l.want[off] {
				err = fmt.Errorf("byte %d is %d, want %d", off, m[off], l.want[off])
			}
		}
		if unmapped := unix.Munmap(m); err == nil {
			err = unmapped
		}
		return err
	})
}

// readCube reads a cube file.
func (l *load) readCube(r *rand.Rand) error {
	at := anyCube(r)
	return readSame(filepath.Join(l.dir, fmt.Sprintf("z%d/y%d/x%d.raw", at[2], at[1], at[0])), 0, l.cube)
}

// anyCube is one that exists.
func anyCube(r *rand.Rand) [3]int {
	for {
		if at := [3]int{r.IntN(3), r.IntN(2), r.IntN(2)}; loaded.cubes[at] {
			return at
		}
	}
}

// readBlock reads a file of one block.
func (l *load) readBlock(r *rand.Rand) error {
	at, side := anyCube(r), 1<<loaded.blockLog
	x, y, z := r.IntN(8), r.IntN(8), r.IntN(8)
	name := fmt.Sprintf("z%d/y%d/x%d.blocks/z%d/y%d/x%d.raw", at[2], at[1], at[0], z, y, x)
	return readSame(filepath.Join(l.dir, name), 0, loaded.part(x*side, y*side, z*side, side))
}

// readBox reads a box of up to 64 voxels a side, in part outside of the layer.
func (l *load) readBox(r *rand.Rand) error {
	var lo, hi [3]int
	for axis := range 3 {
		lo[axis] = r.IntN(loaded.size[axis]+20) - 10
		hi[axis] = lo[axis] + 1 + r.IntN(64)
	}
	name := fmt.Sprintf("box/%d-%d_%d-%d_%d-%d.raw", lo[0], hi[0], lo[1], hi[1], lo[2], hi[2])
	return readSame(filepath.Join(l.dir, name), 0, l.part(lo, hi))
}

// part is the voxels of a box, row by row out of those of the bounding box.
func (l *load) part(lo, hi [3]int) []byte {
	row := hi[0] - lo[0]
	b := make([]byte, row*(hi[1]-lo[1])*(hi[2]-lo[2]))
	begin, end := max(lo[0], loaded.min[0]), min(hi[0], loaded.max()[0])
	for i := range len(b) / row {
		y, z := lo[1]+i%(hi[1]-lo[1])-loaded.min[1], lo[2]+i/(hi[1]-lo[1])-loaded.min[2]
		if y < 0 || y >= loaded.size[1] || z < 0 || z >= loaded.size[2] || begin >= end {
			continue
		}
		from := (z*loaded.size[1]+y)*loaded.size[0] - loaded.min[0]
		copy(b[i*row+begin-lo[0]:], l.want[from+begin:from+end])
	}
	return b
}

// readSlice reads a plane, a TIFF.
func (l *load) readSlice(r *rand.Rand) error {
	plane := loaded.size[0] * loaded.size[1]
	z := r.IntN(loaded.size[2])
	name := filepath.Join(l.dir, fmt.Sprintf("slices/z%07d.tif", loaded.min[2]+z))
	return readSame(name, 4096, l.want[z*plane:(z+1)*plane])
}

// readSame reads a whole file and compares what follows its head. It takes the file
// out of the page cache.
func readSame(name string, head int, want []byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err == nil && len(got) < head {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = same(got[head:], want)
	}
	if err == nil {
		err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func same(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("%d bytes, not the %d of the model", len(got), len(want))
}
