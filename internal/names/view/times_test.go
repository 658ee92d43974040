package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/zarr"
)

// addTime adds an array of 3 × 2 × 2 voxels as a time. Voxel i is 10·time + i.
func addTime(files fstest.MapFS, at int, shape string) {
	dir := fmt.Sprintf("t%04d/", at)
	files[dir+".zarray"] = &fstest.MapFile{Mode: 0o644, Data: []byte(
		`{"zarr_format":2,"shape":` + shape +
			`,"chunks":[2,2,3],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":null}`)}
	files[dir+"0.0.0"] = &fstest.MapFile{Mode: 0o644, Data: voxelsAt(at), ModTime: time.Unix(int64(at), 0)}
}

func voxelsAt(t int) (b []byte) {
	for i := range 12 {
		b = append(b, byte(10*t+i))
	}
	return b
}

// newTimes returns the tree of some times, with limits.
func newTimes(t *testing.T, l limits, times int) (f *FS, files fstest.MapFS) {
	t.Helper()
	files = fstest.MapFS{".zgroup": {Data: []byte(`{"zarr_format":2}`), Mode: 0o644}}
	for at := range times {
		addTime(files, at, "[2,2,3]")
	}
	r, err := zarr.Recognise(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	blocks := cache.New(1 << 20)
	t.Cleanup(blocks.Close)
	return newFS(r, Options{Cache: blocks}, l), files
}

// TestFilesOfTimes: a mag at all times is one file in each format with an axis of time: the head of the format, the
// volumes of the times, one after the other, and its tail. Limits are so small that readers of times are closed, and
// snapshots are taken again, while a file is open.
func TestFilesOfTimes(t *testing.T) {
	small := usual
	small.openTimes, small.cubes = 1, 1
	many := small
	many.fewTimes = 1
	for name, l := range map[string]limits{"usual": usual, "small": small, "many": many} {
		f, _ := newTimes(t, l, 5)
		var voxels []byte
		for at := range 5 {
			voxels = append(voxels, voxelsAt(at)...)
		}
		entries, err := f.ReadDir("1")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if want := []string{"volume.json", "volume.nii", "volume.npy", "volume.raw", "volume.tif"}; !slices.Equal(names,
			want) {
			t.Errorf("%s: got %q, expected %q", name, names, want)
		}
		for _, file := range names[1:] {
			b, err := fs.ReadFile(f, "1/"+file)
			info, statErr := fs.Stat(f, "1/"+file)
			if err != nil || statErr != nil || info.Size() != int64(len(b)) || bytes.Count(b, voxels) != 1 {
				t.Errorf("%s: %s: got %d bytes, %v, %v, without the voxels", name, file, len(b), err, statErr)
				continue
			}
			checkRanges(t, f, "1/"+file, b)
		}
		var about struct {
			Shape        []int
			Times, Bytes int
			Numpy        string
			NotOffered   map[string]string `json:"not_offered"`
		}
		b, err := fs.ReadFile(f, "1/volume.json")
		if err = errors.Join(err, json.Unmarshal(b, &about)); err != nil || about.Times != 5 || about.Bytes != 60 ||
			len(about.Shape) != 3 ||
			!strings.Contains(about.Numpy, "(3, 2, 2, 5)") || about.NotOffered[".nrrd"] == "" {
			t.Errorf("%s: got %s, %v", name, b, err)
		}
		for _, file := range []string{"1/volume.nrrd", "1/slices", "1/z0", "2", "1/t0000"} {
			if _, err := fs.Stat(f, file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s: got %v", name, file, err)
			}
		}
	}
}

// checkRanges reads all ranges of up to 40 bytes around the voxels of a file, by several goroutines at once.
func checkRanges(t *testing.T, f *FS, name string, want []byte) {
	t.Helper()
	file, err := f.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	var group sync.WaitGroup
	first := max(0, bytes.Index(want, voxelsAt(0))-3)
	for length := 1; length <= 40; length += 3 {
		group.Go(func() {
			for off := first; off < min(first+70, len(want)); off++ {
				got := make([]byte, length)
				n, err := file.(io.ReaderAt).ReadAt(got, int64(off))
				if end := min(off+length, len(want)); n != end-off || err != nil && err != io.EOF ||
					!bytes.Equal(got[:n], want[off:end]) {
					t.Errorf("%s: %d bytes at %d: got %v, %v, expected %v", name, length, off, got[:n], err,
						want[off:end])
					return
				}
			}
		})
	}
	group.Wait()
}

// TestFilesOfTimesChange: a time that changes is seen by the next open. A file that is open has what it had, or fails.
func TestFilesOfTimesChange(t *testing.T) {
	l := usual
	l.openTimes, l.cubes = 1, 1
	f, files := newTimes(t, l, 4)
	opened, err := f.Open("1/volume.raw")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	before, err := opened.Stat()
	if err != nil {
		t.Fatal(err)
	}
	files["t0002/0.0.0"] = &fstest.MapFile{Mode: 0o600, Data: bytes.Repeat([]byte{'x'}, 12),
		ModTime: time.Unix(1000, 0)}
	p := make([]byte, 12)
	if _, err := opened.(io.ReaderAt).ReadAt(p, 12); err != nil || !bytes.Equal(p, voxelsAt(1)) {
		t.Errorf("got %v, %v of a time that has not changed", p, err)
	}
	if _, err := opened.(io.ReaderAt).ReadAt(p, 24); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("got %v, %v of a time that has changed", p, err)
	}
	again, err := f.Open("1/volume.raw")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	after, err := again.Stat()
	if err != nil || vfs.VersionOf(before) == vfs.VersionOf(after) || after.Mode().Perm() != 0o400 ||
		!after.ModTime().Equal(time.Unix(1000, 0)) {
		t.Errorf("got %v, %v, expected another version, and the mode and time of the time that has changed", after, err)
	}
	if _, err := again.(io.ReaderAt).ReadAt(p, 24); err != nil || string(p) != "xxxxxxxxxxxx" {
		t.Errorf("got %q, %v", p, err)
	}
}

// TestFilesOfManyTimesChange: a change of one of many times shows after a second, however often the file is looked up.
// Before that, it is an error of this time.
func TestFilesOfManyTimesChange(t *testing.T) {
	l := usual
	l.fewTimes = 2
	f, files := newTimes(t, l, 4)
	if _, err := fs.Stat(f, "1/volume.raw"); err != nil {
		t.Fatal(err)
	}
	files["t0003/0.0.0"] = &fstest.MapFile{Mode: 0o644, Data: bytes.Repeat([]byte{'x'}, 12),
		ModTime: time.Unix(1000, 0)}
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, statErr := fs.Stat(f, "1/volume.raw")
		b, err := fs.ReadFile(f, "1/volume.raw")
		switch {
		case statErr != nil || err != nil && !errors.Is(err, vfs.ErrChanged):
			t.Fatal(statErr, err)
		case err == nil && string(b[36:]) == "xxxxxxxxxxxx" && bytes.Equal(b[:12], voxelsAt(0)):
			return
		case err == nil:
			t.Fatalf("got %v", b)
		case time.Since(start) > 20*time.Second:
			t.Fatal("the change does not show")
		}
	}
}

// TestFilesOfUnlikeTimes: times that cannot be one array are no files, and volume.json says why. A time that cannot be
// read is an error. Without one of the times, or with one time, there is no such directory.
func TestFilesOfUnlikeTimes(t *testing.T) {
	f, files := newTimes(t, usual, 2)
	addTime(files, 2, "[2,2,4]")
	open := func() *FS {
		r, err := zarr.Recognise(files, ".")
		if err != nil {
			t.Fatal(err)
		}
		f = New(r, Options{})
		return f
	}
	if entries, err := open().ReadDir("1"); err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, expected volume.json alone", entries, err)
	}
	if b, err := fs.ReadFile(f, "1/volume.json"); err != nil ||
		!strings.Contains(string(b), "t0002: expected 1 × uint8, 3,2,2 voxels") {
		t.Errorf("got %s, %v", b, err)
	}
	if _, err := fs.Stat(f, "1/volume.raw"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	delete(files, "t0001/.zarray")
	if _, err := fs.Stat(open(), "1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v without one of the times", err)
	}
	f, _ = newTimes(t, usual, 1)
	if _, err := fs.Stat(f, "1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v of one time", err)
	}
}

// TestTimesPanic: a panic when the reader of a time is closed is logged. Reads and the end of the file go on.
func TestTimesPanic(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.Inject(func(place string) {
		if place == "view.times" {
			panic("injected")
		}
	})()
	before := guard.Count()
	l := usual
	l.openTimes = 1
	f, _ := newTimes(t, l, 5)
	if b, err := fs.ReadFile(f, "1/volume.raw"); err != nil || len(b) != 60 {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
	if guard.Count() == before {
		t.Error("no reader passes this place")
	}
}
