package header

import "math"

// rational returns a fraction near v > 0 with terms of 31 bits. TIFF allows 32 bits, but some readers use signed
// integers. ok is false if v is too large or too small.
//
// The convergents of the continued fraction include the exact fraction if it exists: 1/11.24 is 25/281.
func rational(v float64) (num, den uint32, ok bool) {
	const limit = math.MaxInt32
	if !(v >= 1.0/limit && v <= limit) {
		return 0, 0, false
	}
	p0, q0, p1, q1 := 0.0, 1.0, 1.0, 0.0
	for rest := v; ; {
		whole := math.Floor(rest)
		p, q := whole*p1+p0, whole*q1+q0
		if p > limit || q > limit {
			break
		}
		p0, q0, p1, q1 = p1, q1, p, q
		// As near as a float64 can be: the rest is rounding error.
		if math.Abs(p1/q1-v) <= v*1e-15 || rest == whole {
			break
		}
		rest = 1 / (rest - whole)
	}
	return uint32(p1), uint32(q1), p1 > 0 && q1 > 0
}
