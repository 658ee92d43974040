package compresso

import (
	"encoding/binary"
	"fmt"
)

const (
	headerBytes   = 36
	maxWindowBits = 64
)

// header is the header of a chunk.
type header struct {
	version      byte
	width        int    // bytes of a label
	size         [3]int // in voxels
	step         [3]int // size of a window in voxels
	grid         [3]int // size in windows
	connectivity int    // 4: components are two-dimensional, in a slice; 6: three-dimensional
	indexBytes   int    // of the index after the windows
}

// parse parses the header, and splits the rest into sections.
func parse(data []byte) (*chunk, error) {
	if len(data) < headerBytes {
		return nil, invalid("header", 0, fmt.Sprintf("%d bytes", headerBytes), fmt.Sprintf("%d", len(data)))
	}
	if string(data[:4]) != "cpso" {
		return nil, invalid("magic", 0, `"cpso"`, fmt.Sprintf("%q", data[:4]))
	}
	c := &chunk{header: header{version: data[4], width: int(data[5]), connectivity: int(data[35])}}
	if c.version > 1 {
		return nil, invalid("format version", 4, "0 or 1", fmt.Sprint(c.version))
	}
	switch c.width {
	case 1, 2, 4, 8:
	default:
		return nil, invalid("bytes of a label", 5, "1, 2, 4 or 8", fmt.Sprint(c.width))
	}
	if c.connectivity != 4 && c.connectivity != 6 {
		return nil, invalid("connectivity", 35, "4 or 6", fmt.Sprint(c.connectivity))
	}
	for axis := range c.size {
		c.size[axis] = int(binary.LittleEndian.Uint16(data[6+2*axis:]))
		c.step[axis] = int(data[12+axis])
	}
	windowBits := c.step[0] * c.step[1] * c.step[2]
	if windowBits < 1 || windowBits > maxWindowBits {
		return nil, invalid("window size", 12, fmt.Sprintf("1 to %d voxels", maxWindowBits), fmt.Sprint(c.step))
	}
	for axis := range c.grid {
		c.grid[axis] = (c.size[axis] + c.step[axis] - 1) / c.step[axis]
	}
	return c, c.split(data, smallestWidth(uint64(1)<<(windowBits-1)))
}

// split splits the bytes after the header into sections.
func (c *chunk) split(data []byte, windowWidth int) error {
	start := headerBytes
	for _, s := range []struct {
		*section
		name  string
		count uint64
		field int // offset of count
		width int
	}{
		{&c.ids, "id", binary.LittleEndian.Uint64(data[15:]), 15, c.width},
		{&c.values, "value", uint64(binary.LittleEndian.Uint32(data[23:])), 23, windowWidth},
		{&c.locations, "location", binary.LittleEndian.Uint64(data[27:]), 27, c.width},
	} {
		if room := uint64((len(data) - start) / s.width); s.count > room {
			return invalid("number of "+s.name+"s", s.field, fmt.Sprintf("at most %d in a chunk of %d bytes", room,
				len(data)), fmt.Sprint(s.count))
		}
		end := start + int(s.count)*s.width
		*s.section = section{s.name, data[start:end], start, s.width}
		start = end
	}
	if c.version == 1 {
		c.indexBytes = 2 * c.size[2] * smallestWidth(2*uint64(c.size[0])*uint64(c.size[1]))
	}
	end := len(data) - c.indexBytes
	if end < start {
		return invalid("index", start, fmt.Sprintf("%d bytes", c.indexBytes), fmt.Sprint(len(data)-start))
	}
	c.windows = section{"window", data[start:end], start, windowWidth}
	return nil
}

// check compares the header with the arguments of Decode.
func (c *chunk) check(size [3]int, width int) error {
	if c.width != width {
		return invalid("bytes of a label", 5, fmt.Sprint(width), fmt.Sprint(c.width))
	}
	if c.size != size {
		return invalid("size", 6, fmt.Sprint(size), fmt.Sprint(c.size))
	}
	return nil
}

// checkEnd checks that the first n numbers of the windows are all of them.
func (c *chunk) checkEnd(n int) error {
	if rest := len(c.windows.data) - n*c.windows.width; rest != 0 {
		return c.windows.fault(n, fmt.Sprintf("the end of the windows, %d bytes before the end of the chunk",
			c.indexBytes), fmt.Sprintf("%d more bytes", rest))
	}
	return nil
}

// smallestWidth returns the bytes of the smallest integer type for n.
func smallestWidth(n uint64) int {
	switch {
	case n < 1<<8:
		return 1
	case n < 1<<16:
		return 2
	case n < 1<<32:
		return 4
	}
	return 8
}
