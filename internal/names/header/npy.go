package header

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// NPY returns the header of a NumPy array file, format 1.0:
//
//	0  6  "\x93NUMPY"
//	6  2  version 1, 0
//	8  2  length of the rest of the header, little-endian
//	10    a Python dictionary, spaces, a newline
//
// The shape is (X, Y, Z), or (C, X, Y, Z) if there are several channels. T is the last axis of an array of times. The
// specification requires a header of a multiple of 64 bytes, and NumPy limits the dictionary to 10,000 bytes. [Align]
// satisfies both.
func NPY(a Array) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	g := a.Grid
	shape := fmt.Sprintf("%d, %d, %d", g.Size[0], g.Size[1], g.Size[2])
	if g.Channels > 1 {
		shape = fmt.Sprintf("%d, %s", g.Channels, shape)
	}
	if a.Times > 0 {
		shape = fmt.Sprintf("%s, %d", shape, a.Times)
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': True, 'shape': (%s), }", g.Type.Descr(), shape)

	h := make([]byte, 0, Align)
	h = append(h, "\x93NUMPY\x01\x00"...)
	h = binary.LittleEndian.AppendUint16(h, Align-10)
	h = append(h, dict...)
	h = append(h, strings.Repeat(" ", Align-len(h)-1)...)
	return append(h, '\n'), nil
}
