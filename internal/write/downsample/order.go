package downsample

import "unsafe"

// nearest copies the first value of each cell.
func nearest[T integer](dst, src unsafe.Pointer, s span) {
	for i := range s.cells {
		store(dst, i*s.to, load[T](src, i*s.from))
	}
}

// largest computes the maximum of integers T. W can hold them, as in mode.
func largest[T, W integer](dst, src unsafe.Pointer, s span) {
	x, y, z := s.near[0], s.near[1], s.near[2]
	for i := range s.cells {
		o := i * s.from
		v := max(W(load[T](src, o)), W(load[T](src, o+x)), W(load[T](src, o+y)), W(load[T](src, o+x+y)))
		if s.axes == 3 {
			o += z
			v = max(v, W(load[T](src, o)), W(load[T](src, o+x)), W(load[T](src, o+y)), W(load[T](src, o+x+y)))
		}
		store(dst, i*s.to, T(v))
	}
}

// largestFloat computes the maximum of floats. K are integers of the same size.
func largestFloat[K int32 | int64](dst, src unsafe.Pointer, s span) {
	offsets, n := s.offsets()
	nan := lowest[K]()
	for i := range s.cells {
		v := nan
		for _, o := range offsets[:n] {
			v = max(v, key(load[K](src, i*s.from+o), nan))
		}
		store(dst, i*s.to, unkey(v))
	}
}

// key returns an integer for the bits of a float. Keys are ordered as the floats are. The key of −0 is that of 0, and
// the key of each NaN is nan: the lowest or the highest integer.
func key[K int32 | int64](bits, nan K) K {
	fraction := 23 // bits
	if sizeOf[K]() == 8 {
		fraction = 52
	}
	infinity := highest[K]() >> fraction << fraction
	switch size := bits & highest[K](); {
	case size > infinity:
		return nan
	case size == 0:
		return 0
	}
	return unkey(bits)
}

// unkey returns the bits of a float with a key. Both nan of function key become bits of a NaN. unkey is its own
// inverse.
func unkey[K int32 | int64](k K) K { return k ^ k>>(8*sizeOf[K]()-1)&highest[K]() }

func highest[K int32 | int64]() K { return ^lowest[K]() }
func lowest[K int32 | int64]() K  { return K(1) << (8*sizeOf[K]() - 1) }
