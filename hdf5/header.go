package hdf5

import "fmt"

// The messages of object headers (IV.A.2).
const (
	msgSpace           = 0x01
	msgLinkInfo        = 0x02
	msgType            = 0x03
	msgOldFill         = 0x04
	msgFill            = 0x05
	msgLink            = 0x06
	msgExternal        = 0x07
	msgLayout          = 0x08
	msgGroupInfo       = 0x0A
	msgFilters         = 0x0B
	msgAttribute       = 0x0C
	msgSharedTable     = 0x0F
	msgContinuation    = 0x10
	msgSymbolTable     = 0x11
	msgTreeK           = 0x13
	msgDriver          = 0x14
	msgAttributeInfo   = 0x15
	msgCacheImage      = 0x18
	msgLast            = 0x18
	flagShared         = 1 << 1
	flagMustUnderstand = 1 << 7
)

// message is a message of an object header.
type message struct {
	kind  uint16
	flags uint8
	body  []byte
	addr  uint64 // of body
}

// header is an object header (IV.A.1), with the messages of its continuations.
type header struct {
	addr     uint64
	messages []message
}

// block is a part of a header.
type block struct{ addr, length uint64 }

// headerReader reads one object header.
type headerReader struct {
	f       *File
	h       *header
	version uint8
	ordered bool // version 2: messages have an order
	blocks  []block
	seen    map[uint64]bool
	bytes   uint64
}

// first returns the first message of a kind.
func (h *header) first(kind uint16) (message, bool) {
	for _, m := range h.messages {
		if m.kind == kind {
			return m, true
		}
	}
	return message{}, false
}

// header reads the object header at an address.
func (f *File) header(addr uint64) (*header, error) {
	r := &headerReader{f: f, h: &header{addr: addr}, seen: map[uint64]bool{}}
	c, err := f.upTo("object header", addr, 64)
	if err != nil {
		return nil, err
	}
	if len(c.b) > 0 && c.b[0] == 'O' {
		err = r.readVersion2(c)
	} else {
		err = r.readVersion1(c)
	}
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(r.blocks); i++ { // it grows
		if err := r.readBlock(r.blocks[i]); err != nil {
			return nil, err
		}
	}
	return r.h, nil
}

func (r *headerReader) readVersion1(c *cursor) error {
	c.expect("version", 1)
	c.skip(1)
	c.u16("number of messages") // the length says it, too
	c.u32("references")
	size := c.u32("size")
	c.skip(4)
	if c.err != nil {
		return c.err
	}
	r.version = 1
	return r.messages("object header", block{r.h.addr + uint64(c.at), uint64(size)}, 0)
}

func (r *headerReader) readVersion2(c *cursor) error {
	c.signature("OHDR")
	c.expect("version", 2)
	flags := c.u8("flags")
	if flags&(1<<5) != 0 {
		c.skip(16) // times
	}
	if flags&(1<<4) != 0 {
		c.skip(4) // when attributes become dense
	}
	size := c.uint(1<<(flags&3), "size")
	if c.err != nil {
		return c.err
	}
	r.version, r.ordered = 2, flags&(1<<2) != 0
	start := uint64(c.at)
	if size > maxRead {
		c.bad("size", fmt.Sprintf("at most %d", maxRead), size)
		return c.err
	}
	return r.messages("object header", block{r.h.addr, start + size + 4}, int(start))
}

// readBlock reads a continuation (IV.A.2.q).
func (r *headerReader) readBlock(b block) error {
	if r.version == 1 {
		return r.messages("object header continuation", b, 0)
	}
	return r.messages("object header continuation", b, len("OCHK"))
}

// messages reads the messages of a block. In version 2, start bytes are before them, and a checksum is after them.
func (r *headerReader) messages(what string, b block, start int) error {
	if r.bytes += b.length; b.length > uint64(r.f.limit.headerBytes) || r.bytes > uint64(r.f.limit.headerBytes) {
		return &FormatError{Address: b.addr, Field: what + ": size", Expected: "a header of at most " +
			fmt.Sprint(r.f.limit.headerBytes), Found: r.bytes}
	}
	if r.seen[b.addr] {
		return &FormatError{Address: b.addr, Field: what, Expected: "a block that is not yet part of the header",
			Found: "a loop"}
	}
	r.seen[b.addr] = true
	c, err := r.f.at(what, b.addr, b.length)
	if err != nil {
		return err
	}
	head, tail := 8, 0
	if r.version == 2 {
		head, tail = 4, 4
		if r.ordered {
			head = 6
		}
		if what != "object header" {
			c.signature("OCHK")
		}
		if c.at = len(c.b) - tail; c.at < start {
			c.at = 0
			c.bad("size", fmt.Sprintf("%d bytes or more", start+tail), len(c.b))
			return c.err
		}
		if c.sum(); c.err != nil {
			return c.err
		}
		c.b, c.at = c.b[:len(c.b)-tail], start
	}
	for c.err == nil && c.left() >= head {
		r.message(c)
	}
	return c.err
}

// message reads one message.
func (r *headerReader) message(c *cursor) {
	m := message{}
	if r.version == 1 {
		m.kind = c.u16("type of a message")
	} else {
		m.kind = uint16(c.u8("type of a message"))
	}
	size := int(c.u16("size of a message"))
	m.flags = c.u8("flags of a message")
	if r.version == 1 {
		c.skip(3)
	} else if r.ordered {
		c.skip(2)
	}
	m.addr = c.addr + uint64(c.at)
	m.body = c.take(size, "a message")
	switch {
	case c.err != nil:
	case m.kind == msgContinuation:
		body := r.f.body(m, "continuation")
		b := block{body.address("address"), body.length("length")}
		if c.err = body.err; c.err == nil {
			r.blocks = append(r.blocks, b)
		}
	case m.kind > msgLast && m.flags&flagMustUnderstand != 0:
		c.err = notSupported("a message of type %d in its header", m.kind)
	case len(r.h.messages) >= r.f.limit.messages:
		c.bad("messages", fmt.Sprintf("at most %d", r.f.limit.messages), "more")
	default:
		r.h.messages = append(r.h.messages, m)
	}
}

// body returns a cursor over the body of a message.
func (f *File) body(m message, what string) *cursor {
	return &cursor{sizes: f.sizes, b: m.body, addr: m.addr, what: what}
}
