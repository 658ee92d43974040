package hdf5

import (
	"bytes"
	"errors"
	"fmt"
)

// Attribute is an attribute of an object (IV.A.2.m).
type Attribute struct {
	Name  string
	Type  Datatype
	Shape []uint64 // slowest axis first; empty if it is one value
	Null  bool     // it has no value

	file *File
	path string // of the object
	addr uint64
	n    uint64 // values
	data []byte
}

// Attribute implements [Object].
func (o *object) Attribute(name string) (*Attribute, bool, error) {
	all, failed := o.attributeMessages()
	for _, m := range all {
		a, c := o.file.attributeStart(m)
		if c.err != nil || a.Name != name {
			continue
		}
		err := o.file.attributeRest(a, c)
		a.path = o.path
		return a, true, named(o.attributePath(name), err)
	}
	return nil, false, failed
}

// Attributes implements [Object].
func (o *object) Attributes() ([]*Attribute, error) {
	messages, failed := o.attributeMessages()
	var all []*Attribute
	for _, m := range messages {
		a, c := o.file.attributeStart(m)
		err := c.err
		if err == nil {
			err = o.file.attributeRest(a, c)
		}
		if a.path = o.path; err == nil {
			all = append(all, a)
		} else if failed == nil {
			failed = named(o.attributePath(a.Name), err)
		}
	}
	return all, failed
}

func (o *object) attributePath(name string) string {
	return fmt.Sprintf("%s: attribute %s", o.path, shorten(name))
}

// attributeMessages returns the messages of all attributes that can be found.
func (o *object) attributeMessages() ([]message, error) {
	x := o.attributes
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.read {
		return x.all, x.failed
	}
	all, err := o.file.attributeMessages(o.header)
	err = named(o.path, err)
	var format *FormatError
	var unsupported *NotSupportedError
	if err == nil || errors.As(err, &format) || errors.As(err, &unsupported) { // else reading may work again
		x.all, x.failed, x.read = all, err, true
	}
	return all, err
}

// attributeMessages returns the messages in a header and in its fractal heap.
func (f *File) attributeMessages(h *header) (all []message, failed error) {
	bytes := 0
	for _, m := range h.messages {
		var err error
		switch m.kind {
		case msgAttribute:
			shared := m.flags&flagShared != 0
			if m, err = f.resolve(m); err == nil {
				all = append(all, m)
			}
			if bytes += len(m.body); shared && bytes > f.limit.nameBytes {
				return all, f.tooLarge()
			}
		case msgAttributeInfo:
			var dense []message
			dense, err = f.denseAttributes(m)
			all = append(all, dense...)
		}
		if failed == nil {
			failed = err
		}
	}
	return all, failed
}

// denseAttributes reads the attributes in a fractal heap (IV.A.2.v).
func (f *File) denseAttributes(m message) ([]message, error) {
	c := f.body(m, "attribute info")
	c.expect("version", 0)
	if c.u8("flags")&1 != 0 {
		c.skip(2) // greatest order of creation
	}
	at, names := c.address("fractal heap"), c.address("index of names")
	if c.err != nil || at == undefined {
		return nil, c.err
	}
	heap, err := f.fractalHeap(at)
	if err != nil {
		return nil, err
	}
	t, err := f.tree2("B-tree of attributes", names, 8)
	if err != nil {
		return nil, err
	}
	var all []message
	var failed error
	bytes := 0
	err = t.each(func(c *cursor) error {
		id, flags := c.take(8, "heap ID"), c.u8("flags")
		if c.err != nil {
			return c.err
		}
		if len(all) >= f.limit.names || bytes > f.limit.nameBytes {
			return f.tooLarge()
		}
		m := message{kind: msgAttribute, addr: at}
		var err error
		if flags&flagShared != 0 {
			m, err = f.sharedInHeap(id, msgAttribute)
		} else {
			m.body, err = heap.object(id)
		}
		if bytes += len(m.body); err == nil {
			all = append(all, m)
		} else if failed == nil {
			failed = err
		}
		return nil
	}, stop)
	if err == nil {
		err = failed
	}
	return all, err
}

func (f *File) tooLarge() error {
	return notSupported("an object of more than %d attributes or %d bytes of them", f.limit.names, f.limit.nameBytes)
}

// maxValues is the most bytes of an attribute.
const maxValues = 32 << 20

// attributeParts are the bytes of the parts of an attribute message.
type attributeParts struct {
	*cursor
	padded bool
	flags  uint8
	sizes  [2]int // of the datatype and the dataspace
}

// attributeStart reads an attribute up to its name.
func (f *File) attributeStart(m message) (*Attribute, *attributeParts) {
	c := &attributeParts{cursor: f.body(m, "attribute")}
	version := c.expect("version", 1, 2, 3)
	c.flags = c.u8("flags")
	n := int(c.u16("bytes of the name"))
	c.sizes = [2]int{int(c.u16("bytes of the datatype")), int(c.u16("bytes of the dataspace"))}
	if version == 3 {
		c.skip(1) // character set
	}
	if c.padded = version == 1; c.padded {
		c.flags = 0
	}
	name, _, _ := bytes.Cut(c.part(n, "name"), []byte{0})
	return &Attribute{Name: string(name), file: f, addr: m.addr}, c
}

// part reads n bytes, and the padding after them.
func (c *attributeParts) part(n int, field string) []byte {
	b := c.take(n, field)
	if c.padded {
		c.skip(-n & 7)
	}
	return b
}

// attributeRest reads the datatype, the dataspace and the values.
func (f *File) attributeRest(a *Attribute, c *attributeParts) error {
	parts := [2]message{{kind: msgType}, {kind: msgSpace}}
	for i := range parts {
		parts[i].addr = c.addr + uint64(c.at)
		parts[i].body = c.part(c.sizes[i], "datatype or dataspace")
		if c.flags&(1<<i) != 0 {
			parts[i].flags = flagShared
		}
	}
	if c.err != nil {
		return c.err
	}
	var err error
	if a.Type, err = f.readType(parts[0]); err != nil {
		return err
	}
	s, err := f.readSpace(parts[1])
	if err != nil {
		return err
	}
	a.Shape, a.Null, a.n = s.dims, s.null, s.elements
	size, ok := product(s.elements, uint64(a.Type.Size))
	if !ok || size > uint64(c.left()) {
		c.bad("values", fmt.Sprintf("at most %d bytes", c.left()), size)
		return c.err
	}
	if size > maxValues {
		return notSupported("an attribute of %d bytes: more than %d", size, maxValues)
	}
	a.data = c.take(int(size), "values")
	return c.err
}
