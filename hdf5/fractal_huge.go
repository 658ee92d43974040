package hdf5

import "fmt"

// hugeObject returns an object that has its own place in the file.
func (h *fractalHeap) hugeObject(c *cursor) ([]byte, error) {
	o, l := h.f.o, h.f.l
	inside := h.idBytes-1 >= o+l // the ID has the place itself
	if h.filters != nil {
		inside = h.idBytes-1 >= o+2*l+4
	}
	if !inside {
		record, err := h.hugeRecord(c.uint(min(8, min(l, h.idBytes-1)), "key"))
		if err != nil {
			return nil, err
		}
		c = &cursor{sizes: c.sizes, b: record, addr: h.hugeTree, what: "record of a huge object"}
	}
	addr, stored := c.address("address"), c.length("length")
	if c.err != nil {
		return nil, c.err
	}
	if err := h.spend(stored); err != nil {
		return nil, err
	}
	if h.filters == nil {
		return h.f.bytes("huge object", addr, stored)
	}
	mask, size := c.u32("filter mask"), c.length("decoded length")
	if c.err == nil && size > maxHeapBlock {
		c.bad("decoded length", fmt.Sprintf("at most %d", maxHeapBlock), size)
	}
	if c.err != nil {
		return nil, c.err
	}
	b, err := h.f.bytes("huge object", addr, stored)
	if err == nil {
		err = h.spend(size)
	}
	if err != nil {
		return nil, err
	}
	decoded := make([]byte, size)
	if err := decodeFilters(h.filters, int(size), decoded, b, mask); err != nil {
		return nil, filterError(addr, "huge object", err)
	}
	return decoded, nil
}

// hugeRecord returns the record of a key.
func (h *fractalHeap) hugeRecord(key uint64) ([]byte, error) {
	if h.huge == nil {
		t, err := h.f.tree2("B-tree of huge objects", h.hugeTree, 1, 2)
		if err != nil {
			return nil, err
		}
		all := map[uint64][]byte{}
		err = t.each(func(c *cursor) error {
			c.at = max(0, len(c.b)-h.f.l) // the key is the last
			if all[c.length("key")] = c.b; len(all) > h.f.limit.names {
				return notSupported("a heap of more than %d huge objects", h.f.limit.names)
			}
			return c.err
		}, stop)
		if err != nil {
			return nil, err
		}
		h.huge = all
	}
	record, ok := h.huge[key]
	if !ok {
		return nil, &FormatError{Address: h.hugeTree, Field: "B-tree of huge objects",
			Expected: fmt.Sprintf("the key %d", key),
			Found:    "none"}
	}
	return record, nil
}
