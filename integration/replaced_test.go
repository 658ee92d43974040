package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// replacing is a layer of two cubes. One of them is replaced by rename all the time. Version n of it has the
// seed n.
type replacing struct {
	layer
	cube      string                            // path of the cube that is replaced
	put       func(name string, b []byte) error // replaces a file
	published atomic.Uint32                     // its newest version
}

// newReplacing writes the layer.
func newReplacing(t *testing.T) (r *replacing, source string) {
	r = &replacing{layer: layer{
		model: model{blockLog: 3, cubeLog: 1, blockType: 1, voxelType: 1, channels: 1},
		size:  [3]int{32, 16, 16},
		cubes: map[[3]int]bool{{0, 0, 0}: true, {1, 0, 0}: true},
	}}
	source = r.write(t)
	r.cube = filepath.Join(source, "color/1/z0/y0/x0.wkw")
	r.put = func(name string, b []byte) error { return putFile(name, name+".tmp", b) }
	r.model.writeHeader(t, filepath.Join(source, "color/1"))
	return r, source
}

// putFile replaces a file by rename.
func putFile(name, temporary string, b []byte) error {
	if err := os.WriteFile(temporary, b, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, name)
}

// replace replaces the cube at intervals until stop is closed.
func (r *replacing) replace(t *testing.T, interval time.Duration, stop <-chan struct{}) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	next := r.model
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		next.seed++
		if err := r.put(r.cube, next.file(t)); err != nil {
			t.Error(err)
			return
		}
		r.published.Store(next.seed)
	}
}

// replacedFile is a file with voxels of the cube that is replaced.
type replacedFile struct {
	name    string
	content func(m model) []byte // for a version of the cube; nil: the content is not checked
	joined  bool                 // made of many cubes, which reads open; so a read can fail with EIO
}

// files returns a file of each kind.
func (r *replacing) files() []replacedFile {
	row := func(m model, y, z int) (b []byte) {
		for x := range 32 {
			if x < 16 {
				b = append(b, m.byteAt(x, y, z, 0))
			} else {
				b = append(b, r.byteAt(x-16, y, z, 0))
			}
		}
		return b
	}
	volume := func(m model) (b []byte) {
		for z := range 16 {
			for y := range 16 {
				b = append(b, row(m, y, z)...)
			}
		}
		return b
	}
	return []replacedFile{
		{"z0/y0/x0.raw", model.flat, false},
		{"z0/y0/x0.blocks/z1/y0/x1.raw", func(m model) []byte { return m.part(8, 0, 8, 8) }, false},
		{"volume.raw", volume, true},
		{"box/0-32_3-4_2-3.raw", func(m model) []byte { return row(m, 3, 2) }, true},
		{"slices/z0000005.tif", nil, true},
	}
}

// read opens and reads the file. The open must succeed. The file must have a version that the cube had during
// the open, or one of the cached versions before it. A read returns the bytes of that version. If the file is
// joined, the read may also fail with EIO; then failed is true.
func (r *replacing) read(dir string, f replacedFile, cached uint32) (failed bool, err error) {
	oldest := r.published.Load()
	oldest -= min(oldest, cached)
	file, err := os.Open(filepath.Join(dir, f.name))
	if err != nil {
		return false, err
	}
	defer file.Close()
	newest := r.published.Load() + 1 // replace may have renamed a version and not published it yet
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	got := make([]byte, info.Size())
	switch _, err := file.ReadAt(got, 0); {
	case f.joined && errors.Is(err, syscall.EIO):
		return true, nil
	case err != nil:
		return false, err
	case f.content == nil:
		return false, nil
	}
	for seed := oldest; seed <= newest; seed++ {
		m := r.model
		m.seed = seed
		if bytes.Equal(got, f.content(m)) {
			return false, nil
		}
	}
	return false, fmt.Errorf("the bytes are not those of versions %d to %d", oldest, newest)
}

// TestOpenWhileCubesAreReplaced checks that every open succeeds, however often a cube is replaced.
func TestOpenWhileCubesAreReplaced(t *testing.T) {
	for _, c := range []struct {
		name     string
		interval time.Duration
		opens    int // of each file in the long form
		late     []string
	}{
		{"every 10 ms", 10 * time.Millisecond, 1500, nil},
		{"all the time", time.Microsecond, 1000, nil},
		{"below a late source", 10 * time.Millisecond, 200, []string{"-metadata", "1ms", "-read", "1ms"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, source := newReplacing(t)
			opens := amount(c.opens/3, c.opens)
			below, cached := source, uint32(0)
			if c.late != nil {
				below = serveLate(t, source, c.late...).Dir
				// A late directory opens a file by a name that it has looked up. It must not know the name of one that
				// is not complete.
				temporary := filepath.Join(tempDir(t), "x0.wkw")
				r.put = func(name string, b []byte) error { return putFile(name, temporary, b) }
				cached = uint32(2 * time.Second / c.interval)
			}
			dir := filepath.Join(mount(t, below), "color/1")
			stop := make(chan struct{})
			var writer, readers sync.WaitGroup
			writer.Go(func() { r.replace(t, c.interval, stop) })
			for _, f := range r.files() {
				readers.Go(func() {
					failures, problems := 0, map[string]int{}
					for range opens {
						failed, err := r.read(dir, f, cached)
						if failed {
							failures++
						}
						if err != nil {
							problems[err.Error()]++
						}
					}
					t.Logf("%s: %d of %d reads failed", f.name, failures, opens)
					for text, n := range problems {
						t.Errorf("%s: %d of %d times: %s", f.name, n, opens, text)
					}
				})
			}
			readers.Wait()
			close(stop)
			writer.Wait()
		})
	}
}
