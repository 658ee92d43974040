package downsample

import (
	"encoding/binary"
	"unsafe"

	"github.com/wkwfs/wkwfs/volume"
)

// span is a row of cells, with one channel of each. For meanOfColours it is the first of three.
type span struct {
	cells    int    // to reduce
	from, to int    // bytes from the first value of a cell to that of the next cell, in src and in dst
	axes     int    // with two values per cell: 1 to 3
	near     [3]int // bytes of src from a value to its neighbour, on these axes. The rest are 0
}

// rest returns the span without the first n cells, and where it starts.
func (s span) rest(dst, src unsafe.Pointer, n int) (unsafe.Pointer, unsafe.Pointer, span) {
	s.cells -= n
	return unsafe.Add(dst, n*s.to), unsafe.Add(src, n*s.from), s
}

// offsets returns where the values of a cell lie, in bytes after its first value. There are 2, 4 or 8. They are in the
// order of x, y, z.
func (s span) offsets() (all [8]int, n int) {
	n = 1
	for _, d := range s.near[:s.axes] {
		for i := range n {
			all[n+i] = all[i] + d
		}
		n *= 2
	}
	return all, n
}

// kernel reduces a span. dst and src point at the first values. Kernels check no bounds: Reduce has checked them.
//
// Most kernels compute cells of 4 or of 8 values. A cell of 2 values is computed as one of 4: a distance of 0 in
// span.near makes all of its values count twice, which changes no result.
type kernel func(dst, src unsafe.Pointer, s span)

// choose returns the kernel for a method and a type. Of the span, it uses only the shape of its cells.
func choose(m Method, t volume.Type, s span) kernel {
	switch t {
	case volume.Uint8:
		if m == Mean && s.from == 2 {
			return meanOfBytePairs
		}
		return chooseInteger[uint8, uint32](m, s)
	case volume.Uint16:
		return chooseInteger[uint16, uint32](m, s)
	case volume.Uint32:
		return chooseInteger[uint32, uint32](m, s)
	case volume.Uint64:
		return chooseInteger[uint64, uint64](m, s)
	case volume.Int8:
		return chooseInteger[int8, int32](m, s)
	case volume.Int16:
		return chooseInteger[int16, int32](m, s)
	case volume.Int32:
		return chooseInteger[int32, int32](m, s)
	case volume.Int64:
		return chooseInteger[int64, int64](m, s)
	case volume.Float32:
		return chooseFloat[float32, int32](m)
	}
	return chooseFloat[float64, int64](m)
}

// chooseInteger returns a kernel for integers T. W are integers of at least 32 bits that can hold them.
func chooseInteger[T, W integer](m Method, s span) kernel {
	bytes := sizeOf[T]()
	pairs := s.from == 2*bytes // cells follow each other without a gap, so that a word has pairs of values
	rows := s.from == bytes    // cells have no neighbours in their row
	switch {
	case m == Nearest:
		return nearest[T]
	case m == Max:
		return largest[T, W]
	case m == Mode && pairs && bytes <= 4:
		return modeOfPairs[T, W]
	case m == Mode && rows:
		return modeOfRows[T, W]
	case m == Mode:
		return mode[T, W]
	case bytes == 8:
		return meanOf64[T]
	case pairs && bytes <= 2:
		return meanOfPairs[T]
	case rows && bytes <= 2:
		return meanOfRows[T]
	}
	return mean[T]
}

// chooseFloat returns a kernel for floats F. K are integers of the same size.
func chooseFloat[F float, K int32 | int64](m Method) kernel {
	switch m {
	case Mean:
		return meanOfFloats[F, K]
	case Mode:
		return modeOfFloats[K]
	case Max:
		return largestFloat[K]
	}
	return nearest[K]
}

type integer interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64
}

type float interface{ float32 | float64 }

// sizeOf returns the size of a T in bytes. The compiler makes it a constant, and drops branches that depend on it.
func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// load returns the value that lies i bytes after p.
func load[T integer](p unsafe.Pointer, i int) T {
	p = unsafe.Add(p, i)
	switch unsafe.Sizeof(T(0)) {
	case 1:
		return T(*(*uint8)(p))
	case 2:
		return T(binary.LittleEndian.Uint16((*[2]byte)(p)[:]))
	case 4:
		return T(binary.LittleEndian.Uint32((*[4]byte)(p)[:]))
	}
	return T(binary.LittleEndian.Uint64((*[8]byte)(p)[:]))
}

// store writes a value i bytes after p.
func store[T integer](p unsafe.Pointer, i int, v T) {
	p = unsafe.Add(p, i)
	switch unsafe.Sizeof(v) {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		binary.LittleEndian.PutUint16((*[2]byte)(p)[:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32((*[4]byte)(p)[:], uint32(v))
	default:
		binary.LittleEndian.PutUint64((*[8]byte)(p)[:], uint64(v))
	}
}

// loadFloat returns the value that lies i bytes after p. K are integers of the same size.
func loadFloat[F float, K integer](p unsafe.Pointer, i int) float64 {
	bits := load[K](p, i)
	return float64(*(*F)(unsafe.Pointer(&bits)))
}

// storeFloat writes a value i bytes after p.
func storeFloat[F float, K integer](p unsafe.Pointer, i int, v float64) {
	f := F(v)
	store(p, i, *(*K)(unsafe.Pointer(&f)))
}
