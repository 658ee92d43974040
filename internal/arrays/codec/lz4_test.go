package codec

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

func lz4Samples() []sample {
	var all []sample
	for name, b := range contents() {
		stored := append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), lz4Block(b)...)
		all = append(all, sample{name: "lz4 " + name, codec: LZ4{}, decoded: b, stored: stored, unverified: true})
	}
	return all
}

// lz4Block returns b as a block: compressed, or as literals.
func lz4Block(b []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, out, nil)
	if err != nil {
		panic(err)
	}
	if n > 0 {
		return out[:n]
	}
	if len(b) < 15 {
		return append([]byte{byte(len(b) << 4)}, b...)
	}
	out = []byte{0xf0}
	rest := len(b) - 15
	for ; rest >= 255; rest -= 255 {
		out = append(out, 255)
	}
	return append(append(out, byte(rest)), b...)
}

func TestLZ4Errors(t *testing.T) {
	for _, c := range []struct{ stored, want string }{
		{"\x03\x00\x00\x00\x30abc", ""},
		{"\x03\x00\x00", "lz4 data at byte 3: unexpected EOF"},
		{"\xff\xff\xff\xff\x30abc", "lz4 length at byte 0: expected at most 100 decoded bytes, found 4294967295"},
		{"\xff\xff\xff\x7f\x30abc", "lz4 length at byte 0: expected at most 100 decoded bytes, found 2147483647"},
		{"\x04\x00\x00\x00\x30abc", "lz4 data: lz4 block: expected 4 decoded bytes, found 3"},
		{"\x02\x00\x00\x00\x30abc",
			"lz4 data: lz4 block: expected 2 decoded bytes, found 0, then 3 literals with room for 2 at compressed byte 0"},
	} {
		_, err := LZ4{}.Decode(nil, []byte(c.stored), 100)
		if text := errorText(err); text != c.want {
			t.Errorf("%q: expected error %q, found %q", c.stored, c.want, text)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimSpace(err.Error())
}

func FuzzLZ4(f *testing.F) { fuzz(f, LZ4{}, lz4Samples()) }
