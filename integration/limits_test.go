package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFewDescriptors limits the open files of the server to fewer than the layer has cubes. A program that
// opens too many files gets EMFILE, all others read on, and a volume reads whatever the number of its cubes.
func TestFewDescriptors(t *testing.T) {
	l := layer{
		model: model{blockLog: 2, cubeLog: 0, blockType: 2, voxelType: 1, channels: 1},
		size:  [3]int{24, 24, 24}, cubes: map[[3]int]bool{},
	}
	for i := range 6 * 6 * 6 {
		l.cubes[[3]int{i % 6, i / 6 % 6, i / 36}] = true
	}
	s := mountServer(t, l.write(t), "--cache-size", "0")
	limit := unix.Rlimit{Cur: 50, Max: 50}
	if err := unix.Prlimit(s.pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Fatal(err)
	}
	dir, want := filepath.Join(s.dir, "color/1"), l.box(l.min, l.max())
	volume := func() error {
		got, err := os.ReadFile(filepath.Join(dir, "volume.raw"))
		if err == nil && !bytes.Equal(got, want) {
			err = errors.New("wrong bytes")
		}
		return err
	}
	if err := volume(); err != nil {
		t.Errorf("reading a volume of more cubes than descriptors: %v", err)
	}
	var held []*os.File
	var err error
	for c := range l.cubes {
		var f *os.File
		if f, err = os.Open(filepath.Join(dir, fmt.Sprintf("z%d/y%d/x%d.raw", c[2], c[1], c[0]))); err != nil {
			break
		}
		t.Cleanup(func() { f.Close() })
		held = append(held, f)
	}
	if !errors.Is(err, unix.EMFILE) || len(held) < 10 {
		t.Fatalf("after %d open files: %v, want EMFILE", len(held), err)
	}
	for _, f := range held {
		p := make([]byte, 64)
		if _, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p, l.flat()) {
			t.Errorf("reading an open file: %v", err)
		}
		f.Close()
	}
	eventually(t, "the volume reads again", func() bool { err = volume(); return !errors.Is(err, unix.EMFILE) })
	if err != nil {
		t.Errorf("reading the volume after files were closed: %v", err)
	}
}

// TestFullLog fills the disk of the log. Reads and their errors do not change.
func TestFullLog(t *testing.T) {
	requireRoot(t)
	source, disk := tempDir(t), tempDir(t)
	if err := unix.Mount("log", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	small.write(t, source, 0, 0, 0)
	damaged := small.file(t)
	writeFile(t, filepath.Join(source, "z0/y0/x1.wkw"), setEntry(damaged, 7, 0))
	if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 1<<20), 0o644); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
	dir := mount(t, source, "--log-file", filepath.Join(disk, "log"))
	checkBlocks(t, filepath.Join(dir, "z0/y0/x0.blocks"), nil)
	checkBlocks(t, filepath.Join(dir, "z0/y0/x1.blocks"), []int{7})
	checkPages(t, filepath.Join(dir, "z0/y0/x1.raw"), small.flat(), []int{7})
	if info, err := os.Stat(filepath.Join(disk, "log")); err != nil || info.Size() > 0 {
		t.Errorf("the log: %v, %v; want it empty", info, err)
	}
}
