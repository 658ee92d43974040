package hdf5

import (
	"bytes"
	"fmt"
)

// symbolReader reads the links of a group with a symbol table (III.A.1, III.B to III.D).
type symbolReader struct {
	f     *File
	heap  []byte // names
	start uint64 // address of heap
	links []link
	bytes int // of their names
	seen  map[uint64]bool
}

// symbolTable reads the links that a symbol table message has.
func (f *File) symbolTable(m message) ([]link, error) {
	c := f.body(m, "symbol table")
	tree, heap := c.address("B-tree"), c.address("local heap")
	if c.err != nil {
		return nil, c.err
	}
	r := &symbolReader{f: f, seen: map[uint64]bool{}}
	if err := r.readHeap(heap); err != nil {
		return nil, err
	}
	return r.links, r.node(tree, -1)
}

// readHeap reads a local heap.
func (r *symbolReader) readHeap(addr uint64) error {
	f := r.f
	c, err := f.at("local heap", addr, uint64(8+2*f.l+f.o))
	if err != nil {
		return err
	}
	c.signature("HEAP")
	c.expect("version", 0)
	c.skip(3)
	size := c.length("size of the data")
	c.length("free list")
	r.start = c.address("data")
	if c.err != nil {
		return c.err
	}
	r.heap, err = f.bytes("local heap", r.start, size)
	return err
}

// node reads a node of a B-tree 1 for groups. level is -1 for the root.
func (r *symbolReader) node(addr uint64, level int) error {
	f := r.f
	if r.seen[addr] || len(r.seen) >= f.limit.nodes {
		return &FormatError{Address: addr, Field: "B-tree of a group", Expected: "a node that is not yet part of it",
			Found: "a loop"}
	}
	r.seen[addr] = true
	const what = "B-tree of a group"
	most := 2 * f.super.groupK
	c, err := f.upTo(what, addr, uint64(f.treeNodeBytes(most, f.l)))
	if err != nil {
		return err
	}
	n, err := readTreeNode(c, treeGroup, level, most)
	if err != nil {
		return err
	}
	for range n.used {
		n.c.length("key")
		child := n.c.address("child")
		if n.c.err != nil {
			return n.c.err
		}
		if n.level > 0 {
			err = r.node(child, n.level-1)
		} else {
			err = r.symbols(child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// symbols reads a symbol table node.
func (r *symbolReader) symbols(addr uint64) error {
	f := r.f
	if r.seen[addr] || len(r.seen) >= f.limit.nodes {
		return &FormatError{Address: addr, Field: "symbol node",
			Expected: "a node that is not yet part of the group", Found: "a loop"}
	}
	r.seen[addr] = true
	size := 2*f.o + 24
	c, err := f.upTo("symbol node", addr, uint64(8+2*f.super.groupLeafK*size))
	if err != nil {
		return err
	}
	c.signature("SNOD")
	c.expect("version", 1)
	c.skip(1)
	n := int(c.u16("number of symbols"))
	if n > 2*f.super.groupLeafK {
		c.bad("number of symbols", fmt.Sprintf("at most %d", 2*f.super.groupLeafK), n)
	}
	for range n {
		if c.err != nil {
			break
		}
		r.symbol(c)
	}
	return c.err
}

// symbol reads an entry of a symbol table.
func (r *symbolReader) symbol(c *cursor) {
	l := link{name: r.string(c, c.ones(r.f.o, "offset of the name"))}
	l.addr = c.address("object header")
	kind := c.u32("cache type")
	c.skip(4)
	scratch := cursor{sizes: c.sizes, b: c.take(16, "scratch pad"), what: c.what}
	if kind == 2 {
		l.kind = linkSoft
		l.target = r.string(c, uint64(scratch.u32("offset of the path")))
	}
	r.bytes += len(l.name) + len(l.target)
	if c.err == nil && (len(r.links) >= r.f.limit.names || r.bytes > r.f.limit.nameBytes) {
		c.err = r.f.tooMany()
	}
	r.links = append(r.links, l)
}

// string returns a name of the heap.
func (r *symbolReader) string(c *cursor, at uint64) string {
	if c.err != nil {
		return ""
	}
	if at < uint64(len(r.heap)) {
		if i := bytes.IndexByte(r.heap[at:], 0); i >= 0 {
			return string(r.heap[at : at+uint64(i)])
		}
	}
	c.bad("name", fmt.Sprintf("an offset in a heap of %d bytes", len(r.heap)), at)
	return ""
}

// The types of B-tree 1.
const (
	treeGroup  = 0
	treeChunks = 1
)

// treeNode is a node of a B-tree 1 (III.A.1). The cursor is at its first key.
type treeNode struct {
	c     *cursor
	level int
	used  int
}

// treeNodeBytes returns the bytes of a node of most entries.
func (f *File) treeNodeBytes(most, keyBytes int) int {
	return 8 + 2*f.o + most*(f.o+keyBytes) + keyBytes
}

// readTreeNode reads the start of a node of at most most entries. level is the expected one, or -1.
func readTreeNode(c *cursor, kind uint8, level, most int) (treeNode, error) {
	c.signature("TREE")
	c.expect("type", kind)
	n := treeNode{c: c, level: int(c.u8("level"))}
	if level >= 0 && n.level != level {
		c.bad("level", level, n.level)
	}
	if n.used = int(c.u16("entries")); n.used > most {
		c.bad("entries", fmt.Sprintf("at most %d", most), n.used)
	}
	c.address("left sibling")
	c.address("right sibling")
	return n, c.err
}
