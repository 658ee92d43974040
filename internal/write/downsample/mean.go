package downsample

import "unsafe"

// mean reduces integers of up to 32 bits. Their sums fit into 64 bits.
func mean[T integer](dst, src unsafe.Pointer, s span) {
	x, y, z := s.near[0], s.near[1], s.near[2]
	for i := range s.cells {
		o := i * s.from
		sum := int64(load[T](src, o)) + int64(load[T](src, o+x)) + int64(load[T](src, o+y)) + int64(load[T](src, o+x+y))
		if s.axes < 3 {
			store(dst, i*s.to, T((sum+2)>>2))
			continue
		}
		o += z
		sum += int64(load[T](src, o)) + int64(load[T](src, o+x)) + int64(load[T](src, o+y)) + int64(load[T](src, o+x+y))
		store(dst, i*s.to, T((sum+4)>>3))
	}
}

// meanOf64 divides before it adds, because the sum of eight integers of 64 bits could overflow. Shifts of negative
// numbers round down, so that the rest is positive.
func meanOf64[T integer](dst, src unsafe.Pointer, s span) {
	offsets, n := s.offsets()
	for i := range s.cells {
		var whole, rest T
		for _, o := range offsets[:n] {
			v := load[T](src, i*s.from+o)
			whole += v >> s.axes
			rest += v & T(n-1)
		}
		store(dst, i*s.to, whole+(rest+T(n/2))>>s.axes)
	}
}

// meanOfFloats divides before it adds, so that no sum overflows. The number of values is a power of 2: dividing by it
// is exact, but for the smallest numbers. It adds pairs, then pairs of pairs. So values that all count twice give the
// same mean to the last bit.
func meanOfFloats[F float, K integer](dst, src unsafe.Pointer, s span) {
	x, y, z := s.near[0], s.near[1], s.near[2]
	for i := range s.cells {
		o := i * s.from
		a, b, c, d := loadFloat[F, K](src, o), loadFloat[F, K](src, o+x), loadFloat[F, K](src, o+y),
			loadFloat[F, K](src, o+x+y)
		if s.axes < 3 {
			storeFloat[F, K](dst, i*s.to, (a/4+b/4)+(c/4+d/4))
			continue
		}
		o += z
		e, f, g, h := loadFloat[F, K](src, o), loadFloat[F, K](src, o+x), loadFloat[F, K](src, o+y),
			loadFloat[F, K](src, o+x+y)
		storeFloat[F, K](dst, i*s.to, ((a/8+b/8)+(c/8+d/8))+((e/8+f/8)+(g/8+h/8)))
	}
}
