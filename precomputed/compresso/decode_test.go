package compresso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/precomputed/internal/reftest"
	"github.com/wkwfs/wkwfs/volume"
)

// stream has the parts of a chunk.
type stream struct {
	version, width byte
	size           [3]uint16
	step           [3]byte
	ids, values    []uint64
	locations      []uint64
	windows        []uint64
	connectivity   byte
	index          []byte
}

func (s stream) encode() []byte {
	le := binary.LittleEndian
	out := append([]byte("cpso"), s.version, s.width)
	for _, n := range s.size {
		out = le.AppendUint16(out, n)
	}
	out = append(out, s.step[:]...)
	out = le.AppendUint64(out, uint64(len(s.ids)))
	out = le.AppendUint32(out, uint32(len(s.values)))
	out = le.AppendUint64(out, uint64(len(s.locations)))
	out = append(out, s.connectivity)
	window := byte(smallestWidth(1 << (int(s.step[0])*int(s.step[1])*int(s.step[2]) - 1)))
	for _, part := range []struct {
		numbers []uint64
		width   byte
	}{{s.ids, s.width}, {s.values, window}, {s.locations, s.width}, {s.windows, window}} {
		for _, n := range part.numbers {
			out = append(out, le.AppendUint64(nil, n)[:part.width]...)
		}
	}
	return append(out, s.index...)
}

// twoSlices returns a chunk of 4 × 2 × 2 voxels with a window per slice. In slice 0, column 1 is boundary and has the
// labels of column 0. In slice 1, all voxels but one are boundary, and most need a code:
//
//	7 7 9 9    9 6 8 8
//	7 7 9 9    7 7 5 8
func twoSlices() stream {
	return stream{
		width: 1, size: [3]uint16{4, 2, 2}, step: [3]byte{4, 2, 1}, connectivity: 4,
		ids:    []uint64{7, 9, 8},
		values: []uint64{0b0010_0010, 0b1111_0111},
		locations: []uint64{
			codeLabel, 9, // (0,0,1)
			6 + labelBase, // (1,0,1)
			codeRight,     // (2,0,1), from (3,0,1)
			codeAbove,     // (0,1,1), from (0,1,0)
			codeLeft,      // (1,1,1), from (0,1,1)
			5 + labelBase, // (2,1,1)
		},
		windows: []uint64{1<<1 | 1, 1 << 1},
	}
}

var twoSlicesLabels = []byte{7, 7, 9, 9, 7, 7, 9, 9, 9, 6, 8, 8, 7, 7, 5, 8}

func TestDecode(t *testing.T) {
	got := make([]byte, 16)
	s := twoSlices()
	if err := Decode(s.encode(), [3]int{4, 2, 2}, 1, got); err != nil || !bytes.Equal(got, twoSlicesLabels) {
		t.Errorf("got %v, %v", got, err)
	}
	s.version, s.index = 1, make([]byte, 4)
	if err := Decode(s.encode(), [3]int{4, 2, 2}, 1, got); err != nil || !bytes.Equal(got, twoSlicesLabels) {
		t.Errorf("version 1: got %v, %v", got, err)
	}
}

// TestConnectivity6: components extend over slices, and voxels on the boundary may have the label of the slice before.
func TestConnectivity6(t *testing.T) {
	// The slices are ". #", ". ." and "# .", where # is boundary. The columns touch in the middle slice, so there is
	// one component.
	s := stream{
		width: 1, size: [3]uint16{2, 1, 3}, step: [3]byte{2, 1, 3}, connectivity: 6,
		ids: []uint64{3}, values: []uint64{0b01_00_10}, windows: []uint64{0},
	}
	got := make([]byte, 6)
	err := Decode(s.encode(), [3]int{2, 1, 3}, 1, got)
	if err != nil || !bytes.Equal(got, []byte{3, 3, 3, 3, 3, 3}) {
		t.Errorf("got %v, %v", got, err)
	}
	s.connectivity, s.ids, s.locations = 4, []uint64{3, 4, 5}, []uint64{codeAbove}
	err = Decode(s.encode(), [3]int{2, 1, 3}, 1, got)
	if err != nil || !bytes.Equal(got, []byte{3, 3, 4, 4, 4, 5}) {
		t.Errorf("connectivity 4: got %v, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*stream)
		patch  func([]byte) []byte
		want   string
	}{
		{"empty", nil, func(b []byte) []byte { return nil }, "header at byte 0: expected 36 bytes, found 0"},
		{"magic", nil, put(0, 'C'), `magic at byte 0: expected "cpso", found "Cpso"`},
		{"version", nil, put(4, 2), "format version at byte 4: expected 0 or 1, found 2"},
		{"width 3", nil, put(5, 3), "bytes of a label at byte 5: expected 1, 2, 4 or 8, found 3"},
		{"width 2", nil, put(5, 2),
			"number of locations at byte 27: expected at most 3 in a chunk of 50 bytes, found 7"},
		{"size", nil, put(6, 5), "size at byte 6: expected [4 2 2], found [5 2 2]"},
		{"no step", nil, put(12, 0), "window size at byte 12: expected 1 to 64 voxels, found [0 2 1]"},
		{"large step", nil, put(12, 255), "window size at byte 12: expected 1 to 64 voxels, found [255 2 1]"},
		{"ids", nil, put(22, 255),
			"number of ids at byte 15: expected at most 14 in a chunk of 50 bytes, found 18374686479671623683"},
		{"connectivity", nil, put(35, 8), "connectivity at byte 35: expected 4 or 6, found 8"},
		{"no index", nil, put(4, 1), "index at byte 48: expected 4 bytes, found 2"},
		{"more windows", func(s *stream) { s.windows = append(s.windows, 0) }, nil,
			"window 2 at byte 50: expected the end of the windows, 0 bytes before the end of the chunk, found 1 more bytes"},
		{"fewer windows", func(s *stream) { s.windows = s.windows[:1] }, nil,
			"window 1 at byte 49: expected 2 windows, found 1 before the end"},
		{"long run", func(s *stream) { s.windows[0] = 3<<1 | 1 }, nil,
			"window 0 at byte 48: expected a run within 2 windows, 0 done, found 3"},
		{"long run after another", func(s *stream) { s.windows[1] = 2<<1 | 1 }, nil,
			"window 1 at byte 49: expected a run within 2 windows, 1 done, found 2"},
		{"value", func(s *stream) { s.windows[1] = 2 << 1 }, nil,
			"window 1 at byte 49: expected one of 2 values, found 2"},
		{"fewer ids", func(s *stream) { s.ids = s.ids[:2] }, nil,
			"id 2 at byte 38: expected a label for each component, found 2 labels"},
		{"more ids", func(s *stream) { s.ids = append(s.ids, 1) }, nil,
			"id 3 at byte 39: expected 4 components, found 3"},
		{"fewer locations", func(s *stream) { s.locations = s.locations[:6] }, nil,
			"location 6 at byte 47: expected a code for voxel [2 1 1], found the end of the locations"},
		{"more locations", func(s *stream) { s.locations = append(s.locations, 0) }, nil,
			"location 7 at byte 48: expected the end of the locations, found 1 more"},
		{"no label", func(s *stream) { s.locations[6] = codeLabel }, nil,
			"location 7 at byte 48: expected the label of voxel [2 1 1], found the end of the locations"},
		{"left of all", func(s *stream) { s.locations[4] = codeLeft }, nil,
			"location 4 at byte 45: expected a code for a neighbour of voxel [0 1 1] that has a label, found 0"},
		{"below all", func(s *stream) { s.locations[6] = codeBelow }, nil,
			"location 6 at byte 47: expected a code for a neighbour of voxel [2 1 1] that has a label, found 5"},
		{"no label yet", func(s *stream) { s.locations[2] = codeDown }, nil,
			"location 2 at byte 43: expected a code for a neighbour of voxel [1 0 1] that has a label, found 3"},
	} {
		s := twoSlices()
		if c.change != nil {
			c.change(&s)
		}
		data := s.encode()
		if c.patch != nil {
			data = c.patch(data)
		}
		err := Decode(data, [3]int{4, 2, 2}, 1, make([]byte, 16))
		if _, is := errors.AsType[*volume.FormatError](err); !is ||
			strings.TrimPrefix(err.Error(), "compresso: ") != c.want {
			t.Errorf("%s: got\n%v, expected\n%s", c.name, err, c.want)
		}
	}
}

func put(at int, b byte) func([]byte) []byte {
	return func(data []byte) []byte {
		data[at] = b
		return data
	}
}

// TestArguments: invalid arguments are errors.
func TestArguments(t *testing.T) {
	data := twoSlices().encode()
	for _, c := range []struct {
		size       [3]int
		width, dst int
	}{
		{[3]int{4, 2, 2}, 3, 48},
		{[3]int{4, 2, 2}, 1, 15},
		{[3]int{4, 0, 2}, 1, 0},
		{[3]int{65536, 1, 1}, 1, 65536},
	} {
		if err := Decode(data, c.size, c.width, make([]byte, c.dst)); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(twoSlices().encode())
	s := twoSlices()
	s.version, s.index, s.connectivity = 1, make([]byte, 4), 6
	f.Add(s.encode())
	f.Add(stream{width: 8, size: [3]uint16{9, 9, 9}, step: [3]byte{8, 8, 1}, connectivity: 4, ids: make([]uint64, 9),
		values: []uint64{0}, windows: []uint64{36<<1 | 1}}.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data)
		if err != nil || c.size[0]*c.size[1]*c.size[2] > 1<<18 {
			return
		}
		err = Decode(data, c.size, c.width, make([]byte, c.size[0]*c.size[1]*c.size[2]*c.width))
		if _, is := errors.AsType[*volume.FormatError](err); err != nil && !is &&
			min(c.size[0], c.size[1], c.size[2]) > 0 {
			t.Fatal(err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data := reftest.ChunkData(b, "compresso_real", "32_32_40", "0-256_0-256_0-64")
	dst := make([]byte, 256*256*64*4)
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Decode(data, [3]int{256, 256, 64}, 4, dst); err != nil {
			b.Fatal(err)
		}
	}
}
