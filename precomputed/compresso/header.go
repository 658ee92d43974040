package compresso

import (
	"encoding/binary"
	"fmt"
)

const (
	headerBytes   = 36
	maxWindowBits = 64
)

// header is the chunk's own description of itself.
type header struct {
	version      byte
	width        int    // bytes of a label
	size         [3]int // voxels
	step         [3]int // a window in voxels
	grid         [3]int // windows on each axis
	connectivity int    // 4: components are found slice by slice; 6: in three dimensions
	indexBytes   int    // of the index behind the windows
}

// parse reads the header and finds the sections.
func parse(data []byte) (*chunk, error) {
	if len(data) < headerBytes {
		return nil, &FormatError{"header", 0, fmt.Sprintf("%d bytes", headerBytes), fmt.Sprintf("%d", len(data))}
	}
	if string(data[:4]) != "cpso" {
		return nil, &FormatError{"magic", 0, `"cpso"`, fmt.Sprintf("%q", data[:4])}
	}
	c := &chunk{header: header{version: data[4], width: int(data[5]), connectivity: int(data[35])}}
	if c.version > 1 {
		return nil, &FormatError{"format version", 4, "0 or 1", fmt.Sprint(c.version)}
	}
	switch c.width {
	case 1, 2, 4, 8:
	default:
		return nil, &FormatError{"bytes of a label", 5, "1, 2, 4 or 8", fmt.Sprint(c.width)}
	}
	if c.connectivity != 4 && c.connectivity != 6 {
		return nil, &FormatError{"connectivity", 35, "4 or 6", fmt.Sprint(c.connectivity)}
	}
	for axis := range c.size {
		c.size[axis] = int(binary.LittleEndian.Uint16(data[6+2*axis:]))
		c.step[axis] = int(data[12+axis])
	}
	windowBits := c.step[0] * c.step[1] * c.step[2]
	if windowBits < 1 || windowBits > maxWindowBits {
		return nil, &FormatError{"window size", 12, fmt.Sprintf("1 to %d voxels", maxWindowBits), fmt.Sprint(c.step)}
	}
	for axis := range c.grid {
		c.grid[axis] = (c.size[axis] + c.step[axis] - 1) / c.step[axis]
	}
	return c, c.split(data, smallestWidth(uint64(1)<<(windowBits-1)))
}

// split cuts what is behind the header into sections.
func (c *chunk) split(data []byte, windowWidth int) error {
	begin := headerBytes
	for _, s := range []struct {
		*section
		name  string
		count uint64
		field int // byte of count
		width int
	}{
		{&c.ids, "id", binary.LittleEndian.Uint64(data[15:]), 15, c.width},
		{&c.values, "value", uint64(binary.LittleEndian.Uint32(data[23:])), 23, windowWidth},
		{&c.locations, "location", binary.LittleEndian.Uint64(data[27:]), 27, c.width},
	} {
		if room := uint64((len(data) - begin) / s.width); s.count > room {
			return &FormatError{"number of " + s.name + "s", s.field, fmt.Sprintf("at most %d in a chunk of %d bytes", room, len(data)), fmt.Sprint(s.count)}
		}
		end := begin + int(s.count)*s.width
		*s.section = section{s.name, data[begin:end], begin, s.width}
		begin = end
	}
	if c.version == 1 {
		c.indexBytes = 2 * c.size[2] * smallestWidth(2*uint64(c.size[0])*uint64(c.size[1]))
	}
	end := len(data) - c.indexBytes
	if end < begin {
		return &FormatError{"index", begin, fmt.Sprintf("%d bytes", c.indexBytes), fmt.Sprint(len(data) - begin)}
	}
	c.windows = section{"window", data[begin:end], begin, windowWidth}
	return nil
}

// check compares the header with what the chunk has to be.
func (c *chunk) check(size [3]int, width int) error {
	if c.width != width {
		return &FormatError{"bytes of a label", 5, fmt.Sprint(width), fmt.Sprint(c.width)}
	}
	if c.size != size {
		return &FormatError{"size", 6, fmt.Sprint(size), fmt.Sprint(c.size)}
	}
	return nil
}

// checkIndex makes sure that the windows, of which read entries were needed, end where
// the index begins.
func (c *chunk) checkIndex(read int) error {
	if rest := len(c.windows.data) - read*c.windows.width; rest != 0 {
		return c.windows.fault(read, fmt.Sprintf("the end of the windows, %d bytes before the chunk's", c.indexBytes), fmt.Sprintf("%d more bytes", rest))
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
