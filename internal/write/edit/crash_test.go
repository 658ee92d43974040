package edit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

var errPower = errors.New("no power")

// powerDisk is a disk that fails from some step on, as if the power was off. cut then undoes what no sync has made
// durable: names in directories, and what is in files.
type powerDisk struct {
	osDisk
	mu    sync.Mutex
	left  int // steps
	names []change
	files map[string]bool // by the names they were made with: not synced
}

// change is a change of a directory, which is durable after a sync of it.
type change struct {
	dir  string
	undo func()
}

// step fails if the power is off.
func (d *powerDisk) step() error {
	if d.left--; d.left < 0 {
		return errPower
	}
	return nil
}

func (d *powerDisk) Mkdir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		d.names = append(d.names, change{filepath.Dir(path), func() { os.RemoveAll(path) }})
	}
	return d.osDisk.Mkdir(path)
}

func (d *powerDisk) Create(path string) (diskFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.osDisk.Create(path)
	if err != nil {
		return nil, err
	}
	d.files[f.Name()] = true
	return &powerFile{f, d}, nil
}

func (d *powerDisk) Rename(old, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	d.names = append(d.names, change{filepath.Dir(path), func() {
		if err != nil {
			os.Remove(path)
			return
		}
		_ = os.WriteFile(path, before, 0o666) // its directory may be undone, too
	}})
	if d.files[old] { // its bytes were not synced
		_ = os.Truncate(old, 0)
	}
	return d.osDisk.Rename(old, path)
}

func (d *powerDisk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	d.names = slices.DeleteFunc(d.names, func(c change) bool { return c.dir == dir })
	return nil
}

func (d *powerDisk) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.Remove(path)
}

// cut undoes what is not durable.
func (d *powerDisk) cut() {
	for _, c := range slices.Backward(d.names) {
		c.undo()
	}
}

type powerFile struct {
	diskFile
	disk *powerDisk
}

func (f *powerFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.step(); err != nil {
		n, _ := f.diskFile.Write(p[:len(p)/2])
		return n, err
	}
	return f.diskFile.Write(p)
}

func (f *powerFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.step(); err != nil {
		return err
	}
	delete(f.disk.files, f.Name())
	return nil
}

func (f *powerFile) Stat() (fs.FileInfo, error) { return f.diskFile.Stat() }

// TestCrashPoints cuts the power, or kills the process, at each step of two syncs of blocks that overlap. After that,
// each block is that of the layer, of the first write or of the second one. It is no older than what a Sync that
// succeeded has made durable. The NML file is whole, and has a largest id that no block exceeds. In short form, that is
// at every seventh step.
func TestCrashPoints(t *testing.T) {
	every := 1
	if testing.Short() {
		every = 7
	}
	for _, power := range []bool{true, false} {
		for steps, ended := 0, false; !ended; steps += every {
			ended = crash(t, steps, power)
			if steps > 1000 {
				t.Fatal("it does not end")
			}
		}
	}
}

// crash writes twice with a disk that fails after some steps. It returns true if it did not fail.
func crash(t *testing.T, steps int, power bool) (ended bool) {
	dir := voxeltest.TempDir(t)
	d := &powerDisk{left: steps, files: map[string]bool{}}
	v, p := openTest(t, dir, 1<<30, d)
	v.largest = newTestLargest(t, dir, d)
	states := []*model{newModel(p)}
	durable := 0
	var failed error
	for i, box := range []volume.Box{
		{Min: volume.Vec{20, 50, 50}, Max: volume.Vec{40, 60, 66}},
		{Min: volume.Vec{30, 55, 60}, Max: volume.Vec{70, 68, 70}},
	} {
		fresh := bytes.Repeat([]byte{byte(200 + i), byte(i)}, volumeOf(box))
		m := &model{testBounds, slices.Clone(states[i].voxels)}
		m.write(box, fresh)
		states = append(states, m)
		if err := v.Write(t.Context(), box, fresh, 0); err != nil {
			t.Fatal(err)
		}
		if failed = v.Sync(t.Context(), box); failed != nil {
			break
		}
		durable = i + 1
	}
	if failed != nil && !errors.Is(failed, errPower) {
		t.Fatalf("after %d steps: %v", steps, failed)
	}
	if power {
		d.cut()
	}
	opened, _ := openTest(t, dir, 1<<30, osDisk{})
	for at := range testBounds.Div(volume.Cube(side)).All() {
		box := at.BoxOfOne().Mul(volume.Cube(side))
		got := read(t, opened, states[0], box, 0, 2*volumeOf(box))
		if !slices.ContainsFunc(states[durable:], func(m *model) bool { return bytes.Equal(got, m.box(box)) }) {
			t.Fatalf("after %d steps, power cut %v, with %d of 2 writes durable: block %v is neither old nor new",
				steps, power, durable, at)
		}
	}
	checkLargest(t, dir, opened)
	return failed == nil
}
