package hdfsource

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// timedSize is the size of the volumes of testdata, x first. make.py has it, and the values.
var timedSize = volume.Vec{6, 5, 4}

func timedValue(time, channel, x, y, z int) uint16 {
	return uint16(41*time + 23*channel + 11*z + 7*y + 3*x + 1)
}

// timedVolume returns the voxels of a volume at a time: every step-th one of each axis.
func timedVolume(time int, channels []int, step int) (voxels []byte) {
	for z := 0; z < timedSize[2]; z += step {
		for y := 0; y < timedSize[1]; y += step {
			for x := 0; x < timedSize[0]; x += step {
				for _, c := range channels {
					voxels = binary.LittleEndian.AppendUint16(voxels, timedValue(time, c, x, y, z))
				}
			}
		}
	}
	return voxels
}

// openTimes opens a file of testdata after a change.
func openTimes(t *testing.T, name string, o Options, change func(b []byte)) *dataset {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(b)
	}
	root, closeRoot, err := Recognise(fstest.MapFS{name: {Data: b, Mode: 0o644}}, name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closeRoot(); err != nil {
			t.Error(err)
		}
	})
	return root.Dataset.(*dataset)
}

// readTime reads a mag, and returns the version of its cube.
func readTime(t *testing.T, d *dataset, layer, mag string) (voxels []byte, v volume.Version, err error) {
	t.Helper()
	l, err := d.Layer(layer)
	if err != nil {
		return nil, v, err
	}
	m, err := l.Mag(mag)
	if err != nil {
		return nil, v, err
	}
	c, err := m.OpenCube(volume.Vec{})
	if err != nil {
		return nil, v, err
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	box, err := m.Bounds()
	if err == nil {
		voxels, err = volume.ReadBox(t.Context(), m, box)
	}
	return voxels, c.Version(), err
}

// wantLayers compares the names of the layers.
func wantLayers(t *testing.T, d *dataset, want ...string) {
	t.Helper()
	if names, err := d.Layers(); err != nil || !slices.Equal(names, want) {
		t.Errorf("got layers %q, %v, want %q", names, err, want)
	}
}

// wantTime compares the voxels of a mag.
func wantTime(t *testing.T, d *dataset, layer, mag string, want []byte) volume.Version {
	t.Helper()
	got, version, err := readTime(t, d, layer, mag)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s/%s: got %.20x, %v, want %.20x", layer, mag, got, err, want)
	}
	return version
}

// leftOut returns the reason why an object is left out, and whether that is a fault.
func leftOut(t *testing.T, d *dataset, name string) (reason string, fault bool) {
	t.Helper()
	for _, o := range d.Omitted() {
		if o.Name == name {
			return o.Reason, o.Fault
		}
	}
	t.Errorf("%s is not among what is left out: %+v", name, d.Omitted())
	return "", false
}

// TestTimesOfArrays reads datasets with an axis of times, wherever it is, in chunks of one or several times or without
// chunks: each time is a layer. A dataset of one time is a layer without.
func TestTimesOfArrays(t *testing.T) {
	for _, pieceBytes := range []int{0, 7, 100} {
		d := openTimes(t, "times.h5", Options{pieceBytes: pieceBytes}, nil)
		var names []string
		for _, name := range []string{"flat", "last", "mixed", "pyramid", "scaled", "sparse"} {
			for time := range 3 {
				names = append(names, fmt.Sprintf("%s/t%04d", name, time))
			}
			if name == "mixed" {
				names = append(names, "once")
			}
		}
		wantLayers(t, d, names...)
		var versions []volume.Version
		for time := range 3 {
			for _, name := range []string{"flat", "last", "mixed", "pyramid", "scaled"} {
				channels := []int{0}
				if name == "mixed" {
					channels = []int{0, 1}
				}
				v := wantTime(t, d, fmt.Sprintf("%s/t%04d", name, time), "1", timedVolume(time, channels, 1))
				if slices.Contains(versions, v) {
					t.Errorf("%s: time %d has the version of another time", name, time)
				}
				versions = append(versions, v)
			}
			wantTime(t, d, fmt.Sprintf("pyramid/t%04d", time), "2", timedVolume(time, []int{0}, 2))
			sparse := timedVolume(1, []int{0}, 1)
			if time != 1 {
				sparse = []byte(strings.Repeat("\x07\x00", len(sparse)/2))
			}
			wantTime(t, d, fmt.Sprintf("sparse/t%04d", time), "1", sparse)
		}
		wantTime(t, d, "once", "1", timedVolume(0, []int{0}, 1))
		if reason, fault := leftOut(t, d, "pyramid/s2"); fault || !strings.Contains(reason, "expected 3") {
			t.Errorf("got %q, %v", reason, fault)
		}
		if reason, fault := leftOut(t, d, "many"); !fault || !strings.Contains(reason, "20000 times") {
			t.Errorf("got %q, %v", reason, fault)
		}
		if got := d.layers["mixed/t0001"].mags[0].about.Assumed; !strings.HasPrefix(got, "axes z, t, y, c, x, ") {
			t.Errorf("got %q", got)
		}
	}
}

// TestTimeOfPiece: the memory of a time is that of the whole chunk, which has several. A dataset that lost the time, or
// has other chunks, is another one.
func TestTimeOfPiece(t *testing.T) {
	d := openTimes(t, "times.h5", Options{}, nil)
	m := *d.layers["mixed/t0002"].mags[0]
	if got, want := m.WorkMemory(m.grid), 3*2*m.grid.BlockBytes(); got != want {
		t.Errorf("got %d bytes, want %d", got, want)
	}
	data, pieces, err := d.current.Load().dataset(m.path, m.pieceBytes)
	if err != nil || !m.fits(data, pieces) {
		t.Fatalf("it does not fit itself: %v", err)
	}
	lost, other := m, m
	lost.axes.at = 3
	other.together = 3
	if lost.fits(data, pieces) || other.fits(data, pieces) {
		t.Errorf("a dataset of 3 times, 2 in a chunk, fits time 3, or chunks of 3")
	}
}

// lateFS is a source that answers late.
type lateFS struct{ fstest.MapFS }

func (lateFS) Speed() vfs.Speed { return vfs.Speed{Late: true} }

// TestTimesOfBigDataViewer: a view setup has a layer for each time that has it, also if the source answers late. A time
// may be missing.
func TestTimesOfBigDataViewer(t *testing.T) {
	b, err := os.ReadFile("testdata/bdv.h5")
	if err != nil {
		t.Fatal(err)
	}
	late, closeLate, err := Recognise(lateFS{fstest.MapFS{"bdv.h5": {Data: b, Mode: 0o644}}}, "bdv.h5", Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := openTimes(t, "bdv.h5", Options{}, nil)
	for _, d := range []*dataset{d, late.Dataset.(*dataset)} {
		wantLayers(t, d, "s00/t0000", "s00/t0001", "s00/t0003", "s01/t0000", "s01/t0003")
	}
	if err := closeLate(); err != nil {
		t.Error(err)
	}
	for setup := range 2 {
		for _, time := range []int{0, 1, 3} {
			if layer := fmt.Sprintf("s%02d/t%04d", setup, time); layer != "s01/t0001" {
				wantTime(t, d, layer, "1", timedVolume(time, []int{setup}, 1))
				wantTime(t, d, layer, "2", timedVolume(time, []int{setup}, 2))
			}
		}
	}
	if reason, fault := leftOut(t, d, "t00001/s01"); fault || len(d.Omitted()) != 1 {
		t.Errorf("got %q, %v", reason, fault)
	}
}

// TestTimesOfImaris: a channel has a layer for each time, without the padding.
func TestTimesOfImaris(t *testing.T) {
	d := openTimes(t, "imaris.ims", Options{}, nil)
	var names []string
	for channel := range 2 {
		for time := range 3 {
			layer := fmt.Sprintf("channel%d/t%04d", channel, time)
			names = append(names, layer)
			wantTime(t, d, layer, "1", timedVolume(time, []int{channel}, 1))
			wantTime(t, d, layer, "2", timedVolume(time, []int{channel}, 2))
		}
	}
	if wantLayers(t, d, names...); len(d.Omitted()) > 0 {
		t.Errorf("left out: %+v", d.Omitted())
	}
}

// addressIn returns where an object of a file of testdata is.
func addressIn(t *testing.T, name, path string) uint64 {
	t.Helper()
	return objectIn(t, name, path).Address()
}

func objectIn(t *testing.T, name, path string) hdf5.Object {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hdf5.Open(strings.NewReader(string(b)), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.Lookup(path)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestDamagedTime: a time whose metadata are damaged costs only itself, and the other times keep their names and their
// mags. A damaged chunk costs only the times that it has.
func TestDamagedTime(t *testing.T) {
	for _, c := range []struct {
		file, object string
		layer, mag   string // that is lost; all mags without one
		left         string // what is said to be left out
	}{
		{"bdv.h5", "t00001", "s00/t0001", "", "t00001/s00"},
		{"bdv.h5", "t00000", "s00/t0000", "", "t00000/s00"},
		{"bdv.h5", "t00001/s00/0/cells", "s00/t0001", "1", "t00001/s00/0/cells"},
		{"imaris.ims", "DataSet/ResolutionLevel 0/TimePoint 1", "channel0/t0001", "",
			"DataSet/ResolutionLevel 0/TimePoint 1"},
		{"imaris.ims", "DataSet/ResolutionLevel 0/TimePoint 0/Channel 0/Data", "channel0/t0000", "1",
			"DataSet/ResolutionLevel 0/TimePoint 0/Channel 0"},
	} {
		at := addressIn(t, c.file, c.object)
		sound := openTimes(t, c.file, Options{}, nil)
		d := openTimes(t, c.file, Options{}, func(b []byte) { b[at] ^= 0xFF })
		if reason, fault := leftOut(t, d, c.left); !fault || reason == "" {
			t.Errorf("%s without %s: got %q, %v", c.file, c.object, reason, fault)
		}
		for _, layer := range sound.names {
			other := strings.HasSuffix(c.object, "s00/0/cells") || strings.Contains(c.object, "Channel 0")
			for _, mag := range []string{"1", "2"} {
				lost := (layer == c.layer || !other && layer[len(layer)-5:] == c.layer[len(c.layer)-5:]) &&
					(c.mag == "" || c.mag == mag)
				if lost {
					if _, _, err := readTime(t, d, layer, mag); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s without %s: %s/%s: got %v", c.file, c.object, layer, mag, err)
					}
					continue
				}
				want, _, err := readTime(t, sound, layer, mag)
				if err != nil {
					t.Fatal(err)
				}
				wantTime(t, d, layer, mag, want)
			}
		}
	}
}

// TestDamagedChunkOfTimes: a chunk of two of three times costs these.
func TestDamagedChunkOfTimes(t *testing.T) {
	index, err := objectIn(t, "times.h5", "mixed").(*hdf5.Dataset).Chunks()
	if err != nil {
		t.Fatal(err)
	}
	chunk, ok, err := index.Lookup([]uint64{0, 0, 0, 0, 0})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	d := openTimes(t, "times.h5", Options{}, func(b []byte) { b[chunk.Offset] ^= 0xFF })
	for time := range 3 {
		layer := fmt.Sprintf("mixed/t%04d", time)
		if time == 2 {
			wantTime(t, d, layer, "1", timedVolume(time, []int{0, 1}, 1))
			continue
		}
		format := (*volume.FormatError)(nil)
		if _, _, err := readTime(t, d, layer, "1"); !errors.As(err, &format) {
			t.Errorf("%s: got %v, want a FormatError", layer, err)
		}
	}
}

// TestManyTimes: what is shown of a file with too many times is limited, and the rest is left out with the reason.
func TestManyTimes(t *testing.T) {
	for most := 1; most <= 12; most++ {
		o := Options{maxTimes: most}
		for file, want := range map[string]int{"bdv.h5": 10, "imaris.ims": 12} {
			b, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			root, closeRoot, err := Recognise(fstest.MapFS{file: {Data: b, Mode: 0o644}}, file, o)
			if err != nil {
				if !strings.Contains(err.Error(), fmt.Sprintf("at most %d volumes", most)) {
					t.Errorf("%s: %v", file, err)
				}
				continue
			}
			shown := 0
			for _, l := range root.Dataset.(*dataset).layers {
				shown += len(l.mags)
			}
			if shown > most || most > want+1 && shown < want {
				t.Errorf("%s: %d mags, want at most %d of %d", file, shown, most, want)
			}
			if err := closeRoot(); err != nil {
				t.Error(err)
			}
		}
	}
	d := openTimes(t, "times.h5", Options{maxTimes: 5}, nil)
	wantLayers(t, d, "flat/t0000", "flat/t0001", "flat/t0002", "once")
	if reason, fault := leftOut(t, d, "scaled"); !fault || !strings.Contains(reason, "at most 5 volumes") {
		t.Errorf("got %q, %v", reason, fault)
	}
}
