package downsample

import "unsafe"

// meanOfColours reduces voxels with three channels of 8 bits, all channels at a time. A word of each row has the two
// voxels of a cell and two bytes more, so that the last cell is left to mean.
func meanOfColours[T integer](dst, src unsafe.Pointer, s span) {
	y, z, signs := s.near[1], s.near[2], signs[T]()
	const half = 4 * 0x0001_0001_0001_0001 // of the number of values, in each lane
	for i := range s.cells - 1 {
		a, b := load[uint64](src, 6*i)^signs, load[uint64](src, 6*i+y)^signs
		even := a&low[T]() + b&low[T]()      // red, blue, green of the second voxel
		odd := a>>8&low[T]() + b>>8&low[T]() // green, red and blue of the second voxel
		if s.axes == 3 {
			c, d := load[uint64](src, 6*i+z)^signs, load[uint64](src, 6*i+y+z)^signs
			even += c&low[T]() + d&low[T]()
			odd += c>>8&low[T]() + d>>8&low[T]()
		} else { // all values count twice
			even, odd = even+even, odd+odd
		}
		redBlue := (even + odd>>16 + half) >> 3 & 0x00ff_00ff
		green := (odd + even>>32 + half) >> 3 & 0x00ff
		all := (redBlue | green<<8) ^ signs
		store(dst, 3*i, uint16(all))
		store(dst, 3*i+2, uint8(all>>16))
	}
	to, from, last := s.rest(dst, src, s.cells-1)
	for c := range 3 {
		mean[T](unsafe.Add(to, c), unsafe.Add(from, c), last)
	}
}
