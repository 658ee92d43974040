package store

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestBuckets: the middle of the bucket of each duration is near that duration.
func TestBuckets(t *testing.T) {
	last := 0
	for d := time.Duration(1 << firstOctave); d < 1<<lastOctave; d += d/100 + 1 {
		b := bucketOf(d)
		if b < last || b > last+1 {
			t.Fatalf("%v: bucket %d after %d", d, b, last)
		}
		last = b
		if off := math.Abs(float64(bucketMiddle(b)-d)) / float64(d); off > 0.125 {
			t.Fatalf("%v: counted as %v", d, bucketMiddle(b))
		}
	}
	if last != buckets-1 {
		t.Errorf("the last bucket is %d, expected %d", last, buckets-1)
	}
	for _, d := range []time.Duration{-1, 0, 1, 1 << firstOctave} {
		if b := bucketOf(d); b != 0 {
			t.Errorf("%v: bucket %d", d, b)
		}
	}
	for _, d := range []time.Duration{1 << lastOctave, math.MaxInt64} {
		if b := bucketOf(d); b != buckets-1 {
			t.Errorf("%v: bucket %d", d, b)
		}
	}
}

// TestHistogram: the percentiles are those of about the last minute.
func TestHistogram(t *testing.T) {
	var h histogram
	second := time.Second
	for _, c := range []struct {
		at       time.Duration
		add      []time.Duration
		p50, p99 time.Duration // a duration in the expected bucket
	}{
		{0, nil, 0, 0},
		{1 * second, []time.Duration{1000}, 1000, 1000},
		{29 * second, slices.Repeat([]time.Duration{1 << 20}, 9), 1 << 20, 1 << 20},
		{31 * second, slices.Repeat([]time.Duration{1 << 30}, 5), 1 << 20, 1 << 30},
		{59 * second, nil, 1 << 20, 1 << 30},
		{61 * second, nil, 1 << 30, 1 << 30},
		{62 * second, slices.Repeat([]time.Duration{5000}, 1000), 5000, 5000},
		{100 * second, nil, 5000, 5000},
		{125 * second, nil, 0, 0},
		{1000 * second, nil, 0, 0},
		{1001 * second, []time.Duration{7000}, 7000, 7000},
	} {
		for _, took := range c.add {
			h.add(c.at, took)
		}
		p50, p99 := h.quantiles(c.at)
		want := func(d time.Duration) time.Duration {
			if d == 0 {
				return 0
			}
			return bucketMiddle(bucketOf(d))
		}
		if p50 != want(c.p50) || p99 != want(c.p99) {
			t.Errorf("at %v: got %v and %v, expected %v and %v", c.at, p50, p99, want(c.p50), want(c.p99))
		}
	}
}
