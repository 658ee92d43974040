package hdf5

import "fmt"

// sharedIndex is an index of the table of shared messages (III.H): messages of some types are in one heap.
type sharedIndex struct {
	types uint16
	heap  uint64
}

// readShared reads the table of shared messages.
func (f *File) readShared() error {
	if f.super.sharedAt == undefined {
		return nil
	}
	n := f.super.sharedN
	c, err := f.at("table of shared messages", f.super.sharedAt, uint64(4+n*(14+2*f.o)+4))
	if err != nil {
		return err
	}
	c.signature("SMTB")
	for range n {
		c.skip(2) // version, kind of index
		x := sharedIndex{types: c.u16("types of messages")}
		c.skip(4 + 2 + 2 + 2) // sizes and counts
		c.address("index")
		x.heap = c.address("heap")
		f.share = append(f.share, x)
	}
	c.sum()
	return c.err
}

// resolve returns the message that m stands for: itself, unless it is shared (IV.A.2, "shared message").
func (f *File) resolve(m message) (message, error) {
	if m.flags&flagShared == 0 {
		return m, nil
	}
	return f.shared(f.body(m, "shared message"), m.kind)
}

// shared reads a reference to a shared message of a kind.
func (f *File) shared(c *cursor, kind uint16) (message, error) {
	version := c.expect("version", 1, 2, 3)
	where := c.u8("type")
	if version == 1 {
		c.skip(6)
	}
	if version == 3 && where == 1 {
		id := c.take(8, "heap ID")
		if c.err != nil {
			return message{}, c.err
		}
		return f.sharedInHeap(id, kind)
	}
	addr := c.address("address")
	if c.err != nil {
		return message{}, c.err
	}
	h, err := f.header(addr)
	if err != nil {
		return message{}, err
	}
	m, ok := h.first(kind)
	if !ok || m.flags&flagShared != 0 {
		return message{}, &FormatError{Address: addr, Field: "shared message",
			Expected: fmt.Sprintf("a message of type %d", kind), Found: "none"}
	}
	return m, nil
}

// sharedInHeap returns a message of the heap for its kind.
func (f *File) sharedInHeap(id []byte, kind uint16) (message, error) {
	for _, x := range f.share {
		if x.types&(1<<kind) == 0 || x.heap == undefined {
			continue
		}
		heap, err := f.fractalHeap(x.heap)
		if err != nil {
			return message{}, err
		}
		b, err := heap.object(id)
		return message{kind: kind, body: b, addr: x.heap}, err
	}
	return message{}, &FormatError{Address: f.super.sharedAt, Field: "table of shared messages",
		Expected: fmt.Sprintf("a heap for messages of type %d", kind), Found: "none"}
}
