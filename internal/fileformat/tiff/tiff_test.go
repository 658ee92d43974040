package tiff

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func TestSampleFormats(t *testing.T) {
	for _, want := range volume.Types() {
		if got, ok := ParseSampleFormat(uint64(SampleFormat(want)), uint64(8*want.Size())); got != want || !ok {
			t.Errorf("%d: got %v, %v, expected %v", SampleFormat(want), got, ok, want)
		}
	}
	for _, c := range []struct{ format, bits uint64 }{{0, 8}, {Unsigned, 1}, {Unsigned, 24}, {Float, 16}, {4, 8}} {
		if got, ok := ParseSampleFormat(c.format, c.bits); ok {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestTypeSizes(t *testing.T) {
	for kind, want := range map[uint16]int{Byte: 1, ASCII: 1, Short: 2, Long: 4, Rational: 8, Long8: 8, 0: 0, 14: 0,
		19: 0, 65535: 0} {
		if n := TypeSize(kind); n != want {
			t.Errorf("type %d: %d bytes, expected %d", kind, n, want)
		}
	}
}
