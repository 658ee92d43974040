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

// ways are the ways to read that TestLoad mixes.
var ways = []struct {
	name string
	read func(*load, *rand.Rand) error
}{
	{"sequential", (*load).readSequentially},
	{"random", (*load).readRandom},
	{"random direct", (*load).readRandomDirect},
	{"mmap", (*load).readMapped},
	{"cube", (*load).readCube},
	{"block", (*load).readBlock},
	{"box", (*load).readBox},
	{"slice", (*load).readSlice},
}

// readSequentially reads the volume from start to end.
func (l *load) readSequentially(*rand.Rand) error {
	return l.withVolume(0, func(f *os.File) error {
		p := make([]byte, 1<<20)
		for off := 0; off < len(l.want); off += len(p) {
			n, err := f.ReadAt(p, int64(off))
			if err != nil && err != io.EOF {
				return err
			}
			if err := compareBytes(p[:n], l.want[off:min(off+len(p), len(l.want))]); err != nil {
				return fmt.Errorf("at %d: %w", off, err)
			}
		}
		return nil
	})
}

// withVolume opens the volume, calls use, and drops the volume from the page cache.
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

// readRandom reads 4 KiB to 1 MiB at a random offset of the volume.
func (l *load) readRandom(r *rand.Rand) error {
	return l.withVolume(0, func(f *os.File) error { return l.readRandomRange(f, r) })
}

// readRandomDirect does the same past the page cache.
func (l *load) readRandomDirect(r *rand.Rand) error {
	return l.withVolume(unix.O_DIRECT, func(f *os.File) error { return l.readRandomRange(f, r) })
}

func (l *load) readRandomRange(f *os.File, r *rand.Rand) error {
	p := make([]byte, 4096<<r.IntN(9))
	off := r.IntN(len(l.want) - len(p))
	if _, err := f.ReadAt(p, int64(off)); err != nil {
		return err
	}
	return compareBytes(p, l.want[off:off+len(p)])
}

// readMapped reads 50 random bytes of a mapping of the volume.
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
	return readAndCompare(filepath.Join(l.dir, fmt.Sprintf("z%d/y%d/x%d.raw", at[2], at[1], at[0])), 0, l.cube)
}

// anyCube returns a random cube that exists.
func anyCube(r *rand.Rand) [3]int {
	for {
		if at := [3]int{r.IntN(3), r.IntN(2), r.IntN(2)}; loadLayer.cubes[at] {
			return at
		}
	}
}

// readBlock reads a block file.
func (l *load) readBlock(r *rand.Rand) error {
	at, side := anyCube(r), 1<<loadLayer.blockLog
	x, y, z := r.IntN(8), r.IntN(8), r.IntN(8)
	name := fmt.Sprintf("z%d/y%d/x%d.blocks/z%d/y%d/x%d.raw", at[2], at[1], at[0], z, y, x)
	return readAndCompare(filepath.Join(l.dir, name), 0, loadLayer.part(x*side, y*side, z*side, side))
}

// readBox reads a box of up to 74 voxels on each axis, partly outside of the layer.
func (l *load) readBox(r *rand.Rand) error {
	var lo, hi [3]int
	for axis := range 3 {
		lo[axis] = loadLayer.min[axis] - 10 + r.IntN(loadLayer.size[axis]+10)
		// a box with no voxel of the layer does not exist
		hi[axis] = max(loadLayer.min[axis], lo[axis]) + 1 + r.IntN(64)
	}
	name := fmt.Sprintf("box/%d-%d_%d-%d_%d-%d.raw", lo[0], hi[0], lo[1], hi[1], lo[2], hi[2])
	return readAndCompare(filepath.Join(l.dir, name), 0, l.box(lo, hi))
}

// box returns the voxels of a box. It copies rows from the voxels of the bounding box.
func (l *load) box(lo, hi [3]int) []byte {
	row := hi[0] - lo[0]
	b := make([]byte, row*(hi[1]-lo[1])*(hi[2]-lo[2]))
	start, end := max(lo[0], loadLayer.min[0]), min(hi[0], loadLayer.max()[0])
	for i := range len(b) / row {
		y, z := lo[1]+i%(hi[1]-lo[1])-loadLayer.min[1], lo[2]+i/(hi[1]-lo[1])-loadLayer.min[2]
		if y < 0 || y >= loadLayer.size[1] || z < 0 || z >= loadLayer.size[2] || start >= end {
			continue
		}
		origin := (z*loadLayer.size[1]+y)*loadLayer.size[0] - loadLayer.min[0]
		copy(b[i*row+start-lo[0]:], l.want[origin+start:origin+end])
	}
	return b
}

// readSlice reads one plane as TIFF.
func (l *load) readSlice(r *rand.Rand) error {
	plane := loadLayer.size[0] * loadLayer.size[1]
	z := r.IntN(loadLayer.size[2])
	name := filepath.Join(l.dir, fmt.Sprintf("slices/z%07d.tif", loadLayer.min[2]+z))
	return readAndCompare(name, 4096, l.want[z*plane:(z+1)*plane])
}

// readAndCompare reads a file, compares the bytes after its header, and drops it from the page cache.
func readAndCompare(name string, header int, want []byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err == nil && len(got) < header {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = compareBytes(got[header:], want)
	}
	if err == nil {
		err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func compareBytes(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("got %d bytes, which are not the %d bytes of the model", len(got), len(want))
}
