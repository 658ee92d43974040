package web

import (
	"math"
	"testing"
)

func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 10240: "10 KiB",
		1<<20 - 1: "1.0 MiB", 1 << 40: "1.0 TiB", math.MaxInt64: "8.0 EiB"} {
		if got := formatBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
