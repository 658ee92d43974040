// Package cseg decodes compressed_segmentation, the block-wise encoding of label
// volumes in Neuroglancer Precomputed.
//
// A chunk is cut into small blocks. Each has a table of the labels in it, which
// blocks may share, and per voxel an index into that table of 0, 1, 2, 4, 8, 16 or
// 32 bits. Offsets are counted in little-endian words of 32 bits:
//
//	chunk      a word per channel: where the channel begins
//	channel    two words per block (its header), then tables and values in any order
//	header     bits 0–23 where the table begins, 24–31 the bits of an index,
//	           32–63 where the indices begin; counted from the channel's begin
//
// The specification is "Compressed segmentation format" in Neuroglancer's sources.
// The package keeps no state: its functions may be called at the same time.
package cseg

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

const (
	wordBytes   = 4
	headerBytes = 2 * wordBytes
)

// Decode decodes one chunk into dst.
//
// size is the chunk's extent and block that of a block, both in voxels, in the order
// x, y, z; a chunk clipped at the edge of the volume has the clipped size, its blocks
// are stored whole. bytesPerValue is 4 (uint32) or 8 (uint64).
//
// dst is filled in Fortran order, x fastest and the channel slowest, little-endian;
// it must be exactly size·channels·bytesPerValue long. Its content is undefined after
// an error. data is only read, and not retained. Data that breaks the format gives a
// [*FormatError].
func Decode(data []byte, size [3]int, block [3]int, channels int, bytesPerValue int, dst []byte) error {
	if min(size[0], size[1], size[2], block[0], block[1], block[2], channels) < 1 {
		return fmt.Errorf("compressed_segmentation: %d channels of %v voxels in blocks of %v: expected 1 or more of each", channels, size, block)
	}
	if bytesPerValue != 4 && bytesPerValue != 8 {
		return fmt.Errorf("compressed_segmentation: %d bytes a value: expected 4 or 8", bytesPerValue)
	}
	channelBytes := product(size[0], size[1], size[2], bytesPerValue)
	if product(channelBytes, channels) != len(dst) {
		return fmt.Errorf("compressed_segmentation: %d bytes for %d channels of %v voxels of %d bytes", len(dst), channels, size, bytesPerValue)
	}
	if len(data)%wordBytes != 0 || len(data)/wordBytes < channels {
		return &FormatError{"chunk", 0, fmt.Sprintf("whole words of %d bytes, %d or more", wordBytes, channels), fmt.Sprintf("%d bytes", len(data))}
	}
	for c := range channels {
		d, err := openChannel(data, c, size, block, bytesPerValue)
		if err != nil {
			return err
		}
		if err := d.decode(dst[c*channelBytes:][:channelBytes]); err != nil {
			return err
		}
	}
	return nil
}

// channel is one channel of a chunk.
type channel struct {
	number int
	data   []byte // from the channel's begin to the chunk's end
	begin  int    // of data, in the chunk

	size, block, grid [3]int
	blockVoxels       int
	width             int // bytes of a label
}

// openChannel finds a channel and makes sure that the headers of its blocks are there.
func openChannel(data []byte, number int, size, block [3]int, width int) (*channel, error) {
	words := int(binary.LittleEndian.Uint32(data[number*wordBytes:]))
	c := &channel{number: number, size: size, block: block, width: width}
	for axis := range c.grid {
		c.grid[axis] = (size[axis]-1)/block[axis] + 1
	}
	c.blockVoxels = product(block[0], block[1], block[2])
	// No more blocks than voxels, so that this is less than the bytes of the output.
	headers := c.grid[0] * c.grid[1] * c.grid[2] * headerBytes
	if last := len(data) - headers; last < 0 || words > last/wordBytes {
		return nil, &FormatError{
			fmt.Sprintf("offset of channel %d", number), number * wordBytes,
			fmt.Sprintf("room for %v block headers in a chunk of %d bytes", c.grid, len(data)),
			fmt.Sprintf("%d words", words),
		}
	}
	c.begin = words * wordBytes
	c.data = data[c.begin:]
	return c, nil
}

// decode decodes all blocks.
func (c *channel) decode(dst []byte) error {
	at := 0
	for z := range c.grid[2] {
		for y := range c.grid[1] {
			for x := range c.grid[0] {
				if err := c.decodeBlock([3]int{x, y, z}, at, dst); err != nil {
					return err
				}
				at += headerBytes
			}
		}
	}
	return nil
}

// decodeBlock decodes block b, whose header is at byte at, into its place in dst.
func (c *channel) decodeBlock(b [3]int, at int, dst []byte) error {
	header := binary.LittleEndian.Uint64(c.data[at:])
	table, indexBits, values := int(header&(1<<24-1)), int(header>>24&0xFF), int(header>>32)
	words := len(c.data) / wordBytes
	switch {
	case indexBits > 32 || indexBits&(indexBits-1) != 0:
		return c.fault(b, "bits of an index", at+3, "0, 1, 2, 4, 8, 16 or 32", indexBits)
	case table > words-c.width/wordBytes:
		return c.fault(b, "table offset", at, fmt.Sprintf("room for a label in a channel of %d words", words), table)
	case indexBits > 0 && (values > words || c.blockVoxels > (words-values)*32/indexBits):
		return c.fault(b, "values offset", at+wordBytes, fmt.Sprintf("room for %d bits for each of %v voxels in a channel of %d words", indexBits, c.block, words), values)
	}
	r := c.region(b)
	labels := c.data[table*wordBytes:]
	if indexBits == 0 {
		r.fill(dst, labels[:c.width])
		return nil
	}
	unpack := r.unpack32
	if c.width == 8 {
		unpack = r.unpack64
	}
	if index, ok := unpack(dst, c.data[values*wordBytes:], uint(indexBits), labels); !ok {
		return c.fault(b, "index into the table", values*wordBytes, fmt.Sprintf("less than %d, the labels from word %d to the end", len(labels)/c.width, table), index)
	}
	return nil
}

// region returns the part of block b that is inside the chunk.
func (c *channel) region(b [3]int) region {
	r := region{block: c.block, width: c.width, row: c.size[0] * c.width, plane: c.size[0] * c.size[1] * c.width}
	for axis := range r.size {
		begin := b[axis] * c.block[axis]
		r.size[axis] = min(c.block[axis], c.size[axis]-begin)
		r.begin += begin * [...]int{c.width, r.row, r.plane}[axis]
	}
	return r
}

// fault returns the error for a number found at a byte of the channel, in block b.
func (c *channel) fault(b [3]int, what string, at int, expected string, found int) error {
	return &FormatError{fmt.Sprintf("%s of block %v, channel %d,", what, b, c.number), c.begin + at, expected, fmt.Sprint(found)}
}

// product multiplies numbers ≥ 1; what does not fit an int becomes the largest int.
func product(factors ...int) int {
	p := uint64(1)
	for _, f := range factors {
		hi, lo := bits.Mul64(p, uint64(f))
		if hi != 0 || lo > math.MaxInt {
			return math.MaxInt
		}
		p = lo
	}
	return int(p)
}
