package chunked

import (
	"fmt"
	"math/bits"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	// MaxExtent limits the numbers of a geometry, so that sums and products of a few of them cannot overflow.
	MaxExtent = 1 << 40
	// MaxChunkBytes limits a decoded chunk, or a decoded inner chunk of a shard, in bytes.
	MaxChunkBytes = 1 << 30
	// MaxAxes limits the axes of an array.
	MaxAxes = 16

	maxInner    = 1 << 22 // inner chunks of a shard: an index of 64 MiB
	maxParts    = 1024    // files of a cube
	maxChannels = 1 << 16
)

// Array describes a stored array. Slices with an element for each axis have the order of Shape. It must not change.
type Array struct {
	Shape     []int // extent on each axis, in elements
	Chunk     []int // extent of what a file holds: a chunk or a shard
	Type      volume.Type
	BigEndian bool
	Fill      []byte   // value of what was never stored, Type.Size() bytes, little-endian; nil means 0
	Names     []string // of the axes, such as "z"; "" if unknown. It may be nil.
	XFirst    bool     // unnamed axes are x, y, z, c, and not c, z, y, x

	Key    Key     // how files are named
	Tree   Tree    // how files are named where indices alone do not name them; nil: as Key says
	Shards []Shard // how a file is divided into inner chunks, the outer shard first; none: a file is one chunk

	Order  []int       // axes of a chunk as it is stored, slowest first
	Codecs codec.Chain // how the bytes of a chunk are encoded
	Unit   int         // decoded bytes of a chunk that are probably encoded apart from the others; 0 if that is unknown

	// Header parses the header of a stored chunk. It returns what follows, and the extent of the chunk on each axis, at
	// most that of Chunk. Nil: there is no header, and all chunks are stored with the extent of Chunk. Its errors are
	// about the content of b.
	Header func(b []byte) (payload []byte, size []int, err error)

	Compression string // for people
}

// Shard describes how a shard is divided.
type Shard struct {
	Inner     []int // extent of an inner chunk on each axis
	Order     []int // axes of the index, slowest first
	Checksums int   // CRC-32C after the 64-bit words of the index, each of all that is before it
	Big       bool  // the words are big-endian
	AtStart   bool  // the index is at the start of the shard, else at the end
}

// block returns the extent of the smallest chunks.
func (a *Array) block() []int {
	if n := len(a.Shards); n > 0 {
		return a.Shards[n-1].Inner
	}
	return a.Chunk
}

// partDecoder returns the codec of chunks that can be decoded in parts. It returns nil if they cannot.
func (a *Array) partDecoder() codec.PartDecoder {
	by, _ := a.onlyCodec().(codec.PartDecoder)
	if a.Header != nil {
		return nil
	}
	return by
}

// prefixDecoder returns the codec of chunks of which the start can be decoded. It returns nil if it cannot.
func (a *Array) prefixDecoder() codec.PrefixDecoder {
	by, _ := a.onlyCodec().(codec.PrefixDecoder)
	return by
}

// streamDecoder returns the codec of chunks that need not be in memory as they are stored. It returns nil if they do.
func (a *Array) streamDecoder() codec.StreamDecoder {
	by, _ := a.onlyCodec().(codec.StreamDecoder)
	return by
}

// onlyCodec returns the codec of chunks, or nil if they have several.
func (a *Array) onlyCodec() codec.Codec {
	switch len(a.Codecs) {
	case 0:
		return codec.Raw{}
	case 1:
		return a.Codecs[0]
	}
	return nil
}

// validate checks the extents. After that, no computation with them overflows. An error names the field by its role.
func (a *Array) validate() error {
	rank := len(a.Shape)
	if rank < 1 || rank > MaxAxes {
		return fmt.Errorf("shape: expected 1 to %d axes, found %d", MaxAxes, rank)
	}
	if err := checkExtents("shape", a.Shape, rank, MaxExtent); err != nil {
		return err
	}
	if err := checkExtents("chunk", a.Chunk, rank, MaxExtent); err != nil {
		return err
	}
	outer := a.Chunk
	for _, s := range a.Shards {
		if err := s.validate(outer); err != nil {
			return err
		}
		outer = s.Inner
	}
	if n, ok := product(a.Type.Size(), a.block()); !ok || n > MaxChunkBytes {
		return fmt.Errorf("chunk: expected at most %d bytes, found %v values of %v", MaxChunkBytes, a.block(), a.Type)
	}
	return nil
}

func (s Shard) validate(outer []int) error {
	if err := checkExtents("inner chunk", s.Inner, len(outer), MaxExtent); err != nil {
		return err
	}
	counts := make([]int, len(outer))
	for axis, n := range s.Inner {
		if outer[axis]%n != 0 {
			return fmt.Errorf("inner chunk: expected a divisor of the shard's %v, found %v", outer, s.Inner)
		}
		counts[axis] = outer[axis] / n
	}
	if n, ok := product(1, counts); !ok || n > maxInner {
		return fmt.Errorf("inner chunk: expected at most %d in a shard, found %v in each %v", maxInner, s.Inner, outer)
	}
	return nil
}

func checkExtents(what string, extents []int, rank, limit int) error {
	if len(extents) != rank {
		return fmt.Errorf("%s: expected %d numbers, found %d", what, rank, len(extents))
	}
	for _, n := range extents {
		if n < 1 || n > limit {
			return fmt.Errorf("%s: expected numbers from 1 to %d, found %v", what, limit, extents)
		}
	}
	return nil
}

// product returns first times the factors, all at least 1. It returns false if that is 2^62 or more.
func product(first int, factors []int) (int, bool) {
	p := uint64(first)
	for _, f := range factors {
		hi, lo := bits.Mul64(p, uint64(f))
		if hi != 0 || lo >= 1<<62 {
			return 0, false
		}
		p = lo
	}
	return int(p), true
}

// fillsZero reports whether absent voxels are zero bytes.
func (a *Array) fillsZero() bool {
	for _, b := range a.Fill {
		if b != 0 {
			return false
		}
	}
	return true
}
