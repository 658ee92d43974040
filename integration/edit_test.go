package integration

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// TestEdits writes in the ways that programs have: pwrite, past the page cache, shared maps, dd, into boxes with
// headers and cubes, and over the whole file. All views have what was written when it is closed, also in the next
// mount, and in a mount of the annotation over the dataset. The dataset stays as it is.
func TestEdits(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e := newEdit(t)
	f := e.open(t, "volume.raw", 0)
	set := func(off int, p []byte) { copy(e.want[off:], p) }
	p := labels(5000, 1)
	if _, err := f.WriteAt(p, 400_000); err != nil {
		t.Fatal(err)
	}
	set(400_000, p)
	if got := e.read(t, "volume.raw"); !bytes.Equal(got, e.want) {
		t.Error("the file differs before it is closed")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	e.check(t, "pwrite")

	f = e.open(t, "volume.raw", unix.O_DIRECT)
	whole := alignedPage()
	copy(whole, labels(1024, 2))
	if _, err := f.WriteAt(whole, 8192*100); err != nil {
		t.Fatal(err)
	}
	set(8192*100, whole)
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	e.check(t, "O_DIRECT")

	e.writeMap(t, 2_000_002, []byte("four"), true)
	e.writeMap(t, 9_000_000, labels(30_000, 3), true)
	e.check(t, "a shared map")
	e.writeMap(t, 5_000_000, labels(100, 4), false)
	eventually(t, "a map that was not synced is durable", func() bool {
		slice, err := os.ReadFile(e.file("slices/z0000067.tif")) // fails if its blocks are replaced while it is read
		return err == nil && bytes.Contains(slice, labels(100, 4)[:400])
	})
	e.check(t, "a shared map without msync")

	input := filepath.Join(t.TempDir(), "dd")
	writeFile(t, input, labels(100_000, 5))
	dd := exec.Command("dd", "if="+input, "of="+e.file("volume.raw"), "bs=1000", "seek=77", "conv=notrunc",
		"status=none")
	if out, err := dd.CombinedOutput(); err != nil {
		t.Fatalf("dd: %v: %s", err, out)
	}
	set(77_000, labels(100_000, 5))
	e.check(t, "dd")

	for i, suffix := range []string{"raw", "npy", "nii", "nrrd", "tif"} {
		at, n := [3]int{125 + i, 90, 40 + i}, [3]int{40, 35, 3}
		name := fmt.Sprintf("box/%d-%d_90-125_%d-%d.%s", at[0], at[0]+40, at[2], at[2]+3, suffix)
		old := e.box(at, n)
		content := e.read(t, name)
		start := bytes.Index(content, old)
		if start < 0 {
			t.Fatalf("%s does not have the voxels", name)
		}
		fresh := labels(40*35*3, uint64(10+i))
		copy(content[start:], fresh)
		if err := os.WriteFile(e.file(name), content, 0o644); err != nil { // truncates, and writes the header again
			t.Errorf("%s: %v", name, err)
			continue
		}
		e.setBox(at, n, fresh)
		e.check(t, name)
	}

	cube := e.open(t, "z1/y2/x2.raw", 0) // of 64³ voxels
	fresh := labels(64*64, 20)
	if _, err := cube.WriteAt(fresh, 64*64*editVoxel*5); err != nil {
		t.Fatal(err)
	}
	if err := cube.Close(); err != nil {
		t.Fatal(err)
	}
	e.setBox([3]int{128, 128, 69}, [3]int{64, 64, 1}, fresh)
	e.check(t, "a cube")

	f = e.open(t, "volume.raw", 0)
	if err := f.Truncate(int64(len(e.want))); err != nil {
		t.Errorf("truncate to the same size: %v", err)
	}
	f.Close()
	all := labels(len(e.want)/editVoxel, 30)
	if err := os.WriteFile(e.file("volume.raw"), all, 0o644); err != nil {
		t.Fatal(err)
	}
	set(0, all)
	e.check(t, "all of it")
	e.checkLargest(t)

	e.stop(t)
	e.mount(t)
	e.check(t, "the next mount")
	e.stop(t)
	e.server = mountServer(t, e.edits, "--over="+e.source)
	e.check(t, "the annotation over the dataset")
	if r := wkwfs(t, "check", e.edits, "--over="+e.source); r.code != 0 {
		t.Errorf("check: %s%s", r.stdout, r.stderr)
	}
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

// TestEditWriters writes boxes that share blocks, from many goroutines, and reads other views meanwhile.
func TestEditWriters(t *testing.T) {
	parallelHeavy(t)
	e := newEdit(t, "--cache-size=70MiB")
	var group sync.WaitGroup
	for i := range 8 {
		at, n := [3]int{110 + 11*i, 80, 40}, [3]int{11, 60, 20}
		name := fmt.Sprintf("box/%d-%d_80-140_40-60.npy", at[0], at[0]+11)
		content := e.read(t, name)
		fresh := labels(11*60*20, uint64(i))
		copy(content[len(content)-len(fresh):], fresh)
		e.setBox(at, n, fresh)
		group.Go(func() {
			for range 3 {
				if err := os.WriteFile(e.file(name), content, 0o644); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 3 {
				if _, err := os.ReadFile(e.file("volume.raw")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	e.check(t, "many writers")
}

// TestEditRefusals: what cannot be written is refused with a number that says why, and changes nothing.
func TestEditRefusals(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e := newEdit(t)
	write := func(name string, off int64, p []byte) error {
		f, err := os.OpenFile(e.file(name), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(p, off)
		return errors.Join(err, f.Close())
	}
	size := int64(len(e.want))
	short := func(name string) error { return os.WriteFile(e.file(name), e.want[:1000], 0o644) }
	for what, c := range map[string]struct {
		err  error
		want error
	}{
		"past the end":         {write("volume.raw", size-2, []byte("1234")), syscall.EFBIG},
		"shorter":              {os.Truncate(e.file("volume.raw"), 10), syscall.EPERM},
		"longer":               {os.Truncate(e.file("volume.raw"), size+1), syscall.EPERM},
		"a part of all":        {short("volume.raw"), syscall.EINVAL},
		"header":               {write("volume.npy", 30, []byte("zz")), syscall.EINVAL},
		"header of a box":      {write("box/120-130_100-110_50-60.nrrd", 5, []byte("zz")), syscall.EINVAL},
		"outside of the layer": {write("box/0-110_100-110_50-60.raw", 0, []byte("1234")), syscall.EINVAL},
		"slice":                {write("slices/z0000060.tif", 0, []byte("II")), syscall.EROFS},
		"metadata":             {write("volume.json", 0, []byte("{}")), syscall.EROFS},
		"another layer":        {write("../../color/1/volume.raw", 0, []byte("1")), syscall.EROFS},
		"a new file":           {os.WriteFile(e.file("new"), nil, 0o644), syscall.EROFS},
		"remove":               {os.Remove(e.file("volume.raw")), syscall.EROFS},
		"rename":               {os.Rename(e.file("volume.raw"), e.file("other")), syscall.EROFS},
		"permissions":          {os.Chmod(e.file("volume.raw"), 0o777), syscall.EPERM},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, expected %v", what, c.err, c.want)
		}
	}
	if err := write("volume.npy", 0, e.read(t, "volume.npy")[:128]); err != nil {
		t.Errorf("the same header: %v", err)
	}
	e.check(t, "after refusals")
	if n := len(e.blocks(t)); n != 0 {
		t.Errorf("%d blocks have files", n)
	}
	other := tempDir(t)
	writeFile(t, filepath.Join(other, "file"), nil)
	for what, c := range map[string]struct{ edit, text string }{
		"no such layer":   {"nuclei=" + e.edits + "2", "there is no such layer"},
		"an image":        {"color=" + e.edits + "2", "expected a segmentation"},
		"in the dataset":  {"segmentation=" + e.source + "/edits", "lies in SOURCE"},
		"something else":  {"segmentation=" + other, "found file and no NML file"},
		"without a layer": {e.edits, "is not a LAYER=DIR"},
	} {
		r := wkwfs(t, "mount", "--edit", c.edit, e.source, tempDir(t))
		if r.code == 0 || !strings.Contains(r.stderr, c.text) {
			t.Errorf("%s: exit code %d, %q, expected %q", what, r.code, r.stderr, c.text)
		}
	}
	e.check(t, "after mounts that were refused")
}

// TestEditKill kills the server while programs write. What was synced before is there, and each block is old or new.
func TestEditKill(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e := newEdit(t)
	synced := labels(20_000, 1)
	f := e.open(t, "volume.raw", 0)
	if _, err := f.WriteAt(synced, 1_000_000); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	copy(e.want[1_000_000:], synced)
	old := bytes.Clone(e.want)
	fresh := bytes.Repeat([]byte{7, 7, 7, 7}, editSize[0]*editSize[1]*40)
	written := make(chan error, 1)
	go func() {
		_, err := f.WriteAt(fresh, 5_000_000)
		written <- errors.Join(err, f.Sync())
	}()
	before := len(e.blocks(t))
	eventually(t, "some blocks are written", func() bool { return len(e.blocks(t)) > before+2 })
	e.kill(t)
	<-written
	f.Close()
	mustRun(t, "umount", e.dir)
	e.mount(t)
	if hashFiles(t, e.source) != e.hash {
		t.Error("the dataset has changed")
	}
	got := e.read(t, "volume.raw")
	copy(e.want[5_000_000:], fresh)
	counts := e.compareBlocks(t, got, old)
	t.Logf("blocks: %v", counts)
	for _, name := range e.blocks(t) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
	}
}

// compareBlocks counts the blocks that are as before and as they must be now. Others are errors.
func (e *editMount) compareBlocks(t *testing.T, got, old []byte) (counts map[string]int) {
	t.Helper()
	type states struct{ old, fresh bool }
	blocks := map[[3]int]states{}
	for i := 0; i < len(got); i += editVoxel {
		v := i / editVoxel
		at := [3]int{(editStart[0] + v%editSize[0]) / 32, (editStart[1] + v/editSize[0]%editSize[1]) / 32,
			(editStart[2] + v/editSize[0]/editSize[1]) / 32}
		s, ok := blocks[at]
		if !ok {
			s = states{true, true}
		}
		s.old = s.old && bytes.Equal(got[i:i+editVoxel], old[i:i+editVoxel])
		s.fresh = s.fresh && bytes.Equal(got[i:i+editVoxel], e.want[i:i+editVoxel])
		blocks[at] = s
	}
	counts = map[string]int{}
	for at, s := range blocks {
		switch {
		case s.old && s.fresh:
			counts["same"]++
		case s.old:
			counts["old"]++
		case s.fresh:
			counts["new"]++
		default:
			t.Errorf("block %v is neither old nor new", at)
		}
	}
	return counts
}

// TestEditFullDisk writes more than the disk of the edits has room for. The write fails with ENOSPC. What was written
// before is there, and with more room the next write succeeds.
func TestEditFullDisk(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	requireRoot(t)
	dir := tempDir(t)
	mountDisk(t, "none", dir, "tmpfs", 0, "size=1m")
	e := &editMount{source: filepath.Join(tempDir(t), "sample"), edits: filepath.Join(dir, "edits")}
	writeSample(t, e.source)
	e.hash = hashFiles(t, e.source)
	e.mount(t)
	e.want = e.read(t, "volume.raw")
	f := e.open(t, "volume.raw", 0)
	p := labels(100, 1)
	if _, err := f.WriteAt(p, 0); err != nil {
		t.Fatal(err)
	}
	copy(e.want, p)
	random := make([]byte, 4<<20)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	_, err := f.WriteAt(random, 1<<20)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, expected %v", err, syscall.ENOSPC)
	}
	if err := f.Sync(); err != nil {
		t.Error(err)
	}
	if got := e.read(t, "volume.raw"); !bytes.Equal(got[:1<<20], e.want[:1<<20]) ||
		!bytes.Equal(got[5<<20:], e.want[5<<20:]) {
		t.Error("what was not written has changed")
	}
	mountDisk(t, "none", dir, "tmpfs", unix.MS_REMOUNT, "size=100m")
	if _, err := f.WriteAt(random, 1<<20); err != nil {
		t.Error(err)
	}
	copy(e.want[1<<20:], random)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	e.check(t, "with more room")
	e.stop(t)
}

// TestEditTwoMounts: of two mounts with one directory, one writes. The other one shows what was written some seconds
// later. When the first one has ended, another mount writes.
func TestEditTwoMounts(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e := newEdit(t)
	second := *e
	second.mount(t)
	if err := os.WriteFile(second.file("volume.raw"), e.want, 0o644); !errors.Is(err, syscall.EROFS) {
		t.Errorf("the second mount: got %v, expected %v", err, syscall.EROFS)
	}
	p := labels(10_000, 1)
	f := e.open(t, "volume.raw", 0)
	if _, err := f.WriteAt(p, 3_000_000); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	copy(e.want[3_000_000:], p)
	eventually(t, "the second mount shows it", func() bool { return bytes.Equal(second.read(t, "volume.raw"), e.want) })
	second.stop(t)
	e.stop(t)
	e.mount(t)
	if _, err := e.open(t, "volume.raw", 0).WriteAt(p, 0); err != nil {
		t.Error(err)
	}
}

// TestEditPanic: a panic fails the write or the sync that it happens in, and nothing else.
func TestEditPanic(t *testing.T) {
	parallelHeavy(t)
	requireFUSE(t)
	dir := tempDir(t)
	e := &editMount{source: filepath.Join(dir, "sample"), edits: filepath.Join(dir, "edits")}
	writeSample(t, e.source)
	e.hash = hashFiles(t, e.source)
	p, s := mountPanicking(t, e.source, "--edit=segmentation="+e.edits)
	e.server = s
	e.want = e.read(t, "volume.raw")
	for i, place := range []string{"fsnode.write", "edit.sync"} {
		f := e.open(t, "volume.raw", 0)
		fresh := labels(1000, uint64(i))
		p.arm(place)
		_, err := f.WriteAt(fresh, int64(i)*1_000_000)
		if err = errors.Join(err, f.Sync()); !errors.Is(err, syscall.EIO) {
			t.Errorf("a panic at %s: got %v, expected %v", place, err, syscall.EIO)
		}
		p.await(place)
		p.panicked = append(p.panicked, place)
		if _, err := f.WriteAt(fresh, int64(i)*1_000_000); err != nil {
			t.Errorf("after a panic at %s: %v", place, err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("after a panic at %s: %v", place, err)
		}
		copy(e.want[i*1_000_000:], fresh)
		e.check(t, "after a panic at "+place)
	}
	p.checkLog()
}
