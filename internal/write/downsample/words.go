package downsample

import "unsafe"

// The functions of this file compute with several small integers in a word of 64 bits. A lane is a part of the word
// with room for a sum: twice the bits of a value. Lanes hold unsigned numbers. Signed integers become unsigned and back
// by flipping their highest bits, which adds the same number to all of them, and to their mean.

// meanOfPairs reduces integers of 8 or 16 bits. A word of each row has the values of 4 or 2 cells.
func meanOfPairs[T integer](dst, src unsafe.Pointer, s span) {
	y, z, signs := s.near[1], s.near[2], signs[T]()
	perWord := 4 / sizeOf[T]()
	words := s.cells / perWord
	if s.axes < 3 {
		for i := range words {
			sum := lanes[T](load[uint64](src, 8*i)^signs) + lanes[T](load[uint64](src, 8*i+y)^signs) + 2*ones[T]()
			store(dst, 4*i, pack[T](sum>>2&low[T]())^uint32(signs))
		}
	} else {
		for i := range words {
			sum := lanes[T](load[uint64](src, 8*i)^signs) + lanes[T](load[uint64](src, 8*i+y)^signs) +
				lanes[T](load[uint64](src, 8*i+z)^signs) + lanes[T](load[uint64](src, 8*i+y+z)^signs) + 4*ones[T]()
			store(dst, 4*i, pack[T](sum>>3&low[T]())^uint32(signs))
		}
	}
	if s.cells%perWord > 0 {
		mean[T](s.rest(dst, src, words*perWord))
	}
}

// meanOfRows reduces integers of 8 or 16 bits that have no neighbour on the x axis. near[0] and near[1] are the
// distances to other rows.
func meanOfRows[T integer](dst, src unsafe.Pointer, s span) {
	y, z, signs := s.near[0], s.near[1], signs[T]()
	perWord := 8 / sizeOf[T]()
	words := s.cells / perWord
	for i := range words {
		a, b := load[uint64](src, 8*i)^signs, load[uint64](src, 8*i+y)^signs
		c, d := load[uint64](src, 8*i+z)^signs, load[uint64](src, 8*i+y+z)^signs
		lowest, half := low[T](), 8*sizeOf[T]()
		even := a&lowest + b&lowest + c&lowest + d&lowest + 2*ones[T]()
		odd := a>>half&lowest + b>>half&lowest + c>>half&lowest + d>>half&lowest + 2*ones[T]()
		store(dst, 8*i, (even>>2&lowest|odd>>2&lowest<<half)^signs)
	}
	if s.cells%perWord > 0 {
		mean[T](s.rest(dst, src, words*perWord))
	}
}

// lanes adds neighbouring values.
func lanes[T integer](w uint64) uint64 { return w&low[T]() + w>>(8*sizeOf[T]())&low[T]() }

// pack returns the values in the lower halves of all lanes, without gaps. The upper halves must be 0.
func pack[T integer](w uint64) uint32 {
	if sizeOf[T]() == 1 {
		w = (w | w>>8) & 0x0000_ffff_0000_ffff
	}
	if sizeOf[T]() <= 2 {
		w |= w >> 16
	}
	return uint32(w)
}

// low returns the lower half of each lane.
func low[T integer]() uint64 {
	switch sizeOf[T]() {
	case 1:
		return 0x00ff_00ff_00ff_00ff
	case 2:
		return 0x0000_ffff_0000_ffff
	}
	return 0x0000_0000_ffff_ffff
}

// ones returns 1 in each lane.
func ones[T integer]() uint64 {
	if sizeOf[T]() == 1 {
		return 0x0001_0001_0001_0001
	}
	return 0x0000_0001_0000_0001
}

// signs returns the highest bit of each value if T is signed, and else 0.
func signs[T integer]() uint64 {
	switch {
	case ^T(0) > 0:
		return 0
	case sizeOf[T]() == 1:
		return 0x8080_8080_8080_8080
	}
	return 0x8000_8000_8000_8000
}
