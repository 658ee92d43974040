package hdf5

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// treeReader reads a B-tree 1 of chunks, level by level (III.A.1, IV.A.2.i).
type treeReader struct {
	*ChunkIndex
	seen map[uint64]bool
	most int // entries of a node
	rank int
}

// treePart is a node that is to be read: its address, and where its chunks lie. after is nil if nothing is after it.
type treePart struct {
	addr          uint64
	level         int
	before, after []uint64
}

// readTree1 reads a tree, or a path in it. Nodes of a level are read in the order of their addresses, which takes few
// requests. What calls each gets nodes in the order of their keys.
func (x *ChunkIndex) readTree1() error {
	r := &treeReader{ChunkIndex: x, seen: map[uint64]bool{}, most: 2 * x.d.file.super.chunkK, rank: len(x.grid)}
	level := []treePart{{addr: x.d.layout.addr, level: -1}}
	r.wants(level[0].has)
	if x.each != nil {
		return r.below(level)
	}
	for len(level) > 0 {
		// Most leaves are half full, or more.
		if err := r.tooLarge(uint64(len(level)) * uint64(r.most/2)); err != nil && level[0].level == 0 {
			return err
		}
		slices.SortFunc(level, func(a, b treePart) int {
			switch {
			case a.addr < b.addr:
				return -1
			case a.addr > b.addr:
				return 1
			}
			return 0
		})
		var next []treePart
		for parts := range slices.Chunk(level, r.together()) {
			children, err := r.nodes(parts)
			if err != nil {
				return err
			}
			next = append(next, children...)
		}
		level = next
	}
	return nil
}

// below reads nodes and all below them.
func (r *treeReader) below(level []treePart) error {
	for parts := range slices.Chunk(level, r.together()) {
		children, err := r.nodes(parts)
		if err == nil {
			err = r.below(children)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// together returns how many nodes are in memory at a time.
func (r *treeReader) together() int {
	const most, memory = 256, 16 << 20
	return min(most, max(1, memory/r.d.file.treeNodeBytes(r.most, r.keyBytes())))
}

const treeOfChunks = "B-tree of chunks"

// nodes reads nodes, and returns those of their children that are wanted.
func (r *treeReader) nodes(parts []treePart) ([]treePart, error) {
	f := r.d.file
	if len(r.seen)+len(parts) > f.limit.nodes {
		if r.whole() {
			return nil, errLarge
		}
		return nil, notSupported("an index of more than %d nodes", f.limit.nodes)
	}
	var sound []treePart
	var offsets []int64
	for _, p := range parts {
		off, err := f.offset(treeOfChunks, p.addr, 0)
		if err == nil && r.seen[p.addr] {
			err = &FormatError{Address: p.addr, Field: treeOfChunks, Expected: "a node that is not yet part of it",
				Found: "a loop"}
		}
		if err != nil {
			if err = r.lose(err, p.has); err != nil {
				return nil, err
			}
			continue
		}
		r.seen[p.addr] = true
		sound, offsets = append(sound, p), append(offsets, off)
	}
	all, err := r.bytesOf(offsets)
	if err != nil {
		return nil, err
	}
	var next []treePart
	for i, p := range sound {
		children, err := r.node(p, &cursor{sizes: f.sizes, b: all[i], addr: p.addr, what: treeOfChunks})
		if err != nil {
			if err = r.lose(err, p.has); err != nil {
				return nil, err
			}
		}
		next = append(next, slices.DeleteFunc(children, func(p treePart) bool { return !r.wants(p.has) })...)
	}
	return next, nil
}

// bytesOf returns the bytes of nodes at offsets. Those on the way to a part are kept as other metadata.
func (r *treeReader) bytesOf(offsets []int64) ([][]byte, error) {
	pages := r.d.file.pages
	n := r.d.file.treeNodeBytes(r.most, r.keyBytes())
	if r.wanted != nil {
		all := make([][]byte, len(offsets))
		for i, off := range offsets {
			var err error
			if all[i], err = pages.read(off, int(min(int64(n), pages.size-off))); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	if slices.IsSorted(offsets) {
		return pages.together(offsets, n)
	}
	sorted := slices.Sorted(slices.Values(offsets))
	read, err := pages.together(sorted, n)
	if err != nil {
		return nil, err
	}
	all := make([][]byte, len(offsets))
	for i, off := range offsets {
		k, _ := slices.BinarySearch(sorted, off)
		all[i] = read[k]
	}
	return all, nil
}

// keyBytes returns the bytes of a key: a size, a mask, and an offset along each axis and in an element.
func (r *treeReader) keyBytes() int { return 8 + 8*(r.rank+1) }

// has reports whether a chunk lies in the part.
func (p treePart) has(scaled []uint64) bool {
	return (p.before == nil || slices.Compare(scaled, p.before) >= 0) && (p.after == nil || slices.Compare(scaled,
		p.after) < 0)
}

// treeKey is a key of a node.
type treeKey struct {
	size, mask uint32
	scaled     []uint64
}

// node reads a node. If it has an error, nothing of it was added, and it has no children.
func (r *treeReader) node(p treePart, c *cursor) ([]treePart, error) {
	n, err := readTreeNode(c, treeChunks, p.level, r.most)
	if err != nil {
		return nil, err
	}
	keys, children := make([]treeKey, n.used), make([]uint64, n.used)
	for i := range n.used {
		keys[i] = r.key(n.c)
		if children[i] = n.c.address("child"); n.c.err == nil {
			r.checkKey(n.c, p, keys, i)
		}
		if n.c.err != nil {
			return nil, n.c.err
		}
	}
	if n.level == 0 {
		return nil, r.leaf(keys, children)
	}
	if n.used > 0 {
		r.wants(treePart{before: p.before, after: keys[0].scaled}.has) // what is before all children has no chunks
	}
	parts := make([]treePart, n.used)
	for i := range parts {
		parts[i] = treePart{addr: children[i], level: n.level - 1, before: keys[i].scaled, after: p.after}
		if i+1 < len(keys) {
			parts[i].after = keys[i+1].scaled
		}
	}
	return parts, nil
}

func (r *treeReader) leaf(keys []treeKey, children []uint64) error {
	for i, k := range keys {
		e := entry{addr: children[i], size: k.size, mask: k.mask}
		if len(r.d.filters) == 0 {
			e.size = uint32(r.d.chunkBytes) // the key may have another size, which libhdf5 does not look at
		}
		if err := r.add(k.scaled, e); err != nil {
			return err
		}
	}
	return nil
}

// key reads a key: the offset of a chunk in elements.
func (r *treeReader) key(c *cursor) treeKey {
	k := treeKey{size: c.u32("size of a chunk"), mask: c.u32("filter mask"), scaled: make([]uint64, r.rank)}
	for i := range k.scaled {
		v, chunk := c.u64("offset of a chunk"), r.d.layout.chunk[i]
		if c.err == nil && v%chunk != 0 {
			c.bad("offset of a chunk", fmt.Sprintf("a multiple of %d", chunk), v)
		}
		k.scaled[i] = v / chunk
	}
	c.u64("offset in an element")
	return k
}

// checkKey checks that key i is in the part of the node, and after the one before it.
func (r *treeReader) checkKey(c *cursor, p treePart, keys []treeKey, i int) {
	k := keys[i].scaled
	switch {
	case !p.has(k):
		c.bad("key", fmt.Sprintf("a chunk from %v to %v", p.before, p.after), k)
	case i > 0 && slices.Compare(keys[i-1].scaled, k) >= 0:
		c.bad("key", fmt.Sprintf("a chunk after %v", keys[i-1].scaled), k)
	}
}

// readTree2 reads a B-tree 2 of chunks.
func (x *ChunkIndex) readTree2() error {
	kind := uint8(10)
	if len(x.d.filters) > 0 {
		kind = 11
	}
	t, err := x.d.file.tree2(treeOfChunks, x.d.layout.addr, kind)
	if err != nil {
		return err
	}
	if err := x.tooLarge(t.total); err != nil {
		return err
	}
	rank := len(x.grid)
	if n := x.entryBytes() + 8*rank; t.recordSize != n {
		return &FormatError{Address: x.d.layout.addr, Field: treeOfChunks + ": bytes of a record", Expected: n,
			Found: t.recordSize}
	}
	scaledOf := func(record []byte) []uint64 {
		if record == nil {
			return nil
		}
		scaled := make([]uint64, rank)
		for i := range scaled {
			scaled[i] = binary.LittleEndian.Uint64(record[x.entryBytes()+8*i:])
		}
		return scaled
	}
	var last []uint64
	use := func(c *cursor) error {
		e := x.readEntry(c)
		scaled := scaledOf(c.b)
		if last != nil && slices.Compare(last, scaled) >= 0 {
			c.bad("record", fmt.Sprintf("a chunk after %v", last), scaled)
			return c.err
		}
		if last = scaled; c.err != nil {
			return c.err
		}
		return x.add(scaled, e)
	}
	part := func(before, after []byte) func(scaled []uint64) bool {
		return treePart{before: scaledOf(before), after: scaledOf(after)}.has
	}
	if x.wanted != nil {
		x.wants(part(nil, nil))
		t.inside = func(before, after []byte) bool { return x.wants(part(before, after)) }
	}
	return t.each(use, func(err error, before, after []byte) error { return x.lose(err, part(before, after)) })
}
