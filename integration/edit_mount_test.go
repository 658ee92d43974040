package integration

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// editMount is a mount whose segmentation can be written, and what it must contain.
type editMount struct {
	*server
	source, edits string
	hash          [32]byte // of all files of the source
	want          []byte   // the voxels of mag 1
	checks        int      // how often check was called
}

// Of the segmentation of a sample: where its bounding box starts, how large it is, and the bytes of a voxel.
var editStart, editSize = [3]int{100, 70, 34}, [3]int{210, 180, 92}

const editVoxel = 4

// newEdit mounts a sample.
func newEdit(t *testing.T, args ...string) *editMount {
	t.Helper()
	dir := tempDir(t)
	e := &editMount{source: filepath.Join(dir, "sample"), edits: filepath.Join(dir, "edits")}
	writeSample(t, e.source)
	e.hash = hashFiles(t, e.source)
	e.mount(t, args...)
	e.want = e.read(t, "volume.raw")
	if len(e.want) != editVoxel*editSize[0]*editSize[1]*editSize[2] {
		t.Fatalf("the sample has %d bytes", len(e.want))
	}
	return e
}

func (e *editMount) mount(t *testing.T, args ...string) {
	t.Helper()
	e.server = mountServer(t, e.source, append(args, "--edit=segmentation="+e.edits)...)
}

// hashFiles returns a hash of the names and contents of all files.
func hashFiles(t *testing.T, dir string) [32]byte {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintln(h, path, len(b))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return [32]byte(h.Sum(nil))
}

// file returns the path of a file of mag 1.
func (e *editMount) file(name string) string { return filepath.Join(e.dir, "segmentation/1", name) }

func (e *editMount) read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(e.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// open opens a file of mag 1 for reading and writing.
func (e *editMount) open(t *testing.T, name string, flags int) *os.File {
	t.Helper()
	f, err := os.OpenFile(e.file(name), os.O_RDWR|flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// box returns the bytes of a box that must be read: its corner, in absolute voxels, and its lengths.
func (e *editMount) box(at, n [3]int) (b []byte) {
	e.rows(at, n, func(row []byte) { b = append(b, row...) })
	return b
}

// setBox sets the bytes of a box that must be read.
func (e *editMount) setBox(at, n [3]int, b []byte) {
	e.rows(at, n, func(row []byte) { b = b[copy(row, b):] })
}

func (e *editMount) rows(at, n [3]int, use func(row []byte)) {
	for z := range n[2] {
		for y := range n[1] {
			start := at[0] - editStart[0] + editSize[0]*(at[1]+y-editStart[1]+editSize[1]*(at[2]+z-editStart[2]))
			use(e.want[editVoxel*start:][:editVoxel*n[0]])
		}
	}
}

// check compares all kinds of views with what they must contain: the whole array in another format each time, the
// others in one. what names the step.
func (e *editMount) check(t *testing.T, what string) {
	t.Helper()
	for _, name := range []string{[]string{"volume.raw", "volume.npy", "volume.nii"}[e.checks%3]} {
		if got := e.read(t, name); !bytes.Equal(got[len(got)-len(e.want):], e.want) {
			t.Errorf("%s: %s differs at byte %d", what, name, firstDifference(got[len(got)-len(e.want):], e.want))
		}
	}
	at, n := [3]int{120, 100, 50}, [3]int{64, 40, 30}
	if got := e.read(t, "box/120-184_100-140_50-80.raw"); !bytes.Equal(got, e.box(at, n)) {
		t.Errorf("%s: a box differs", what)
	}
	for _, z := range []int{34, 60, 70} { // the plane of a TIFF is at its end
		got, plane := e.read(t, fmt.Sprintf("slices/z%07d.tif", z)), e.box([3]int{100, 70, z}, [3]int{210, 180, 1})
		if !bytes.Contains(got, plane) {
			t.Errorf("%s: slice %d differs", what, z)
		}
	}
	e.checks++
	if hashFiles(t, e.source) != e.hash {
		t.Fatalf("%s: the dataset has changed", what)
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// labels returns n voxels of random segments.
func labels(n int, seed uint64) (b []byte) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range n {
		b = binary.LittleEndian.AppendUint32(b, r.Uint32N(1000)+1)
	}
	return b
}

// checkLargest checks that no voxel is above the largest id in the NML file.
func (e *editMount) checkLargest(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.edits, "annotation.nml"))
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(string(text), `largestSegmentId="`)
	id, _, _ = strings.Cut(id, `"`)
	most, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for i := 0; i < len(e.want); i += editVoxel {
		if id := binary.LittleEndian.Uint32(e.want[i:]); uint64(id) > most {
			t.Fatalf("voxel %d has id %d, and the NML file %d", i/editVoxel, id, most)
		}
	}
}

// alignedPage returns memory of a page, as O_DIRECT needs it.
func alignedPage() []byte {
	b := make([]byte, 3*4096)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & 4095
	return b[skip : skip+4096]
}

// writeMap writes through a shared map whose descriptor was closed before, as numpy does.
func (e *editMount) writeMap(t *testing.T, off int, p []byte, sync bool) {
	t.Helper()
	f := e.open(t, "volume.raw", 0)
	m, err := unix.Mmap(int(f.Fd()), 0, len(e.want), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	copy(m[off:], p)
	if sync {
		if err := unix.Msync(m, unix.MS_SYNC); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Munmap(m); err != nil {
		t.Fatal(err)
	}
	copy(e.want[off:], p)
}

// blocks returns the files of blocks.
func (e *editMount) blocks(t *testing.T) (found []string) {
	t.Helper()
	_ = filepath.WalkDir(e.edits, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "x") {
			found = append(found, path)
		}
		return nil // files appear and vanish
	})
	return found
}
