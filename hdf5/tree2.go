package hdf5

import (
	"fmt"
	"math/bits"
	"slices"
)

// tree2 is a B-tree of version 2 (III.A.2).
type tree2 struct {
	f          *File
	what       string
	kind       uint8
	nodeBytes  uint64
	recordSize int
	depth      int
	root       uint64
	rootCount  int
	total      uint64

	most       []int // records of a node, by height: a leaf first
	countWidth int   // bytes of the number of records of a child
	totalWidth []int // bytes of the records below a child, by its height

	seen   map[uint64]bool
	inside func(before, after []byte) bool // of a child: it is to be read; nil: all are
}

const (
	tree2Overhead = 10 // bytes of a node besides records and pointers
	maxTree2Depth = 24
	maxTree2Node  = 16 << 20
)

// tree2 reads the header of a B-tree.
func (f *File) tree2(what string, addr uint64, kinds ...uint8) (*tree2, error) {
	c, err := f.at(what, addr, uint64(22+f.o+f.l))
	if err != nil {
		return nil, err
	}
	t := &tree2{f: f, what: what, seen: map[uint64]bool{}}
	c.signature("BTHD")
	c.expect("version", 0)
	t.kind = c.expect("type", kinds...)
	t.nodeBytes = uint64(c.u32("bytes of a node"))
	t.recordSize = int(c.u16("bytes of a record"))
	t.depth = int(c.u16("depth"))
	c.skip(2)
	t.root = c.address("root")
	t.rootCount = int(c.u16("records of the root"))
	t.total = c.length("records")
	c.sum()
	t.check(c)
	return t, c.err
}

// check checks the header, and computes the sizes of the fields of nodes.
func (t *tree2) check(c *cursor) {
	switch {
	case c.err != nil:
		return
	case t.nodeBytes > maxTree2Node || t.nodeBytes > uint64(t.f.pages.size):
		c.bad("bytes of a node", fmt.Sprintf("at most %d, and those of the file", maxTree2Node), t.nodeBytes)
	case t.recordSize == 0 || t.nodeBytes < tree2Overhead+uint64(t.recordSize):
		c.bad("bytes of a record", fmt.Sprintf("1 or more, and a node of %d bytes has one", t.nodeBytes), t.recordSize)
	case t.depth > maxTree2Depth:
		c.bad("depth", fmt.Sprintf("at most %d", maxTree2Depth), t.depth)
	}
	if c.err != nil {
		return
	}
	node := int(t.nodeBytes)
	leaf := (node - tree2Overhead) / t.recordSize
	t.most, t.totalWidth = []int{leaf}, []int{0}
	t.countWidth = widthOf(uint64(leaf))
	below := uint64(leaf)
	for height := 1; height <= t.depth; height++ {
		pointer := t.f.o + t.countWidth + t.totalWidth[height-1]
		most := (node - tree2Overhead - pointer) / (t.recordSize + pointer)
		if most < 1 {
			c.bad("bytes of a node", "room for a record and two children", node)
			return
		}
		high, low := bits.Mul64(uint64(most)+1, below)
		if below = low + uint64(most); high != 0 || below < low {
			below = 1<<64 - 1
		}
		t.most = append(t.most, most)
		t.totalWidth = append(t.totalWidth, widthOf(below))
	}
	if t.rootCount > t.most[t.depth] {
		c.bad("records of the root", fmt.Sprintf("at most %d", t.most[t.depth]), t.rootCount)
	}
}

// each calls use for every record in order. damaged is called for a node that cannot be read, with the records
// before and after it, which are nil at the ends. If it returns an error, each ends.
func (t *tree2) each(use func(*cursor) error, damaged func(err error, before, after []byte) error) error {
	if t.root == undefined {
		return nil
	}
	w := tree2Walk{tree2: t, use: use, damaged: damaged}
	return w.node(t.root, t.rootCount, t.depth, nil, nil)
}

type tree2Walk struct {
	*tree2
	use     func(*cursor) error
	damaged func(err error, before, after []byte) error
	ahead   map[uint64][]byte // nodes that were read together with others, by their addresses
}

// maxAhead is the most bytes of the children of a node that are read together.
const maxAhead = 4 << 20

// readAhead reads the children of a node together. c is at the first pointer of count + 1. What cannot be read is left:
// its own read says why.
func (w *tree2Walk) readAhead(c cursor, count, height int) {
	if w.ahead == nil {
		w.ahead = map[uint64][]byte{}
	}
	var addrs []uint64
	bytes := 0 // of the largest
	for range count + 1 {
		child, n := c.address("child"), int(c.uint(w.countWidth, "records of a child"))
		c.skip(w.totalWidth[height-1])
		if c.err != nil || n > w.most[height-1] || w.seen[child] {
			continue
		}
		n = w.bytesOf(n, height-1)
		if _, err := w.f.offset(w.what, child, uint64(n)); err != nil || max(n, bytes)*(len(addrs)+1) > maxAhead {
			continue
		}
		addrs, bytes = append(addrs, child), max(n, bytes)
	}
	if len(addrs) < 2 {
		return
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	offsets := make([]int64, len(addrs))
	for i, addr := range addrs {
		offsets[i] = w.f.base + int64(addr)
	}
	all, err := w.f.pages.together(offsets, bytes)
	if err != nil {
		return
	}
	for i, addr := range addrs {
		w.ahead[addr] = all[i]
	}
}

// node reads a node at a height. Its records are between before and after.
func (w *tree2Walk) node(addr uint64, count, height int, before, after []byte) error {
	c, err := w.open(addr, count, height)
	if err != nil {
		return w.damaged(err, before, after)
	}
	records := c.take(count*w.recordSize, "records")
	record := func(i int) []byte {
		switch {
		case i < 0:
			return before
		case i >= count:
			return after
		}
		return records[i*w.recordSize : (i+1)*w.recordSize]
	}
	if height > 0 && w.inside == nil {
		w.readAhead(*c, count, height)
	}
	for i := range count + 1 {
		if height > 0 {
			child, n := c.address("child"), int(c.uint(w.countWidth, "records of a child"))
			c.uint(w.totalWidth[height-1], "records below a child")
			if w.inside == nil || w.inside(record(i-1), record(i)) {
				if err := w.child(c, child, n, height-1, record(i-1), record(i)); err != nil {
					return err
				}
			}
		}
		if i == count {
			break
		}
		at := cursor{sizes: w.f.sizes, b: record(i), addr: addr, what: w.what}
		if err := w.use(&at); err != nil {
			return err
		}
	}
	return nil
}

func (w *tree2Walk) child(c *cursor, addr uint64, n, height int, before, after []byte) error {
	if c.err == nil && n > w.most[height] {
		c.bad("records of a child", fmt.Sprintf("at most %d", w.most[height]), n)
	}
	if c.err != nil {
		return w.damaged(c.err, before, after)
	}
	return w.node(addr, n, height, before, after)
}

// bytesOf returns the bytes of a node in use.
func (w *tree2Walk) bytesOf(count, height int) int {
	n := tree2Overhead + count*w.recordSize
	if height > 0 {
		n += (count + 1) * (w.f.o + w.countWidth + w.totalWidth[height-1])
	}
	return n
}

// open reads the bytes of a node, and checks them.
func (w *tree2Walk) open(addr uint64, count, height int) (*cursor, error) {
	if len(w.seen) >= w.f.limit.nodes {
		return nil, notSupported("a B-tree of more than %d nodes", w.f.limit.nodes)
	}
	if w.seen[addr] {
		return nil, &FormatError{Address: addr, Field: w.what, Expected: "a node that is not yet part of it",
			Found: "a loop"}
	}
	w.seen[addr] = true
	n := w.bytesOf(count, height)
	var c *cursor
	if b := w.ahead[addr]; len(b) >= n {
		delete(w.ahead, addr)
		c = &cursor{sizes: w.f.sizes, b: b[:n], addr: addr, what: w.what}
	} else {
		var err error
		if c, err = w.f.at(w.what, addr, uint64(n)); err != nil {
			return nil, err
		}
	}
	if height > 0 {
		c.signature("BTIN")
	} else {
		c.signature("BTLF")
	}
	c.expect("version", 0)
	c.expect("type", w.kind)
	start := c.at
	c.at = n - 4
	if c.err == nil {
		c.sum()
	}
	c.at = start
	return c, c.err
}

// stop is a damaged of each that gives up.
func stop(err error, _, _ []byte) error { return err }
