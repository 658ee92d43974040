package integration

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

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
		"a new file elsewhere": {os.WriteFile(e.file("slices/new"), nil, 0o644), syscall.EROFS},
		"a box outside":        {os.WriteFile(e.file("box/0-9_0-9_0-9.npy"), nil, 0o644), syscall.EINVAL},
		"remove":               {os.Remove(e.file("volume.json")), syscall.EROFS},
		"a directory":          {os.Mkdir(e.file("new"), 0o755), syscall.EROFS},
		"a link":               {os.Symlink("volume.raw", e.file("new")), syscall.EROFS},
		"a second name":        {os.Link(e.file("volume.raw"), e.file("new")), syscall.EROFS},
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
		"an image":        {"color=" + e.edits + "2", "expected a segmentation: edits are kept as an annotation"},
		"in the dataset":  {"segmentation=" + e.source + "/edits", "lies in SOURCE"},
		"something else":  {"segmentation=" + other, "found file and no NML file"},
		"without a layer": {e.edits, "is not a LAYER=DIR"},
	} {
		r := wkwfs(t, "mount", "--edit", c.edit, e.source, tempDir(t))
		if r.code == 0 || !strings.Contains(r.stderr, c.text) {
			t.Errorf("%s: exit code %d, %q, expected %q", what, r.code, r.stderr, c.text)
		}
	}
	if _, err := os.Stat(e.edits + "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused mount has left a directory: %v", err)
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

// newEditOnSmallDisk mounts a sample whose edits have a disk of 1 MiB, at the directory that it returns.
func newEditOnSmallDisk(t *testing.T) (e *editMount, disk string) {
	t.Helper()
	requireRoot(t)
	disk = tempDir(t)
	mountDisk(t, "none", disk, "tmpfs", 0, "size=1m")
	e = &editMount{source: filepath.Join(tempDir(t), "sample"), edits: filepath.Join(disk, "edits")}
	writeSample(t, e.source)
	e.hash = hashFiles(t, e.source)
	e.mount(t)
	e.want = e.read(t, "volume.raw")
	return e, disk
}

// TestEditFullDisk writes more than the disk of the edits has room for. The write fails with ENOSPC. What was written
// before is there, and with more room the next write succeeds.
func TestEditFullDisk(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e, dir := newEditOnSmallDisk(t)
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
