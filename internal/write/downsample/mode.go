package downsample

import "unsafe"

// mode computes the most frequent value of cells of integers T, and the smallest of equally frequent ones. It computes
// with integers W, because processors cannot choose between bytes without a branch.
func mode[T, W integer](dst, src unsafe.Pointer, s span) {
	for i := range s.cells {
		store(dst, i*s.to, modeOfCell[T, W](unsafe.Add(src, i*s.from), s.near[0], s.near[1], s.near[2]))
	}
}

// modeOfCell returns the mode of a cell whose first value is at p. x, y and z are span.near. A value that fills more
// than half of the cell is the mode: it needs no look at the rest.
func modeOfCell[T, W integer](p unsafe.Pointer, x, y, z int) T {
	a, b, c := load[T](p, 0), load[T](p, x), load[T](p, y)
	if z == 0 {
		if (a^b)|(a^c) == 0 {
			return a
		}
		return T(modeOf4(W(a), W(b), W(c), W(load[T](p, x+y))))
	}
	d, e := load[T](p, x+y), load[T](p, z)
	if (a^b)|(a^c)|(a^d)|(a^e) == 0 {
		return a
	}
	f, g, h := load[T](p, x+z), load[T](p, y+z), load[T](p, x+y+z)
	return T(modeOf8(W(a), W(b), W(c), W(d), W(e), W(f), W(g), W(h)))
}

// modeOfPairs is mode for spans of pairs of up to 32 bits. In most words, each cell has a single value. It compares
// three of the four rows: more than half of each cell.
func modeOfPairs[T, W integer](dst, src unsafe.Pointer, s span) {
	y, z := s.near[1], s.near[2]
	perWord := 4 / sizeOf[T]()
	words := s.cells / perWord
	for i := range words {
		a, b, c := load[uint64](src, 8*i), load[uint64](src, 8*i+y), load[uint64](src, 8*i+z)
		if (a^b)|(a^c)|(a^a>>(8*sizeOf[T]()))&low[T]() == 0 {
			store(dst, 4*i, pack[T](a&low[T]()))
			continue
		}
		for j := i * perWord; j < (i+1)*perWord; j++ {
			store(dst, j*sizeOf[T](), modeOfCell[T, W](unsafe.Add(src, 2*j*sizeOf[T]()), sizeOf[T](), y, z))
		}
	}
	if s.cells%perWord > 0 {
		mode[T, W](s.rest(dst, src, words*perWord))
	}
}

// modeOfRows is mode for spans of rows. Most words are equal to those of the other rows. It compares three of the four.
func modeOfRows[T, W integer](dst, src unsafe.Pointer, s span) {
	y, z := s.near[0], s.near[1]
	perWord := 8 / sizeOf[T]()
	words := s.cells / perWord
	for i := range words {
		a, b, c := load[uint64](src, 8*i), load[uint64](src, 8*i+y), load[uint64](src, 8*i+z)
		if (a^b)|(a^c) == 0 {
			store(dst, 8*i, a)
			continue
		}
		for j := i * perWord; j < (i+1)*perWord; j++ {
			store(dst, j*sizeOf[T](), modeOfCell[T, W](unsafe.Add(src, j*sizeOf[T]()), y, z, 0))
		}
	}
	if s.cells%perWord > 0 {
		mode[T, W](s.rest(dst, src, words*perWord))
	}
}

// modeOfFloats computes the most frequent float. K are integers of the same size.
func modeOfFloats[K int32 | int64](dst, src unsafe.Pointer, s span) {
	offsets, n := s.offsets()
	nan := highest[K]()
	for i := range s.cells {
		var v [8]K
		for j := range v { // in a cell of 2 or 4 values, all count equally often
			v[j] = key(load[K](src, i*s.from+offsets[j%n]), nan)
		}
		store(dst, i*s.to, unkey(modeOf8(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7])))
	}
}

// modeOf4 sorts the values, and finds the longest run without branches.
func modeOf4[W integer](a, b, c, d W) W {
	a, b = min(a, b), max(a, b)
	c, d = min(c, d), max(c, d)
	a, c = min(a, c), max(a, c)
	b, d = min(b, d), max(b, d)
	b, c = min(b, c), max(b, c)
	sorted := [4]W{a, b, c, d}
	return sorted[longestRun[same(a, b, 0)|same(b, c, 1)|same(c, d, 2)]&3]
}

// modeOf8 is modeOf4 for eight values.
func modeOf8[W integer](a, b, c, d, e, f, g, h W) W {
	a, c = min(a, c), max(a, c)
	b, d = min(b, d), max(b, d)
	e, g = min(e, g), max(e, g)
	f, h = min(f, h), max(f, h)

	a, e = min(a, e), max(a, e)
	b, f = min(b, f), max(b, f)
	c, g = min(c, g), max(c, g)
	d, h = min(d, h), max(d, h)

	a, b = min(a, b), max(a, b)
	c, d = min(c, d), max(c, d)
	e, f = min(e, f), max(e, f)
	g, h = min(g, h), max(g, h)

	c, e = min(c, e), max(c, e)
	d, f = min(d, f), max(d, f)
	b, e = min(b, e), max(b, e)
	d, g = min(d, g), max(d, g)

	b, c = min(b, c), max(b, c)
	d, e = min(d, e), max(d, e)
	f, g = min(f, g), max(f, g)

	sorted := [8]W{a, b, c, d, e, f, g, h}
	equal := same(a, b, 0) | same(b, c, 1) | same(c, d, 2) | same(d, e, 3) | same(e, f, 4) | same(f, g, 5) | same(g, h,
		6)
	return sorted[longestRun[equal]&7]
}

// same returns a number with only this bit set if a and b are equal, and else 0.
func same[W integer](a, b W, bit int) uint8 {
	var v uint8
	if a == b {
		v = 1
	}
	return v << bit
}

// longestRun has the index of the first value of the first longest run of sorted values. Its own index has bit i set if
// value i+1 is equal to value i.
var longestRun = func() (first [256]uint8) {
	for equal := range first {
		most, run := 0, 0
		for i := range 7 {
			if run++; equal>>i&1 == 0 {
				run = 0
			}
			if run > most {
				first[equal], most = uint8(i+1-run), run
			}
		}
	}
	return first
}()
