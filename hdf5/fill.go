package hdf5

import "fmt"

// readFill returns the fill value of a dataset (IV.A.2.e, f), or nil: then it is zeros.
func (f *File) readFill(h *header, size int) ([]byte, error) {
	m, ok := h.first(msgFill)
	if !ok {
		if m, ok = h.first(msgOldFill); !ok {
			return nil, nil
		}
	}
	old := m.kind == msgOldFill
	m, err := f.resolve(m)
	if err != nil {
		return nil, err
	}
	c := f.body(m, "fill value")
	defined := true
	if !old {
		switch c.expect("version", 1, 2, 3) {
		case 1:
			c.skip(2) // when space is allocated, when the value is written
			c.u8("defined")
		case 2:
			c.skip(2)
			defined = c.u8("defined") != 0
		case 3:
			defined = c.u8("flags")&(1<<5) != 0
		}
	}
	if c.err != nil || !defined {
		return nil, c.err
	}
	n := int32(c.u32("size"))
	if n <= 0 { // -1: not defined
		return nil, c.err
	}
	value := c.take(int(n), "value")
	if c.err == nil && len(value) != size {
		c.bad("size", fmt.Sprintf("that of an element, %d bytes", size), n)
	}
	return value, c.err
}
