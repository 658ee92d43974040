package hdf5

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDamaged reads files with one thing broken. What depends on it must fail, and nothing else.
func TestDamaged(t *testing.T) {
	dir, files := refFiles(t)
	n := 0
	for _, file := range files {
		if !strings.HasPrefix(file.File, "damaged") {
			continue
		}
		n++
		t.Run(filepath.Base(file.File), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			for _, want := range file.Datasets {
				checkDamaged(t, filepath.Join(dir, file.File), want)
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 600<<20 {
				t.Errorf("%d MiB were allocated", n>>20)
			}
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
	if n < 100 {
		t.Errorf("%d files", n)
	}
}

func checkDamaged(t *testing.T, path string, want refDataset) {
	f, err := openFile(t, path)
	var o Object
	if err == nil {
		o, err = f.Lookup(want.Path)
	}
	if err != nil {
		t.Log(err)
		if want.Expect == "ok" || !want.Refusable {
			t.Errorf("%s cannot be read at all: %v", want.Path, err)
		}
		return
	}
	d, ok := o.(*Dataset)
	if !ok {
		t.Errorf("%s is %s", want.Path, kindOf(o))
		return
	}
	if _, err := d.Attributes(); err != nil {
		t.Log("attributes:", err)
	}
	if d.space.elements > 1<<24 || slices.Contains(d.Shape(), 0) {
		checkSparse(t, d)
		return
	}
	if want.Expect == "ok" {
		if b, err := d.ReadAll(1 << 28); err != nil {
			t.Error(err)
		} else if want.Sum != "" && hashOf(plain(d, b)) != want.Sum {
			t.Errorf("%v: other voxels than expected", d)
		}
		return
	}
	checkBoxes(t, d, want)
}

// checkSparse looks up both ends of a dataset that is too large to read.
func checkSparse(t *testing.T, d *Dataset) {
	if d.Layout() != Chunked {
		offset, size, allocated := d.Contiguous()
		t.Logf("contiguous: %d bytes at %d, allocated: %v", size, offset, allocated)
		return
	}
	x, err := d.Chunks()
	if err != nil {
		t.Log(err)
		return
	}
	first, last := make([]uint64, len(x.grid)), slices.Clone(x.grid)
	for i := range last {
		last[i]--
	}
	for _, at := range [][]uint64{first, last} {
		if _, _, err := x.Lookup(at); err != nil {
			t.Log(err)
		}
	}
}

// checkBoxes reads chunk for chunk. Those of the bad boxes must fail, the others read.
func checkBoxes(t *testing.T, d *Dataset, want refDataset) {
	b, failed, err := readLoose(d)
	if err != nil {
		t.Log(err)
		if !want.Refusable {
			t.Errorf("%s cannot be read at all: %v", want.Path, err)
		}
		return
	}
	var bad []refBox
	if string(want.Bad) == `"all"` {
		if failed == 0 {
			t.Error("it reads")
		}
		return
	}
	if err := json.Unmarshal(want.Bad, &bad); err != nil {
		t.Fatal(err)
	}
	for _, box := range append(bad, want.May...) {
		for z := range box.Size[2] {
			for y := range box.Size[1] {
				clearRow(d, b, box.At[0], box.At[1]+y, box.At[2]+z, box.Size[0])
			}
		}
	}
	if failed < len(bad) {
		t.Errorf("%d chunks fail, expected %d or more", failed, len(bad))
	}
	if failed > len(bad)+len(want.May) && !want.MayAll {
		t.Errorf("%d chunks fail, expected %d", failed, len(bad))
	}
	if failed <= len(bad) && want.Rest != "" && hashOf(plain(d, b)) != want.Rest {
		t.Errorf("other voxels than expected, %d chunks failed", failed)
	}
	if failed == 0 && want.Sum != "" && len(want.May) == 0 && hashOf(plain(d, b)) != want.Sum {
		t.Error("wrong voxels, and no error")
	}
}

func clearRow(d *Dataset, b []byte, x, y, z, n int) {
	dims, size := d.space.dims, d.datatype.Size
	at := ((z*int(dims[1])+y)*int(dims[2]) + x) * size
	clear(b[at : at+n*size])
}

// readLoose reads what can be read. Other voxels are 0.
func readLoose(d *Dataset) (b []byte, failed int, err error) {
	if d.Layout() != Chunked {
		b, err = d.ReadAll(1 << 28)
		return b, 0, err
	}
	x, err := d.Chunks()
	if err != nil {
		return nil, 0, err
	}
	b = make([]byte, int(d.space.elements)*d.datatype.Size)
	d.fillIn(b)
	chunk := make([]byte, d.ChunkBytes())
	scaled := make([]uint64, len(x.grid))
	for {
		c, ok, err := x.Lookup(scaled)
		if ok {
			err = d.readChunk(chunk, c)
		}
		if err != nil {
			failed++
			clear(chunk)
		}
		if ok || err != nil {
			d.copyChunk(b, chunk, scaled)
		}
		i := len(scaled) - 1
		for ; i >= 0; i-- {
			if scaled[i]++; scaled[i] < x.grid[i] {
				break
			}
			scaled[i] = 0
		}
		if i < 0 {
			return b, failed, nil
		}
	}
}
