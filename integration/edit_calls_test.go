package integration

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"
	"golang.org/x/sys/unix"
)

// TestEditPosix runs those tests of go-fuse that write files of one size, on boxes of that size. Names that the tests
// make lead to the boxes. The other tests make, rename or remove files, change sizes or permissions, or expect that
// locks are those of go-fuse and not of the kernel.
func TestEditPosix(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	dir := tempDir(t)
	raw, source := filepath.Join(dir, "raw"), filepath.Join(dir, "source")
	writeFile(t, raw, bytes.Repeat([]byte{1, 2, 3}, 1400*96*40/3))
	mustRun(t, "import", "-q", raw, source, "--layer", "cells", "--shape", "1400,96,40", "--dtype", "uint8",
		"--category", "segmentation", "--voxel-size", "10,10,30")
	s := mountServer(t, source, "--edit=cells="+filepath.Join(dir, "edits"))
	for name, boxes := range map[string]map[string]string{
		"DirectIO":            {"file.txt": "30-94_20-84_31-34"},
		"FcntlFlockSetLk":     {"file0": "0-10_0-10_0-10", "file1": "0-10_0-10_0-11"},
		"FdLeak":              {"file": "60-71_7-8_3-4"},
		"FileLarge":           {"file": "5-1386_1-96_32-33"},
		"LseekEnxioCheck":     {"file.bin": "31-63_31-63_30-37"},
		"LseekHoleSeeksToEOF": {"file.bin": "31-63_31-63_31-38"},
		"ParallelFileOpen":    {"file": "29-36_7-8_3-4"},
	} {
		t.Run(name, func(t *testing.T) {
			links := t.TempDir()
			for link, box := range boxes {
				if err := os.Symlink(filepath.Join(s.dir, "cells/1/box", box+".raw"),
					filepath.Join(links, link)); err != nil {
					t.Fatal(err)
				}
			}
			posixtest.All[name](t, links)
		})
	}
	t.Run("ReadDirConsistency", func(t *testing.T) {
		posixtest.All["ReadDirConsistency"](t, filepath.Join(s.dir, "cells/1"))
	})
}

// callFile is a file of an edited mag whose bytes are random calls.
type callFile struct {
	name  string
	at, n [3]int // its voxels

	file *os.File
	head int    // bytes before the voxels
	want []byte // the voxels
}

// callFiles are files that share voxels.
func callFiles() []*callFile {
	all := []*callFile{
		{name: "volume.raw", at: editStart, n: editSize},
		{name: "volume.npy", at: editStart, n: editSize},
		{name: "z1/y2/x2.raw", at: [3]int{128, 128, 64}, n: [3]int{64, 64, 62}},
	}
	for _, suffix := range []string{"raw", "nii", "nrrd"} {
		all = append(all, &callFile{name: "box/121-201_99-160_40-71." + suffix, at: [3]int{121, 99, 40},
			n: [3]int{80, 61, 31}})
	}
	return all
}

// TestEditCalls makes random system calls on files that share voxels, one file after the other, beside a model: pread,
// pwrite, loads and stores in shared maps, msync, fsync, and truncation to the same size.
func TestEditCalls(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e := newEdit(t, "--cache-size=70MiB")
	r := rand.New(rand.NewPCG(3, 4))
	for round := range amount(12, 100) {
		c := randomOf(r, callFiles())
		c.open(t, e)
		done := ""
		for range 1 + r.IntN(12) {
			call := randomOf(r, []string{"pread", "pwrite", "pwrite", "load", "store", "fsync", "truncate"})
			done += " " + call
			if err := c.call(call, r); err != nil {
				t.Fatalf("round %d, %s:%s: %v", round, c.name, done, err)
			}
		}
		if err := c.file.Close(); err != nil {
			t.Fatal(err)
		}
		e.setBox(c.at, c.n, c.want)
		if round%10 == 9 {
			e.check(t, fmt.Sprintf("round %d, after %s:%s", round, c.name, done))
		}
	}
	e.stop(t)
	e.mount(t)
	e.check(t, "the next mount")
}

func (c *callFile) open(t *testing.T, e *editMount) {
	t.Helper()
	c.file = e.open(t, c.name, 0)
	c.want = e.box(c.at, c.n)
	if c.name == "z1/y2/x2.raw" { // a cube of 64³ voxels, the last of which are outside of the layer
		c.head = 0
		return
	}
	info, err := c.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c.head = int(info.Size()) - len(c.want)
}

// part returns a range of the voxels, short or long.
func (c *callFile) part(r *rand.Rand) (off, n int) {
	off = r.IntN(len(c.want))
	most := min(len(c.want)-off, randomOf(r, []int{1, 100, 5000, 300_000, 3_000_000}))
	return off, 1 + r.IntN(most)
}

// call makes a call.
func (c *callFile) call(name string, r *rand.Rand) error {
	off, n := c.part(r)
	p := make([]byte, n)
	switch name {
	case "pread":
		if _, err := c.file.ReadAt(p, int64(c.head+off)); err != nil {
			return err
		}
		return c.compare(p, off)
	case "pwrite":
		random(p, r)
		copy(c.want[off:], p)
		_, err := c.file.WriteAt(p, int64(c.head+off))
		return err
	case "load", "store":
		return c.mapped(off, n, name == "store", r)
	case "truncate":
		info, err := c.file.Stat()
		if err != nil {
			return err
		}
		return c.file.Truncate(info.Size())
	}
	return c.file.Sync()
}

func random(p []byte, r *rand.Rand) {
	for i := range p {
		p[i] = byte(r.Uint32())
	}
}

func (c *callFile) compare(p []byte, off int) error {
	if want := c.want[off:][:len(p)]; !bytes.Equal(p, want) {
		return fmt.Errorf("%d bytes at %d of the voxels: byte %d differs", len(p), off, firstDifference(p, want))
	}
	return nil
}

// mapped loads from a map, or stores into it.
func (c *callFile) mapped(off, n int, store bool, r *rand.Rand) error {
	m, err := unix.Mmap(int(c.file.Fd()), 0, c.head+len(c.want), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	part := m[c.head+off:][:n]
	if err = c.compare(part, off); err == nil && store {
		random(part, r)
		copy(c.want[off:], part)
		if r.IntN(2) == 0 { // else the kernel writes it later
			err = unix.Msync(m, unix.MS_SYNC)
		}
	}
	if failed := unix.Munmap(m); err == nil {
		err = failed
	}
	return err
}
