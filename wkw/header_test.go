package wkw

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// header returns a header of 16 bytes.
func header(perDimLog2, blockType, voxelType, voxelSize byte, dataOffset byte) []byte {
	return []byte{'W', 'K', 'W', 1, perDimLog2, blockType, voxelType, voxelSize, dataOffset, 0, 0, 0, 0, 0, 0, 0}
}

func TestParseHeader(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes []byte
		want  Header
	}{
		{"default cube", header(0x55, 2, 1, 1, 0), Header{false, 32, 32, LZ4, volume.Uint8, 1, 0}},
		{"one block", header(0x05, 3, 3, 4, 24), Header{false, 32, 1, LZ4HC, volume.Uint32, 1, 24}},
		{"blocks of one voxel", header(0x30, 1, 6, 24, 16), Header{false, 1, 8, Raw, volume.Float64, 3, 16}},
		{"255 channels", header(0x11, 1, 7, 255, 16), Header{false, 2, 2, Raw, volume.Int8, 255, 16}},
		{"block of 1 GiB", header(0x09, 1, 4, 8, 16), Header{false, 512, 1, Raw, volume.Uint64, 1, 16}},
		{"cube of 2^62 bytes", header(0xF5, 1, 2, 4, 16), Header{false, 32, 1 << 15, Raw, volume.Uint16, 2, 16}},
		{"draft", []byte("MPIBR\x01\x02\x01"), Header{true, 32, 32, Raw, volume.Uint16, 1, 8}},
		{"draft, LZ4", []byte("MPIBR\x01\x05\x03"), Header{true, 32, 32, LZ4HC, volume.Float32, 1, 8 + 262144}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := ParseHeader(append(c.bytes, "more bytes"...), "x0.wkw")
			if err != nil || h != c.want {
				t.Fatalf("got %+v, %v; expected %+v", h, err, c.want)
			}
			if b, err := h.MarshalBinary(); err != nil || !bytes.Equal(b, c.bytes) {
				t.Errorf("MarshalBinary: got % x, %v; expected % x", b, err, c.bytes)
			}
			if err := h.Grid().Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseHeaderTypes(t *testing.T) {
	for i, want := range []volume.Type{
		volume.Uint8, volume.Uint16, volume.Uint32, volume.Uint64, volume.Float32, volume.Float64,
		volume.Int8, volume.Int16, volume.Int32, volume.Int64,
	} {
		for channels := 1; channels <= 3; channels++ {
			h, err := ParseHeader(header(0x55, 1, byte(i+1), byte(want.Size()*channels), 16), "x0.wkw")
			if err != nil || h.Type != want || h.Channels != channels {
				t.Errorf("voxelType %d: got %d × %v, %v; expected %d × %v", i+1, h.Channels, h.Type, err, channels,
					want)
			}
		}
	}
}

func TestParseHeaderErrors(t *testing.T) {
	const unsupported = true
	for _, c := range []struct {
		name        string
		bytes       []byte
		unsupported bool
		want        string
	}{
		{"empty", nil, false, `x0.wkw: header at byte 0: expected 16 bytes, found 0`},
		{"three bytes", []byte("WKW"), false, `x0.wkw: header at byte 0: expected 16 bytes, found 3`},
		{"15 bytes", header(0x55, 1, 1, 1, 16)[:15], false, `x0.wkw: header at byte 0: expected 16 bytes, found 15`},
		{"draft of 7 bytes", []byte("MPIBR\x01\x01"), false, `x0.wkw: header at byte 0: expected 8 bytes, found 7`},
		{"four of five letters", []byte("MPIB"), false, `x0.wkw: header at byte 0: expected 16 bytes, found 4`},
		{"magic", []byte("WKX\x01 and so on ......"), false, `x0.wkw: magic at byte 0: expected "WKW", found "WKX"`},
		{"zeros", make([]byte, 16), false, `x0.wkw: magic at byte 0: expected "WKW", found "\x00\x00\x00"`},
		{"version 0", []byte("WKW\x00"), unsupported, `x0.wkw: unsupported version at byte 3: expected 1, found 0`},
		{"version 2", []byte("WKW\x02"), unsupported, `x0.wkw: unsupported version at byte 3: expected 1, found 2`},
		{"draft version 2", []byte("MPIBR\x02"), unsupported,
			`x0.wkw: unsupported version at byte 5: expected 1, found 2`},
		{"blockType 0", header(0x55, 0, 1, 1, 16), false, `x0.wkw: blockType at byte 5: expected 1 to 3, found 0`},
		{"blockType 4", header(0x55, 4, 1, 1, 16), false, `x0.wkw: blockType at byte 5: expected 1 to 3, found 4`},
		{"voxelType 0", header(0x55, 1, 0, 1, 16), false, `x0.wkw: voxelType at byte 6: expected 1 to 10, found 0`},
		{"voxelType 11", header(0x55, 1, 11, 1, 16), false, `x0.wkw: voxelType at byte 6: expected 1 to 10, found 11`},
		{"voxelSize 0", header(0x55, 1, 1, 0, 16), false,
			`x0.wkw: voxelSize at byte 7: expected a positive multiple of 1, found 0`},
		{"voxelSize 3 of 2", header(0x55, 1, 2, 3, 16), false,
			`x0.wkw: voxelSize at byte 7: expected a positive multiple of 2, found 3`},
		{"draft dataType 7", []byte("MPIBR\x01\x07\x01"), false,
			`x0.wkw: voxelType at byte 6: expected 1 to 6, found 7`},
		{"draft blockType 9", []byte("MPIBR\x01\x01\x09"), false,
			`x0.wkw: blockType at byte 7: expected 1 to 3, found 9`},
		{"block over 1 GiB", header(0x09, 1, 4, 16, 16), unsupported,
			`x0.wkw: unsupported perDimLog2 at byte 4: expected blocks of at most 1073741824 bytes, found 2147483648`},
		{"all nibbles set", header(0xFF, 2, 1, 255, 16), unsupported,
			`x0.wkw: unsupported perDimLog2 at byte 4: expected blocks of at most 1073741824 bytes, found 8972014882652160`},
		{"cube of 2^63 bytes", header(0xF5, 1, 4, 8, 16), unsupported,
			`x0.wkw: unsupported perDimLog2 at byte 4: expected cubes of at most 2^63 − 1 bytes, found 1048576,1048576,1048576 voxels of 8 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseHeader(c.bytes, "x0.wkw")
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v\nexpected %s", err, c.want)
			}
			if _, is := errors.AsType[*volume.UnsupportedError](err); is != c.unsupported {
				t.Errorf("got %T", err)
			}
			if _, is := errors.AsType[*volume.FormatError](err); is == c.unsupported {
				t.Errorf("got %T", err)
			}
		})
	}
}

func TestMarshalHeaderErrors(t *testing.T) {
	for _, c := range []struct {
		header Header
		want   string
	}{
		{Header{false, 32, 32, 0, volume.Uint8, 1, 0}, "header with BlockType(0)"},
		{Header{false, 32, 32, Raw, 0, 1, 0}, "header with voxels of Type(0)"},
		{Header{false, 32, 32, Raw, volume.Uint8, 0, 0}, "header with voxels of 0 × uint8: expected 1 to 255 bytes"},
		{Header{false, 32, 32, Raw, volume.Uint64, 32, 0},
			"header with voxels of 32 × uint64: expected 1 to 255 bytes"},
		{Header{false, 31, 32, Raw, volume.Uint8, 1, 0},
			"header with blocks of 31 voxels a side: expected a power of two up to 32768"},
		{Header{false, 32, 1 << 16, Raw, volume.Uint8, 1, 0},
			"header with cubes of 65536 blocks a side: expected a power of two up to 32768"},
		{Header{true, 32, 32, Raw, volume.Int8, 1, 0},
			"the draft has no header with blocks of 32, cubes of 32, 1 × int8, raw"},
		{Header{true, 32, 32, Raw, volume.Uint8, 3, 0},
			"the draft has no header with blocks of 32, cubes of 32, 3 × uint8, raw"},
		{Header{true, 32, 16, Raw, volume.Uint8, 1, 0},
			"the draft has no header with blocks of 32, cubes of 16, 1 × uint8, raw"},
	} {
		if b, err := c.header.MarshalBinary(); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got % x, %v\nexpected %s", c.header, b, err, c.want)
		}
	}
}

func TestHeaderFits(t *testing.T) {
	h := Header{false, 32, 32, LZ4, volume.Uint8, 1, 262160}
	for _, c := range []struct {
		name  string
		other Header
		want  bool
	}{
		{"compression and offset", Header{false, 32, 32, Raw, volume.Uint8, 1, 16}, true},
		{"draft", draftHeader(volume.Uint8, LZ4), true},
		{"block side", Header{false, 16, 32, LZ4, volume.Uint8, 1, 0}, false},
		{"same cube side, other blocks", Header{false, 16, 64, LZ4, volume.Uint8, 1, 0}, false},
		{"type", Header{false, 32, 32, LZ4, volume.Int8, 1, 0}, false},
		{"channels", Header{false, 32, 32, LZ4, volume.Uint8, 2, 0}, false},
	} {
		if got := h.Fits(c.other); got != c.want {
			t.Errorf("%s: Fits = %v", c.name, got)
		}
	}
}

func TestBlockType(t *testing.T) {
	for bt, name := range map[BlockType]string{Raw: "raw", LZ4: "lz4", LZ4HC: "lz4hc"} {
		if got, err := ParseBlockType(name); got != bt || err != nil || bt.String() != name {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	if _, err := ParseBlockType("gzip"); err == nil || err.Error() != `unknown block type "gzip"` {
		t.Error(err)
	}
}

// FuzzHeader shows that an accepted header has a valid grid, and that AppendBinary returns the same bytes.
func FuzzHeader(f *testing.F) {
	f.Add(header(0x55, 2, 1, 1, 16))
	f.Add(header(0xFF, 1, 4, 8, 16))
	f.Add([]byte("WKW\x02"))
	f.Add([]byte("MPIBR\x01\x01\x02"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ParseHeader(b, "x0.wkw")
		if err != nil {
			return
		}
		if err := h.Grid().Validate(); err != nil || h.Grid().BlockBytes() > MaxBlockBytes {
			t.Fatalf("%+v: %v", h, err)
		}
		if again, err := h.MarshalBinary(); err != nil || !bytes.HasPrefix(b, again) {
			t.Fatalf("%+v: written as % x, %v", h, again, err)
		}
	})
}
