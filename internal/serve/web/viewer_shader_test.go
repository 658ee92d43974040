package web

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// encode returns the little-endian bytes of a value.
func encode(t volume.Type, v float64) []byte {
	switch t {
	case volume.Float32:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
	case volume.Float64:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(int64(v)))[:t.Size()]
}

// TestMeasure: the range of each channel of each type starts above the first percentile, and ends at the last. Zeros
// and values that are not numbers do not count.
func TestMeasure(t *testing.T) {
	for _, test := range []struct {
		value     volume.Type
		first     float64 // values are first + 0 … 99, and zeros
		low, high string  // of channel 0
	}{
		{volume.Uint8, 100, "101", "198"},
		{volume.Int8, -120, "-119", "-22"},
		{volume.Uint16, 40_000, "40001", "40098"},
		{volume.Int16, -30_000, "-29999", "-29902"},
		{volume.Uint32, 4e9, "4000000001", "4000000098"},
		{volume.Int32, -2e9, "-1999999999", "-1999999902"},
		{volume.Uint64, 1 << 40, `"1099511627777"`, `"1099511627874"`},
		{volume.Float32, 0.5, "1.5", "98.5"},
		{volume.Float64, -200.25, "-199.25", "-102.25"},
	} {
		info := volumeInfo{Dtype: test.value.String(), Channels: 2, Shape: volume.Vec{11, 10, 2},
			Origin: volume.Vec{5, 6, -7}}
		var voxels []byte
		for i := range 220 {
			v := 0.0
			if i < 100 {
				v = test.first + float64(i)
			}
			if i == 219 && !test.value.IsInteger() {
				v = math.NaN()
			}
			voxels = append(append(voxels, encode(test.value, v)...), encode(test.value, 7)...)
		}
		info.Bytes = int64(len(voxels))
		h := &handler{fsys: fstest.MapFS{"l/1/box/5-16_6-16_-7--5.raw": {Data: voxels}}}
		got := h.measure(t.Context(), mag{dir: "l/1", info: info})
		if r := got["channel0"].Range; string(r[0]) != test.low || string(r[1]) != test.high {
			t.Errorf("%v: channel 0 has the range %s, want %s to %s", test.value, r, test.low, test.high)
		}
		b, err := json.Marshal(got)
		if r := got["channel1"].Range; err != nil || strings.Trim(string(r[0]), `"`) != "0" ||
			strings.Trim(string(r[1]), `"`) != "7" {
			t.Errorf("%v: channel 1, which is 7 everywhere, has the range %s: %v %s", test.value, r, err, b)
		}
	}
}

// TestMeasureDamage: boxes that cannot be read do not count. Without any, there is no range.
func TestMeasureDamage(t *testing.T) {
	info := volumeInfo{Dtype: "uint8", Channels: 1, Shape: volume.Cube(1000), Bytes: 1e9}
	boxes := info.sampleBoxes()
	files := fstest.MapFS{}
	h := &handler{fsys: files}
	if got := h.measure(t.Context(), mag{dir: "1", info: info}); len(got) != 0 {
		t.Errorf("without a box: %v", got)
	}
	size := boxes[5].Size()
	data := make([]byte, size[0]*size[1]*size[2])
	for i := range data {
		data[i] = byte(i % 100)
	}
	files[path.Join("1", tree.Boxes, tree.BoxName(boxes[5])+tree.Raw)] = &fstest.MapFile{Data: data}
	if r := h.measure(t.Context(), mag{dir: "1", info: info})["channel0"].Range; string(r[0]) != "1" &&
		string(r[0]) != "2" || string(r[1]) != "98" {
		t.Errorf("with one box: %s", r)
	}
}

// TestSampleBoxes: boxes are inside of the mag, do not overlap, reach all parts of it, and are few.
func TestSampleBoxes(t *testing.T) {
	for _, test := range []struct {
		shape    volume.Vec
		channels int
		boxes    int
	}{
		{volume.Vec{1, 1, 1}, 1, 1},
		{volume.Vec{200, 200, 100}, 1, 1},
		{volume.Vec{2000, 2000, 1}, 1, 1},
		{volume.Vec{20_000, 30_000, 1}, 1, 9},
		{volume.Vec{20_000, 30_000, 155}, 1, 9},
		{volume.Vec{1 << 40, 1 << 10, 1 << 12}, 1, 27},
		{volume.Vec{1000, 1000, 1000}, 1024, 27},
		{volume.Vec{10_000_000, 1, 1}, 1, 3},
	} {
		for _, value := range []string{"uint8", "float64"} {
			info := volumeInfo{Dtype: value, Channels: test.channels, Shape: test.shape,
				Origin: volume.Vec{-3, 5, 1000}}
			if info.voxelBytes() > maxVoxelBytes {
				continue
			}
			info.Bytes = int64(info.voxelBytes()) * int64(test.shape[0]) * int64(test.shape[1]) * int64(test.shape[2])
			whole := volume.Box{Min: info.Origin, Max: info.Origin.Add(info.Shape)}
			boxes := info.sampleBoxes()
			name := fmt.Sprintf("%v of %d × %s", test.shape, test.channels, value)
			if value == "uint8" && len(boxes) != test.boxes {
				t.Errorf("%s: %d boxes, want %d", name, len(boxes), test.boxes)
			}
			total := 0
			for i, b := range boxes {
				n := b.Size()
				total += n[0] * n[1] * n[2] * info.voxelBytes()
				if b.Empty() || b.Intersect(whole) != b {
					t.Errorf("%s: box %v is not in %v", name, b, whole)
				}
				for _, other := range boxes[:i] {
					if !b.Intersect(other).Empty() {
						t.Errorf("%s: boxes %v and %v overlap", name, b, other)
					}
				}
			}
			if total > maxMeasuredBytes {
				t.Errorf("%s: %d bytes", name, total)
			}
		}
	}
}

// TestShader: each channel that is shown has a control, and a colour if there are several.
func TestShader(t *testing.T) {
	if s := shader(1); !strings.Contains(s, "#uicontrol invlerp channel0\n") || !strings.Contains(s, "emitGrayscale") {
		t.Error(s)
	}
	for _, channels := range []int{2, 3, 7, 100} {
		s := shader(channels)
		shown := min(channels, len(channelColours))
		if n := strings.Count(s, "#uicontrol invlerp channel"); n != shown ||
			!strings.Contains(s, fmt.Sprintf("channel%d(channel=%d)", shown-1, shown-1)) {
			t.Errorf("%d channels: %d controls:\n%s", channels, n, s)
		}
	}
}
