// Package cseg decodes compressed_segmentation, an encoding of label volumes in Neuroglancer Precomputed.
//
// A chunk is divided into small blocks. A block has a table of its labels, and for each voxel an index of 0, 1, 2, 4,
// 8, 16 or 32 bits into the table. Blocks may share a table. Offsets are in little-endian words of 32 bits:
//
//	chunk      one word per channel: the offset of the channel in the chunk; then the channels
//	channel    one header of two words per block; then tables and indices in any order
//	header     bits 0–23: offset of the table in the channel
//	           bits 24–31: bits of an index
//	           bits 32–63: offset of the indices in the channel
//
// The specification is "Compressed segmentation format" in the sources of Neuroglancer. The package
// is safe for concurrent use.
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
// size is the size of the chunk and block that of a block, both in voxels, in the order x, y, z. A chunk that is
// clipped at the edge of the volume has the clipped size, but its blocks are stored whole. bytesPerValue is 4
// (uint32) or 8 (uint64).
//
// Decode writes little-endian labels to dst, with x fastest and the channel slowest. dst must have exactly
// size·channels·bytesPerValue bytes. Its content is undefined after an error. Decode does not modify or retain data.
// If data is invalid, the error is a [*volume.FormatError] with a byte offset in data.
func Decode(data []byte, size [3]int, block [3]int, channels int, bytesPerValue int, dst []byte) error {
	if min(size[0], size[1], size[2], block[0], block[1], block[2], channels) < 1 {
		return fmt.Errorf(
			"compressed_segmentation: %d channels of %v voxels in blocks of %v: expected 1 or more of each", channels,
			size, block)
	}
	if bytesPerValue != 4 && bytesPerValue != 8 {
		return fmt.Errorf("compressed_segmentation: %d bytes per value: expected 4 or 8", bytesPerValue)
	}
	channelBytes := product(size[0], size[1], size[2], bytesPerValue)
	if product(channelBytes, channels) != len(dst) {
		return fmt.Errorf("compressed_segmentation: %d bytes for %d channels of %v voxels of %d bytes", len(dst),
			channels, size, bytesPerValue)
	}
	if len(data)%wordBytes != 0 || len(data)/wordBytes < channels {
		return invalid("chunk", 0, fmt.Sprintf("whole words of %d bytes, %d or more", wordBytes, channels),
			fmt.Sprintf("%d bytes", len(data)))
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
	data   []byte // from the start of the channel to the end of the chunk
	offset int    // of data, in the chunk

	size, block, grid [3]int
	blockVoxels       int
	width             int // bytes of a label
}

// openChannel returns a channel. It checks that the chunk has all headers of its blocks.
func openChannel(data []byte, number int, size, block [3]int, width int) (*channel, error) {
	words := int(binary.LittleEndian.Uint32(data[number*wordBytes:]))
	c := &channel{number: number, size: size, block: block, width: width}
	for axis := range c.grid {
		c.grid[axis] = (size[axis]-1)/block[axis] + 1
	}
	c.blockVoxels = product(block[0], block[1], block[2])
	// There are at most as many blocks as voxels, so this does not overflow.
	headers := c.grid[0] * c.grid[1] * c.grid[2] * headerBytes
	if last := len(data) - headers; last < 0 || words > last/wordBytes {
		return nil, invalid(fmt.Sprintf("offset of channel %d", number), number*wordBytes,
			fmt.Sprintf("room for %v block headers in a chunk of %d bytes", c.grid, len(data)),
			fmt.Sprintf("%d words", words))
	}
	c.offset = words * wordBytes
	c.data = data[c.offset:]
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

// decodeBlock decodes block b into dst, which has the voxels of the channel. The header of b is at byte at of the
// channel.
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
		return c.fault(b, "values offset", at+wordBytes,
			fmt.Sprintf("room for %d bits for each of %v voxels in a channel of %d words", indexBits, c.block, words),
			values)
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
		return c.fault(b, "index into the table", values*wordBytes,
			fmt.Sprintf("less than %d, the labels from word %d to the end", len(labels)/c.width, table), index)
	}
	return nil
}

// region returns the part of block b that is inside the chunk.
func (c *channel) region(b [3]int) region {
	r := region{block: c.block, width: c.width, row: c.size[0] * c.width, plane: c.size[0] * c.size[1] * c.width}
	for axis := range r.size {
		start := b[axis] * c.block[axis]
		r.size[axis] = min(c.block[axis], c.size[axis]-start)
		r.offset += start * [...]int{c.width, r.row, r.plane}[axis]
	}
	return r
}

// fault returns the error for a number of block b, at byte at of the channel.
func (c *channel) fault(b [3]int, part string, at int, expected string, found int) error {
	return invalid(fmt.Sprintf("%s of block %v, channel %d,", part, b, c.number), c.offset+at, expected,
		fmt.Sprint(found))
}

// product multiplies numbers ≥ 1. It returns the largest int if the product overflows.
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
