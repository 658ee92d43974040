package chunked

import (
	"encoding/binary"
)

// layout says where the values of a decoded chunk go in a block. The axes are c, x, y, z: fastest in the block first.
// Strides and offsets are in values.
type layout struct {
	n        [4]int // values on each axis
	from, to [4]int // strides in the chunk and in the block
	fromAt   int    // offset of the first value in the chunk
	toAt     int    // and in the block
}

// isPacked reports whether a chunk can be decoded into the start of its block: the block has nothing else, its values
// are in the same order, and rows stay in one piece. values is the number of values of the chunk.
func (l layout) isPacked(values int) bool {
	stride := 1
	for axis, n := range l.n {
		if n > 1 && l.from[axis] != stride {
			return false
		}
		stride *= n
	}
	return l.fromAt == 0 && l.toAt == 0 && stride == values && l.n[0] == l.to[1]
}

// spread moves the rows of a packed chunk, whose values have size bytes, to their places. The last one is moved first:
// no place is before where a row is. It leaves other bytes between them.
func (l layout) spread(block []byte, size int) {
	row := l.n[0] * l.n[1] * size
	if l.n[1]*l.to[1] == l.to[2] && l.n[2]*l.to[2] == l.to[3] {
		return // they are in their places
	}
	for z := l.n[3] - 1; z >= 0; z-- {
		for y := l.n[2] - 1; y >= 0; y-- {
			copy(block[(z*l.to[3]+y*l.to[2])*size:][:row], block[(z*l.n[2]+y)*row:])
		}
	}
}

// tile limits the values on the fast axis of the chunk that are copied before the values beside them. It counts only if
// chunk and block have different fast axes. Then each value goes to another row of the block. These rows are often a
// multiple of 4 KiB apart, and the first-level cache keeps only about 8 such rows.
const tile = 8

// copyTo copies values of size bytes.
func (l layout) copyTo(block, chunk []byte, size int, bigEndian bool) {
	copySquare := squareCopier(size, bigEndian)
	inner, other := l.inner()
	n := l.n
	n[inner], n[other] = 1, 1
	step := tile
	if l.from[inner] == 1 && l.to[inner] == 1 {
		step = l.n[inner]
	}
	for z := range n[3] {
		for y := range n[2] {
			for x := range n[1] {
				for c := range n[0] {
					s := square{to: l.toAt, from: l.fromAt, inner: l.steps(inner), other: l.steps(other)}
					for axis, i := range [4]int{c, x, y, z} {
						s.from += i * l.from[axis]
						s.to += i * l.to[axis]
					}
					for rest := l.n[inner]; rest > 0; rest -= step {
						s.inner.n = min(step, rest)
						copySquare(block, chunk, s)
						s.to += step * l.to[inner]
						s.from += step * l.from[inner]
					}
				}
			}
		}
	}
}

func (l layout) steps(axis int) steps { return steps{l.n[axis], l.to[axis], l.from[axis]} }

// inner returns the axis of the innermost loop, and that of the loop around it: the fast axes of the chunk and the
// block.
func (l layout) inner() (inner, other int) {
	inner, other = 1, 0
	for axis := range l.n {
		if l.n[axis] > 1 && (l.n[inner] == 1 || l.from[axis] < l.from[inner]) {
			inner = axis
		}
	}
	for axis := 3; axis >= 0; axis-- {
		if axis != inner && (l.n[axis] > 1 || other == inner) {
			other = axis
		}
	}
	return inner, other
}

// square is values on two axes. Offsets are in values.
type square struct {
	to, from     int // offsets of the first value
	inner, other steps
}

// steps are values on an axis: how many, and their strides in the block and in the chunk.
type steps struct{ n, to, from int }

// squareCopier returns the function that copies a square of values of size bytes. Values of a block are little-endian.
func squareCopier(size int, bigEndian bool) func(block, chunk []byte, s square) {
	le, be := binary.LittleEndian, binary.BigEndian
	switch {
	case size == 1:
		return copyBytes
	case size == 2 && bigEndian:
		return func(b, c []byte, s square) {
			for to, from := range s.values {
				le.PutUint16(b[2*to:], be.Uint16(c[2*from:]))
			}
		}
	case size == 4 && bigEndian:
		return func(b, c []byte, s square) {
			for to, from := range s.values {
				le.PutUint32(b[4*to:], be.Uint32(c[4*from:]))
			}
		}
	case size == 8 && bigEndian:
		return func(b, c []byte, s square) {
			for to, from := range s.values {
				le.PutUint64(b[8*to:], be.Uint64(c[8*from:]))
			}
		}
	case size == 2:
		return adjacent(2, func(b, c []byte, s square) {
			for to, from := range s.values {
				le.PutUint16(b[2*to:], le.Uint16(c[2*from:]))
			}
		})
	case size == 4:
		return adjacent(4, func(b, c []byte, s square) {
			for to, from := range s.values {
				le.PutUint32(b[4*to:], le.Uint32(c[4*from:]))
			}
		})
	}
	return adjacent(8, func(b, c []byte, s square) {
		for to, from := range s.values {
			le.PutUint64(b[8*to:], le.Uint64(c[8*from:]))
		}
	})
}

// values yields the offsets of each value in the block and in the chunk.
func (s square) values(yield func(to, from int) bool) {
	for range s.other.n {
		to, from := s.to, s.from
		for range s.inner.n {
			if !yield(to, from) {
				return
			}
			to += s.inner.to
			from += s.inner.from
		}
		s.to += s.other.to
		s.from += s.other.from
	}
}

func copyBytes(b, c []byte, s square) {
	if s.inner.to == 1 && s.inner.from == 1 {
		copyRows(b, c, s, 1)
		return
	}
	for to, from := range s.values {
		b[to] = c[from]
	}
}

// copyRows copies rows of adjacent values.
func copyRows(b, c []byte, s square, size int) {
	n := size * s.inner.n
	for range s.other.n {
		copy(b[size*s.to:][:n], c[size*s.from:][:n])
		s.to += s.other.to
		s.from += s.other.from
	}
}

// adjacent returns a function that copies rows of adjacent values of size bytes, and calls others for the rest.
func adjacent(size int, others func(b, c []byte, s square)) func(b, c []byte, s square) {
	return func(b, c []byte, s square) {
		if s.inner.to == 1 && s.inner.from == 1 {
			copyRows(b, c, s, size)
			return
		}
		others(b, c, s)
	}
}
