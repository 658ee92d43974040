package edit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/files/nml"
	"github.com/wkwfs/wkwfs/volume"
)

// newTestLargest makes an NML file, and opens it.
func newTestLargest(t *testing.T, dir string, d disk) *largest {
	t.Helper()
	if err := create(dir, "dataset", "cells", [3]float64{4, 4, 30}); err != nil {
		t.Fatal(err)
	}
	return newLargest(d, filepath.Join(dir, nmlName), "cells")
}

var largestAttribute = regexp.MustCompile(` largestSegmentId="([0-9]*)"`)

// storedLargest returns the largest id in the NML file, or 0 if it has none.
func storedLargest(t *testing.T, dir string) (n uint64) {
	t.Helper()
	if _, err := nml.Read(os.DirFS(dir), nmlName); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, nmlName))
	if err != nil {
		t.Fatal(err)
	}
	if found := largestAttribute.FindSubmatch(text); found != nil {
		if n, err = strconv.ParseUint(string(found[1]), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// checkLargest compares the blocks that have files with the largest id in the NML file.
func checkLargest(t *testing.T, dir string, v *Voxels) {
	t.Helper()
	most := storedLargest(t, dir)
	for _, at := range (*files)(v).at() {
		voxels, err := v.readFile(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if n := nml.LargestID(voxels, v.grid.Type); n > most {
			t.Errorf("block %v has id %d, and the NML file %d", at, n, most)
		}
	}
}

// TestLargestID: the NML file has the largest id of the blocks that have files. It is written once for many blocks, and
// never gets smaller.
func TestLargestID(t *testing.T) {
	dir := t.TempDir()
	d := &renames{}
	v, _ := openTest(t, dir, 1<<30, d)
	v.largest = newTestLargest(t, dir, d)
	box := volume.Box{Min: volume.Vec{10, 45, 35}, Max: volume.Vec{70, 65, 95}}
	for _, step := range []struct{ id, want, written int }{
		{5000, 5000, 1}, {3000, 5000, 1}, {5001, 5001, 2}, {0, 5001, 2}, {65535, 65535, 3},
	} {
		p := bytes.Repeat([]byte{byte(step.id), byte(step.id >> 8)}, volumeOf(box))
		if err := v.Write(t.Context(), box, p, 0); err != nil {
			t.Fatal(err)
		}
		if err := v.Sync(t.Context(), box); err != nil {
			t.Fatal(err)
		}
		if got := storedLargest(t, dir); got != uint64(step.want) || d.nml != step.written {
			t.Errorf("id %d: the NML file has %d and was written %d times, expected %d and %d", step.id, got, d.nml,
				step.want, step.written)
		}
		checkLargest(t, dir, v)
	}
	again := newLargest(d, v.largest.path, "cells")
	if err := again.raise(t.Context(), 7); err != nil || d.nml != 3 {
		t.Errorf("a smaller id in the next process: %v, written %d times", err, d.nml)
	}
	if err := os.Remove(v.largest.path); err != nil {
		t.Fatal(err)
	}
	if err := again.raise(t.Context(), 1<<20); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
}

// TestLargestIDOfVolume: of several volumes, the first one over the layer gets the id. All else stays.
func TestLargestIDOfVolume(t *testing.T) {
	const text = `<things><volume id="0" location="a.zip" fallbackLayer="b" largestSegmentId="3"/>
<volume id="1" location="c.zip" fallbackLayer="cells" largestSegmentId="%"/><volume id="2" fallbackLayer="cells"/></things>`
	for old, want := range map[string]string{"1": "9", "9": "9", "10": "10", "": "9", "x": "9"} {
		l := newLargest(osDisk{}, "", "cells")
		got, err := l.change([]byte(strings.Replace(text, "%", old, 1)), 9)
		if expected := strings.Replace(text, "%", want, 1); err != nil || string(got) != expected {
			t.Errorf("%q: got %v, %s, expected %s", old, err, got, expected)
		}
	}
}

// renames counts how often the NML file is replaced.
type renames struct {
	osDisk
	nml int
}

func (r *renames) Rename(old, path string) error {
	if filepath.Base(path) == nmlName {
		r.nml++
	}
	return r.osDisk.Rename(old, path)
}
