package render

import (
	"math"
	"slices"
)

// Window is the range of values that grey levels show: Low is black, High is white.
type Window struct{ Low, High float64 }

// maxSamples is how many values decide a window.
const maxSamples = 1 << 16

// WindowOf returns the window from the first to the last percentile of some of the values. It ignores NaN, infinities
// and zeros: zeros often mark regions that were not recorded. If all other values are equal, the window starts or ends
// at 0. Without any, it is 0 to 1.
func WindowOf(values []float64) Window {
	step := len(values)/maxSamples + 1
	var samples []float64
	for i := 0; i < len(values); i += step {
		if v := values[i]; v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
			samples = append(samples, v)
		}
	}
	if len(samples) == 0 {
		return Window{0, 1}
	}
	slices.Sort(samples)
	low, high := samples[len(samples)/100], samples[len(samples)-1-len(samples)/100]
	if low < high {
		return Window{low, high}
	}
	return Window{min(0, low), max(0, high)} // all samples are equal: white, or black if negative
}

// Grey returns the grey level of a value. NaN is black.
func (w Window) Grey(v float64) uint8 {
	if !(v > w.Low) {
		return 0
	}
	// The halves differ by a finite number, whatever the values are.
	part := (v/2 - w.Low/2) / (w.High/2 - w.Low/2)
	return uint8(math.Round(255 * min(part, 1)))
}
