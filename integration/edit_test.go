package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

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
