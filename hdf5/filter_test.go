package hdf5

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// TestLookup3 compares with the values in the source of lookup3 and of the superblock.
func TestLookup3(t *testing.T) {
	for s, want := range map[string]uint32{"": 0xdeadbeef, "Four score and seven years ago": 0x17770551} {
		if got := lookup3([]byte(s)); got != want {
			t.Errorf("%q: %08x, expected %08x", s, got, want)
		}
	}
}

// TestLZF decodes streams that are put together by hand.
func TestLZF(t *testing.T) {
	for _, c := range []struct {
		stored  []byte
		decoded string
		err     string
	}{
		{nil, "", ""},
		{[]byte{2, 'a', 'b', 'c'}, "abc", ""},
		{[]byte{0, 'a', 0x20, 0}, "aaaa", ""},                           // a match of 3 at a distance of 1
		{[]byte{1, 'a', 'b', 0xe0, 1, 1}, "ab" + "ababababab", ""},      // 7 + 1 + 2
		{[]byte{2, 'a', 'b'}, "", "ends early"},                         // a literal is missing
		{[]byte{0x20}, "", "ends early"},                                // a distance is missing
		{[]byte{0xe0}, "", "ends early"},                                // a length is missing
		{[]byte{0x20, 0}, "", "a distance of at most 0, found 1"},       // nothing is before
		{[]byte{0, 'a', 0xe0, 255, 0}, "", "at most 100 decoded bytes"}, // too long
		{append([]byte{31}, make([]byte, 32)...), string(make([]byte, 32)), ""},
	} {
		got, err := lzf{}.Decode(make([]byte, 100), c.stored, 100)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("% x: error %v, expected %q", c.stored, err, c.err)
			}
		} else if string(got) != c.decoded || err != nil {
			t.Errorf("% x: %q, error %v, expected %q", c.stored, got, err, c.decoded)
		}
	}
}

// slowLZF decodes byte by byte. It returns false for what is wrong.
func slowLZF(src []byte, limit int) (out []byte, ok bool) {
	for i := 0; i < len(src); {
		n, from := int(src[i])+1, i+1
		if i++; n <= 32 {
			if i += n; i > len(src) {
				return nil, false
			}
			out = append(out, src[from:i]...)
		} else {
			high := int(src[from-1]) & 31
			if n = int(src[from-1])>>5 + 2; n == 9 {
				if i++; i > len(src) {
					return nil, false
				}
				n += int(src[i-1])
			}
			if i++; i > len(src) {
				return nil, false
			}
			back := high<<8 + int(src[i-1]) + 1
			if back > len(out) {
				return nil, false
			}
			for range n {
				out = append(out, out[len(out)-back])
			}
		}
		if len(out) > limit {
			return nil, false
		}
	}
	return out, true
}

// FuzzLZF compares with the slow decoder, and checks that nothing is written behind the limit.
func FuzzLZF(f *testing.F) {
	f.Add([]byte{1, 'a', 'b', 0xe0, 1, 1, 0x20, 0}, uint16(20))
	f.Add(append(append([]byte{31}, make([]byte, 32)...), 0xe0, 90, 15, 0xc0, 7), uint16(500))
	f.Fuzz(func(t *testing.T, stored []byte, limit uint16) {
		dst := bytes.Repeat([]byte{0xDB}, int(limit)+16)
		got, err := lzf{}.Decode(dst[:limit], stored, int(limit))
		want, ok := slowLZF(stored, int(limit))
		if (err == nil) != ok || ok && !bytes.Equal(got, want) {
			t.Errorf("% x: % x, %v, expected % x, %v", stored, got, err, want, ok)
		}
		if bytes.Count(dst[limit:], []byte{0xDB}) != 16 {
			t.Errorf("% x: bytes behind the limit were written", stored)
		}
	})
}

// scaled returns a chunk of scale-offset.
func scaled(bits uint32, least int64, packed ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, bits)
	b = append(b, 8)
	b = binary.LittleEndian.AppendUint64(b, uint64(least))
	return append(append(b, make([]byte, scaleOffsetHead-len(b))...), packed...)
}

// TestScaleOffset decodes chunks of four values that are put together by hand.
func TestScaleOffset(t *testing.T) {
	integers := []uint32{2, 0, 4, 0, 2, 1, 0, 1, 9}
	big := slices.Clone(integers)
	big[6] = 1
	for _, c := range []struct {
		name   string
		params []uint32
		stored []byte
		want   []byte
		err    string
	}{
		{"fill value", integers, scaled(2, -1, 0b00_01_10_11), []byte{0xff, 0xff, 0, 0, 1, 0, 9, 0}, ""},
		{"big-endian", big, scaled(2, -1, 0b00_01_10_11), []byte{0xff, 0xff, 0, 0, 0, 1, 0, 9}, ""},
		{"all bits", integers, scaled(16, 5, 1, 2, 3, 4, 5, 6, 7, 8), []byte{1, 2, 3, 4, 5, 6, 7, 8}, ""},
		{"all bits, big-endian", big, scaled(16, 5, 1, 2, 3, 4, 5, 6, 7, 8), []byte{2, 1, 4, 3, 6, 5, 8, 7}, ""},
		{"wraps", []uint32{2, 0, 4, 0, 2, 0, 0, 0}, scaled(2, 0xffff, 0b00_01_10_11), []byte{0xff, 0xff, 0, 0, 1, 0,
			2, 0}, ""},
		{"too few", integers, scaled(3, 0, 0), nil, "12 bits, found 8"},
		{"no header", integers, make([]byte, 20), nil, "a header of 21 bytes"},
		{"too many bits", integers, scaled(17, 0, 0), nil, "at most 16 bits"},
		{"absurd bits", integers, scaled(1<<32-1, 0, 0), nil, "at most 16 bits"},
	} {
		d, err := newScaleOffset(c.params, 8)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		expectDecoded(t, c.name, d, c.stored, c.want, c.err)
	}
}

func expectDecoded(t *testing.T, name string, d decoder, stored, want []byte, message string) {
	t.Helper()
	got, err := d.Decode(make([]byte, len(want)), stored, max(8, len(want)))
	switch {
	case message != "" && (err == nil || !strings.Contains(err.Error(), message)):
		t.Errorf("%s: error %v, expected %q", name, err, message)
	case message == "" && (err != nil || !bytes.Equal(got, want)):
		t.Errorf("%s: % x, error %v, expected % x", name, got, err, want)
	}
}

// TestNBit decodes chunks that are put together by hand.
func TestNBit(t *testing.T) {
	for _, c := range []struct {
		name   string
		params []uint32
		stored []byte
		want   []byte
		err    string
	}{
		{"9 bits from bit 3", []uint32{8, 0, 2, 1, 2, 0, 9, 3}, []byte{0b1_0000000, 0b1_1_000000, 0b10_000000},
			[]byte{0x08, 0x08, 0x10, 0x08}, ""},
		{"big-endian", []uint32{8, 0, 2, 1, 2, 1, 8, 8}, []byte{0xab, 0xcd}, []byte{0xab, 0, 0xcd, 0}, ""},
		{"as it is", []uint32{8, 1, 2, 1, 2, 1, 16, 0}, []byte{1, 2, 3, 4}, []byte{1, 2, 3, 4}, ""},
		{"as it is, without a type", []uint32{3, 1, 2}, []byte{1, 2, 3, 4}, []byte{1, 2, 3, 4}, ""},
		{"an array of two", []uint32{10, 0, 1, 2, 4, 1, 2, 0, 8, 0}, []byte{1, 2}, []byte{1, 0, 2, 0}, ""},
		{"a compound", []uint32{14, 0, 1, 3, 4, 2, 0, 1, 2, 0, 4, 0, 2, 4, 2}, []byte{0x5a, 0xbc, 0xd0}, []byte{5, 0,
			0xab, 0xcd}, ""},
		{"a compound without members", []uint32{6, 0, 1, 3, 4, 0}, nil, make([]byte, 4), ""},
		{"too few", []uint32{8, 0, 2, 1, 2, 0, 9, 3}, []byte{1, 2}, make([]byte, 4), "18 bits, found 16"},
	} {
		d, err := newNBit(c.params, len(c.want))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		expectDecoded(t, c.name, d, c.stored, c.want, c.err)
	}
}

// TestParameters checks that damaged parameters of filters are refused.
func TestParameters(t *testing.T) {
	for _, c := range []struct {
		id     uint16
		params []uint32
		err    string
	}{
		{filterNBit, nil, "damaged"},
		{filterNBit, []uint32{3, 0, 2}, "damaged"},
		{filterNBit, []uint32{8, 0, 2, 1, 2, 0, 17, 0}, "damaged"},
		{filterNBit, []uint32{8, 0, 2, 9, 2, 0, 9, 0}, "damaged"},
		{filterNBit, []uint32{8, 0, 2, 2, 1 << 20, 2, 1, 1, 1, 0, 1, 0}, "damaged"},
		{filterNBit, []uint32{8, 0, 1 << 31, 1, 2, 0, 9, 0}, "of a chunk of 8 bytes"},
		{filterScaleOffset, []uint32{2}, "8 parameters"},
		{filterScaleOffset, []uint32{2, 0, 1 << 31, 0, 2, 0, 0, 0}, "of a chunk of 8 bytes"},
		{filterScaleOffset, []uint32{1, 0, 2, 1, 4, 0, 0, 0}, "a variable exponent is not supported"},
		{filterScaleOffset, []uint32{0, 0, 4, 1, 2, 0, 0, 0}, "integers or floats"},
		{filterShuffle, []uint32{0}, "values of 1 to 8 bytes"},
		{filterShuffle, []uint32{9}, "values of 1 to 8 bytes"},
		{filterBitshuffle, []uint32{0, 2}, "values of 1 to"},
		{filterBitshuffle, []uint32{0, 2, 1, 12}, "a multiple of 8"},
		{filterBitshuffle, []uint32{0, 2, 1, 0, 7}, "the compression 7"},
		{filterSzip, nil, "the filter 4 szip is not supported"},
		{32013, nil, "the filter 32013 ZFP is not supported"},
		{31999, nil, "the filter 31999 mine is not supported"},
	} {
		_, err := newFilter(Filter{ID: c.id, Name: "mine", Client: c.params}, 8)
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("filter %d, %v: error %v, expected %q", c.id, c.params, err, c.err)
		}
	}
}

// TestPipeline decodes a chunk through several filters, and with some left out.
func TestPipeline(t *testing.T) {
	pipeline := []Filter{{ID: filterShuffle, Client: []uint32{2}}, {ID: filterLZF}}
	planes := []byte{7, 1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		name   string
		mask   uint32
		stored []byte
		want   string
		err    string
	}{
		{"both", 0, planes, "\x01\x05\x02\x06\x03\x07\x04\x08", ""},
		{"without shuffle", 1, planes, "\x01\x02\x03\x04\x05\x06\x07\x08", ""},
		{"without LZF", 2, planes[1:], "\x01\x05\x02\x06\x03\x07\x04\x08", ""},
		{"without both", 3, planes[1:], "\x01\x02\x03\x04\x05\x06\x07\x08", ""},
		{"other bits", 12, planes, "\x01\x05\x02\x06\x03\x07\x04\x08", ""},
		{"too short", 3, planes[2:], "", "expected 8 bytes, found 7"},
		{"too long", 3, planes, "", "expected 8 bytes, found 9"},
		{"short in between", 0, []byte{0, 1}, "", "expected 8 decoded bytes, found 1"},
	} {
		dst := make([]byte, 8)
		err := decodeFilters(pipeline, 8, dst, c.stored, c.mask)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, expected %q", c.name, err, c.err)
		case c.err == "" && (err != nil || string(dst) != c.want):
			t.Errorf("%s: % x, error %v, expected % x", c.name, dst, err, c.want)
		}
	}
}
