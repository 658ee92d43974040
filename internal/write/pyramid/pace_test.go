package pyramid

import (
	"testing"
	"time"
)

// TestPace: a disk is slow if it writes little in a second, over some time.
func TestPace(t *testing.T) {
	for _, test := range []struct {
		name  string
		each  []time.Duration // of a MiB, in turn
		slow  bool
		count int
	}{
		{"fast", []time.Duration{time.Millisecond}, false, 1000},
		{"slow", []time.Duration{4 * time.Millisecond}, true, 64},
		{"slow, but not for long", []time.Duration{4 * time.Millisecond}, false, 63},
		{"once in a while", []time.Duration{20 * time.Millisecond, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, false,
			1000},
	} {
		p := &pace{}
		for i := range test.count {
			p.add(1<<20, test.each[i%len(test.each)])
		}
		if p.slow.Load() != test.slow {
			t.Errorf("%s: %v", test.name, p.slow.Load())
		}
	}
}
