package integration

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// saveAt and saveSize are a box of the segmentation of a sample.
var saveAt, saveSize = [3]int{120, 90, 50}, [3]int{40, 35, 7}

const saveBox = "box/120-160_90-125_50-57"

// savedNPY returns voxels of the box as numpy.save writes them, with a header that is shorter than that of the mount.
func savedNPY(n [3]int, voxels []byte) []byte {
	text := fmt.Sprintf("{'descr': '<u4', 'fortran_order': True, 'shape': (%d, %d, %d), }", n[0], n[1], n[2])
	text += strings.Repeat(" ", 117-len(text)) + "\n"
	head := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(head[8:], uint16(len(text)))
	return slices.Concat(head, []byte(text), voxels)
}

// TestEditSave saves whole files with other headers into a layer that can be written, in the ways of programs. All
// views have the voxels after the close or the rename. Until then, and if a file is refused, they have those from
// before.
func TestEditSave(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e := newEdit(t)
	outside := tempDir(t)
	target := e.file(saveBox + ".npy")
	temp := filepath.Join(outside, "temp.npy")
	command := func(name string, args ...string) func([]byte) error {
		return func(content []byte) error {
			writeFile(t, temp, content)
			out, err := exec.Command(name, args...).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%s %v: %w: %s", name, args, err, out)
			}
			return err
		}
	}
	renamed := func(name string) func([]byte) error {
		return func(content []byte) error {
			fresh := e.file(name)
			if err := os.WriteFile(fresh, content, 0o600); err != nil {
				return err
			}
			if got, err := os.ReadFile(fresh); err != nil || !bytes.Equal(got, content) {
				return fmt.Errorf("%s differs before it is renamed: %w", name, err)
			}
			err := os.Rename(fresh, target)
			if err != nil {
				err = errors.Join(err, os.Remove(fresh))
			}
			return err
		}
	}
	ways := []struct {
		name string
		save func(content []byte) error
	}{
		{"over it", func(content []byte) error { return os.WriteFile(target, content, 0o644) }},
		{"rename in box", renamed("box/.temp")},
		{"rename in the mag", renamed("temp.npy")},
		{"cp", command("cp", temp, target)},
		{"cp --remove-destination", command("cp", "--remove-destination", temp, target)},
		{"mv", command("mv", temp, target)},
		{"dd", command("dd", "if="+temp, "of="+target, "bs=777", "status=none")},
		{"sh", command("sh", "-c", `cat "$1" > "$2"`, "sh", temp, target)},
	}
	if _, err := exec.LookPath("rsync"); err == nil {
		ways = append(ways, struct {
			name string
			save func(content []byte) error
		}{"rsync", command("rsync", "--ignore-times", temp, target)})
	}
	size := int64(len(e.read(t, saveBox+".npy")))
	for i, w := range ways {
		fresh := labels(saveSize[0]*saveSize[1]*saveSize[2], uint64(40+i))
		content := savedNPY(saveSize, fresh)
		for what, bad := range map[string][]byte{
			"cut off": content[:len(content)-1], "another shape": savedNPY([3]int{35, 40, 7}, fresh), "text": []byte("no"),
		} {
			if err := w.save(bad); err == nil {
				t.Errorf("%s: a file that is %s was saved", w.name, what)
			}
			os.Remove(temp) // mv keeps it
		}
		e.check(t, w.name+", refused")
		if err := w.save(content); err != nil {
			t.Errorf("%s: %v", w.name, err)
			continue
		}
		e.setBox(saveAt, saveSize, fresh)
		if info, err := os.Stat(target); err != nil || info.Size() != size {
			t.Errorf("%s: the file is %v, %v, expected %d bytes", w.name, info, err, size)
		}
		e.check(t, w.name)
		entries, err := os.ReadDir(e.file("box"))
		if err != nil || len(entries) > 0 {
			t.Errorf("%s: %v, %v is left", w.name, err, entries)
		}
	}
	e.stop(t)
	e.mount(t)
	e.check(t, "the next mount")
}

// TestEditSaveKill: until a program closes or renames what it saves, others have the file as before, also after the
// server was killed. New files vanish with the mount, and the disk has nothing of them.
func TestEditSaveKill(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e := newEdit(t)
	content := savedNPY(saveSize, labels(saveSize[0]*saveSize[1]*saveSize[2], 1))
	syscall.ForkLock.RLock() // a process that another test starts has a copy of the descriptor, and closes it
	release := sync.OnceFunc(syscall.ForkLock.RUnlock)
	defer release()
	f := e.open(t, saveBox+".npy", os.O_TRUNC)
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	if end, err := f.Seek(0, 2); err != nil || end != int64(len(content)) {
		t.Errorf("the program is at byte %d, %v, expected %d", end, err, len(content))
	}
	got := make([]byte, len(content))
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the program does not read what it has written: %v", err)
	}
	if err := os.WriteFile(e.file("box/new"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := e.read(t, saveBox+".npy"); !bytes.Equal(got[len(got)-len(content)+128:], e.box(saveAt, saveSize)) {
		t.Error("others see what is being saved")
	}
	e.check(t, "before the close")
	release()
	e.kill(t)
	f.Close()
	mustRun(t, "umount", e.dir)
	e.mount(t)
	e.check(t, "after a kill")
	if _, err := os.Stat(e.file("box/new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a new file is left: %v", err)
	}
	if n := len(e.blocks(t)); n != 0 {
		t.Errorf("%d blocks have files", n)
	}
	var left []string
	for _, pattern := range []string{"*", ".*"} {
		names, err := filepath.Glob(filepath.Join(e.edits, pattern))
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, names...)
	}
	for _, name := range left {
		if strings.Contains(name, "save") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestEditSaveFullDisk: a disk that is full while a program saves fails the write, and nothing changes.
func TestEditSaveFullDisk(t *testing.T) {
	parallelHeavy(t)
	skipOneByOne(t)
	e, _ := newEditOnSmallDisk(t)
	content := savedNPY(editSize, labels(len(e.want)/editVoxel, 1))
	err := os.WriteFile(e.file("volume.npy"), content, 0o644)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, expected %v", err, syscall.ENOSPC)
	}
	e.check(t, "a full disk")
	e.stop(t)
}
