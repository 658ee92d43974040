package precomputed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestBadChunks: stored bytes that are not the 256 voxels of a chunk.
func TestBadChunks(t *testing.T) {
	good := bytes.Repeat([]byte{0x1f}, 256)
	zipped := gzipOf(good)
	corrupt := bytes.Clone(zipped)
	corrupt[len(corrupt)-5] ^= 1 // the checksum
	for _, c := range []struct {
		suffix string
		stored []byte
		want   string
	}{
		{"", nil, "expected 256 bytes, found 0"},
		{"", good[:255], "expected 256 bytes, found 255"},
		{"", append(bytes.Clone(good), 1), "expected 256 bytes, found 257"},
		{"", gzipOf(good[:255]), "expected 256 bytes, found 255"},
		{"", gzipOf(append(bytes.Clone(good), 1)), "decompressing: more than 256 bytes"},
		{"", gzipOf(make([]byte, 4<<20)), "decompressing: more than 256 bytes"},
		{"", zipped[:len(zipped)-1], "decompressing: unexpected EOF"},
		{"", zipped[:5], "decompressing: unexpected EOF"},
		{"", corrupt, "decompressing: gzip: invalid checksum"},
		{"", make([]byte, 1<<20), "expected at most 65796 bytes, found 1048576"},
		{".gz", nil, "decompressing: unexpected EOF"},
		{".gz", good, "decompressing: gzip: invalid header"},
		{".gz", gzipOf(zipped), "expected 256 bytes, found"},
	} {
		dir := writeFiles(t, map[string][]byte{"info": []byte(goodInfo), name000 + c.suffix: c.stored})
		err := readError(t, openScale(t, dir, "8_8_30"), volume.Vec{})
		wantError(t, err, name000+c.suffix+": chunk -3-5_0-8_5-9 at byte 0: ", c.want)
		if _, is := errors.AsType[*volume.FormatError](err); !is {
			t.Errorf("%v is not a volume.FormatError", err)
		}
	}
}

// TestRawIsNotGzip: raw voxels may start with the magic number of gzip.
func TestRawIsNotGzip(t *testing.T) {
	voxels := append([]byte{0x1f, 0x8b, 8}, make([]byte, 253)...)
	dir := writeFiles(t, map[string][]byte{"info": []byte(goodInfo), name000: voxels})
	f, err := openScale(t, dir, "8_8_30").OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if block, err := readBlock(t.Context(), f, volume.Vec{}); err != nil || !bytes.Equal(block, voxels) {
		t.Errorf("got %v, %v", block, err)
	}
	if _, err := readBlock(t.Context(), f, volume.Vec{1, 0, 0}); err == nil {
		t.Error("a chunk has a second block")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readBlock(ctx, f, volume.Vec{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, expected %v", err, context.Canceled)
	}
}

// TestEncodings: the info file is rejected if the encoding does not support type and channels.
func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		encoding string
		values   string // data_type and channels
		ok       bool
	}{
		{"raw", "float64 7", true},
		{"compressed_segmentation", "uint32 2", true},
		{"compressed_segmentation", "uint64 1", true},
		{"compressed_segmentation", "uint16 1", false},
		{"compresso", "uint8 1", true},
		{"compresso", "uint64 1", true},
		{"compresso", "uint64 2", false},
		{"compresso", "int8 1", false},
		{"png", "uint16 4", true},
		{"png", "uint8 5", false},
		{"png", "int16 1", false},
		{"jpeg", "uint8 3", true},
		{"jpeg", "uint8 2", false},
		{"jpeg", "uint16 1", false},
		{"jxl", "uint8 4", true},
		{"jxl", "uint16 1", true},
		{"jxl", "uint32 1", false},
	} {
		dataType, channels, _ := strings.Cut(c.values, " ")
		b := strings.NewReplacer(`"uint8"`, `"`+dataType+`"`, `"num_channels":1`, `"num_channels":`+channels,
			`"raw"`, `"`+c.encoding+`","compressed_segmentation_block_size":[8,8,8]`).Replace(goodInfo)
		i, err := parseInfo([]byte(b))
		if err != nil || (len(i.omitted) == 0) != c.ok {
			t.Errorf("%s of %s: got %+v, %v", c.encoding, c.values, i, err)
		}
	}
	b := strings.NewReplacer(`"uint8"`, `"uint32"`, `"raw"`,
		`"compressed_segmentation","compressed_segmentation_block_size":[8,8,0]`).Replace(goodInfo)
	if i, err := parseInfo([]byte(b)); err != nil || len(i.scales) != 0 {
		t.Errorf("empty blocks: got %+v, %v", i, err)
	}
}

// TestInterleave: bytes encode channel, position and byte of the value.
func TestInterleave(t *testing.T) {
	for _, dataType := range volume.Types() {
		for _, channels := range []int{1, 2, 3, 5} {
			n := dataType.Size()
			size, block := volume.Vec{3, 2, 2}, volume.Vec{4, 2, 3}
			value := func(p volume.Vec, channel,
				i int) byte {
				return byte(p[0] + 4*p[1] + 8*p[2] + 16*channel + 100*i + 1)
			}
			var planar []byte
			for channel := range channels {
				for p := range (volume.Box{Max: size}).All() {
					for i := range n {
						planar = append(planar, value(p, channel, i))
					}
				}
			}
			var want []byte
			for p := range (volume.Box{Max: block}).All() {
				for channel := range channels {
					for i := range n {
						b := value(p, channel, i)
						if !p.In(size) {
							b = 0
						}
						want = append(want, b)
					}
				}
			}
			g := volume.Grid{Size: block, Block: block, Type: dataType, Channels: channels}
			got := bytes.Repeat([]byte{0xEE}, g.BlockBytes())
			interleave(got, planar, channels, dataType.Size())
			if spread(got, size, g); !bytes.Equal(got, want) {
				t.Errorf("%d × %v: got % x, expected % x", channels, dataType, got, want)
			}
		}
	}
}

// TestMaxEncoded: the limit is proportional to the chunk, and does not overflow.
func TestMaxEncoded(t *testing.T) {
	s := &scaleInfo{channels: 1, dataType: volume.Uint64, encoding: &encodings[1], block: volume.Cube(1 << 40)}
	if got := s.maxEncoded(volume.Vec{1, 1, 1}); got != 4*MaxChunkBytes {
		t.Errorf("got %d", got)
	}
	s.block = volume.Vec{8, 8, 4}
	if got := s.maxEncoded(volume.Vec{9, 8, 4}); got != 512*(8+4)+2*8+1<<20 {
		t.Errorf("got %d", got)
	}
}

func TestGunzip(t *testing.T) {
	two := append(gzipOf([]byte("ab")), gzipOf([]byte("cd"))...) // a file may have several members
	unzip := func(data []byte, limit int) (string, error) {
		dst := make([]byte, limit)
		n, err := gunzip(bytes.NewReader(data), dst)
		whole := make([]byte, limit)
		m, wholeErr := gunzipBytes(data, whole)
		if fmt.Sprint(wholeErr) != fmt.Sprint(err) || !bytes.Equal(whole[:m], dst[:n]) {
			t.Errorf("in one piece: %q, %v; from a reader: %q, %v", whole[:m], wholeErr, dst[:n], err)
		}
		return string(dst[:n]), err
	}
	for _, limit := range []int{4, 5} {
		if b, err := unzip(two, limit); err != nil || b != "abcd" {
			t.Errorf("got %q, %v", b, err)
		}
	}
	if _, err := unzip(two, 3); err == nil {
		t.Error("no error above the limit")
	}
	if _, err := unzip(append(gzipOf([]byte("ab")), 7), 10); err == nil {
		t.Error("no error for bytes after the end")
	}
	if _, err := unzip(nil, 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}
