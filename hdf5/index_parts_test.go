package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// datasetsOf returns the paths of all chunked datasets that f can open.
func datasetsOf(f *File) (paths []string) {
	seen := map[uint64]bool{}
	var walk func(o Object)
	walk = func(o Object) {
		if seen[o.Address()] {
			return
		}
		seen[o.Address()] = true
		switch o := o.(type) {
		case *Group:
			names, _ := o.Names()
			for _, name := range names {
				if child, err := o.Lookup(name); err == nil {
					walk(child)
				}
			}
		case *Dataset:
			if o.Layout() == Chunked && o.Readable() == nil {
				paths = append(paths, o.Path())
			}
		}
	}
	if root, err := f.Root(); err == nil {
		walk(root)
	}
	return paths
}

// chunksIn opens a dataset of a file again, with other limits, and reads its index.
func chunksIn(t *testing.T, file, path string, shrink func(*limits)) (*ChunkIndex, error) {
	t.Helper()
	f, err := openFile(t, file)
	if err != nil {
		t.Fatal(err)
	}
	shrink(&f.limit)
	o, err := f.Lookup(path)
	if err != nil {
		t.Fatal(err)
	}
	return o.(*Dataset).Chunks()
}

// found is what an index says of a position. A loop has another error on another way into it.
func found(x *ChunkIndex, scaled []uint64) string {
	c, ok, err := x.Lookup(scaled)
	if isFormat(err) && strings.Contains(err.Error(), treeOfChunks) {
		return treeOfChunks
	}
	return fmt.Sprint(c, ok, err)
}

// allOf returns what All yields.
func allOf(x *ChunkIndex) (all map[string]Chunk, err error) {
	all = map[string]Chunk{}
	err = x.All(func(scaled []uint64, c Chunk) bool {
		all[fmt.Sprint(scaled)] = c
		return true
	})
	return all, err
}

// TestParts reads all indexes as a whole and in parts, of which more and more are in memory.
func TestParts(t *testing.T) {
	kinds := map[uint8]int{}
	files := []string{"testdata/earliest.h5", "testdata/latest.h5", "testdata/filters.h5"}
	if dir := os.Getenv("WKWFS_REFDATA"); dir != "" {
		_, all := refFiles(t)
		for _, f := range all {
			files = append(files, filepath.Join(dir, "hdf5", f.File))
		}
	}
	for _, file := range files {
		f, err := openFile(t, file)
		if err != nil {
			continue
		}
		for _, path := range datasetsOf(f) {
			whole, err := chunksIn(t, file, path, func(*limits) {})
			if err != nil || whole.parts != nil {
				continue
			}
			sameInParts(t, whole, file, path, kinds)
		}
	}
	for _, kind := range []uint8{indexTree1, indexFixed, indexExtensible, indexTree2} {
		if kinds[kind] == 0 {
			t.Errorf("no index of kind %d", kind)
		}
	}
}

// sameInParts compares an index with itself in parts.
func sameInParts(t *testing.T, whole *ChunkIndex, file, path string, kinds map[uint8]int) {
	cells := uint64(1)
	for _, n := range whole.grid {
		cells *= min(n, 1<<20)
	}
	for _, most := range []int{0, 1, perPart + 5, 2*perPart + 40, 5 * perPart, 1 << 20} {
		x, err := chunksIn(t, file, path, func(l *limits) { l.chunks, l.partChunks = 0, most })
		if errors.As(err, new(*NotSupportedError)) {
			return // of a filter that this package does not know: who needs it is not looked up
		}
		if err != nil {
			t.Errorf("%s%s: %v", file, path, err)
			return
		}
		if x.parts == nil { // it has no chunks, or no index
			if whole.Len() != x.Len() {
				t.Errorf("%s%s: %d chunks, expected %d", file, path, x.Len(), whole.Len())
			}
			return
		}
		kinds[x.d.layout.index]++
		if x.Len() != -1 {
			t.Errorf("%s%s: %d chunks are in memory", file, path, x.Len())
		}
		for i := range min(cells, 3000) {
			key := i * max(1, cells/3000)
			scaled := make([]uint64, len(whole.grid))
			for axis := len(scaled) - 1; axis >= 0; axis-- {
				scaled[axis] = key % whole.grid[axis]
				key /= whole.grid[axis]
			}
			want, got := found(whole, scaled), found(x, scaled)
			if want != got && !strings.Contains(want, "that no other chunk has") {
				t.Fatalf("%s%s, chunk %v, parts of %d chunks: %s, expected %s", file, path, scaled, most, got, want)
			}
		}
		want, failed := allOf(whole)
		got, err := allOf(x)
		for at, c := range want {
			if got[at] != c {
				t.Errorf("%s%s, chunk %s: %v of all, expected %v", file, path, at, got[at], c)
			}
		}
		if err == nil && (failed != nil && !strings.Contains(failed.Error(), "that no other chunk has") ||
			failed == nil && len(got) != len(want)) {
			t.Errorf("%s%s: %d chunks, error %v, expected %d, %v", file, path, len(got), err, len(want), failed)
		}
	}
}

// manyPieces is a file without a disk: its bytes are made when they are read. Pieces of equal length follow the start.
type manyPieces struct {
	start []byte
	bytes int
	piece func(i int) []byte
	read  atomic.Int64 // bytes
}

func (m *manyPieces) ReadAt(b []byte, off int64) (int, error) {
	m.read.Add(int64(len(b)))
	clear(b)
	if at := int(off); at < len(m.start) {
		copy(b, m.start[at:])
	}
	first := max(0, (int(off)-len(m.start))/m.bytes)
	for i := first; len(m.start)+i*m.bytes < int(off)+len(b); i++ {
		p := m.piece(i)
		if at := len(m.start) + i*m.bytes - int(off); at >= 0 {
			copy(b[at:], p)
		} else if -at < len(p) {
			copy(b, p[-at:])
		}
	}
	return len(b), nil
}

// The large dataset has 10^7 chunks of 4096 bytes, one after the other.
var largeGrid = [3]uint64{200, 250, 200}

const (
	largeChunks = 10_000_000
	largeAt     = 1 << 40
)

// largeDataset is a dataset whose index lies at an address of m.
func largeDataset(m *manyPieces, kind uint8, addr uint64) *Dataset {
	f := &File{sizes: sizes{o: 8, l: 8}, pages: newPages(m, 1<<50), limit: defaultLimits}
	f.super.chunkK = 32
	d := &Dataset{object: object{file: f, path: "/large", header: &header{}}, chunkBytes: 4096}
	d.layout = layout{class: Chunked, version: 4, index: kind, addr: addr, chunk: []uint64{16, 16, 16, 1}}
	for _, n := range largeGrid {
		d.space.dims = append(d.space.dims, 16*n)
	}
	d.space.max = d.space.dims
	return d
}

func largePosition(i uint64) []uint64 {
	return []uint64{i / largeGrid[2] / largeGrid[1], i / largeGrid[2] % largeGrid[1], i % largeGrid[2]}
}

// largeTree returns a B-tree 1 of 64 entries for each node: all nodes of a level, the leaves first.
func largeTree() *Dataset {
	const entries, bytes = 64, 4096
	below := []int{largeChunks} // what each level has entries for
	for n := largeChunks; n > 1; {
		n = (n + entries - 1) / entries
		below = append(below, n)
	}
	m := &manyPieces{start: make([]byte, bytes), bytes: bytes}
	m.piece = func(i int) []byte {
		level, each, children := 0, 1, 0 // chunks of an entry, and the number of the first node of the level below
		for level+1 < len(below) && i >= below[level+1] {
			i -= below[level+1]
			children += below[level+1]
			level++
			each *= entries
		}
		if level+1 >= len(below) {
			return nil
		}
		children -= below[max(level, 1)] * min(level, 1)
		used := min(entries, below[level]-i*entries)
		b := append([]byte("TREE"), treeChunks, byte(level), byte(used), 0)
		b = binary.LittleEndian.AppendUint64(b, undefined)
		b = binary.LittleEndian.AppendUint64(b, undefined)
		for k := range used + 1 {
			chunk := uint64(min((i*entries+k)*each, largeChunks))
			b = binary.LittleEndian.AppendUint64(b, 4096)
			for _, at := range largePosition(chunk) {
				b = binary.LittleEndian.AppendUint64(b, 16*at)
			}
			b = binary.LittleEndian.AppendUint64(b, 0)
			child := uint64(bytes * (1 + children + i*entries + k))
			if level == 0 {
				child = largeAt + 4096*chunk
			}
			b = binary.LittleEndian.AppendUint64(b, child)
		}
		return b[:len(b)-8]
	}
	nodes := 0
	for _, n := range below[1:] {
		nodes += n
	}
	return largeDataset(m, indexTree1, uint64(bytes*nodes))
}

// largeFixed returns a fixed array with pages of 1024 entries.
func largeFixed() *Dataset {
	const page, pages = 1024, (largeChunks + 1023) / 1024
	sealed := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, lookup3(b)) }
	b := append([]byte("FAHD"), 0, 0, 8, 10)
	b = binary.LittleEndian.AppendUint64(b, largeChunks)
	b = sealed(binary.LittleEndian.AppendUint64(b, 32))
	block := append([]byte("FADB"), 0, 0)
	block = binary.LittleEndian.AppendUint64(block, 0)
	for range (pages + 7) / 8 {
		block = append(block, 0xff)
	}
	m := &manyPieces{bytes: 8*page + 4}
	m.start = append(append(b, make([]byte, 32-len(b))...), sealed(block)...)
	m.piece = func(i int) (b []byte) {
		for k := i * page; k < min((i+1)*page, largeChunks); k++ {
			b = binary.LittleEndian.AppendUint64(b, largeAt+4096*uint64(k))
		}
		return sealed(b)
	}
	return largeDataset(m, indexFixed, 0)
}

// TestLargeIndexes looks chunks up in indexes of 10^7 chunks, of which little is read, and little is in memory.
func TestLargeIndexes(t *testing.T) {
	for name, d := range map[string]*Dataset{"B-tree 1": largeTree(), "fixed array": largeFixed()} {
		x, err := d.Chunks()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m := d.file.pages.r.(*manyPieces)
		if before := m.read.Load(); x.parts == nil || x.Len() != -1 || x.Memory() > 1<<20 || before > 16<<20 {
			t.Errorf("%s: %d bytes were read, %d are in memory", name, before, x.Memory())
		}
		r, before := rand.New(rand.NewPCG(1, 2)), m.read.Load()
		const n = 300
		for k := range uint64(n) {
			i := r.Uint64N(largeChunks)
			if k < 3 {
				i = []uint64{0, largeChunks - 1, largeChunks / 2}[k]
			}
			c, ok, err := x.Lookup(largePosition(i))
			if !ok || err != nil || c.Offset != int64(largeAt+4096*i) || c.Size != 4096 {
				t.Fatalf("%s, chunk %d: %v, %v, error %v", name, i, c, ok, err)
			}
		}
		if got := (m.read.Load() - before) / n; got > 4*pageBytes {
			t.Errorf("%s: %d bytes were read for a chunk", name, got)
		}
		if cost := x.parts.cache.Cost(); cost > int64(d.file.limit.partChunks) || x.parts.cache.Len() < 20 {
			t.Errorf("%s: %d parts that cost %d are in memory", name, x.parts.cache.Len(), cost)
		}
		var next uint64
		err = x.All(func(scaled []uint64, c Chunk) bool {
			if c.Offset != int64(largeAt+4096*next) {
				t.Errorf("%s: chunk %d of all is %v at %v", name, next, c, scaled)
			}
			next++
			return next < 50_000
		})
		if err != nil || next != 50_000 {
			t.Errorf("%s: %d chunks of all, error %v", name, next, err)
		}
	}
}

// TestDamagedPart: a node that cannot be read costs its own chunks. An error of the reader goes away with it.
func TestDamagedPart(t *testing.T) {
	d := largeTree()
	m := d.file.pages.r.(*manyPieces)
	piece := m.piece
	const node, bytes = 1000, 4096
	m.piece = func(i int) []byte {
		if i == node {
			return nil
		}
		return piece(i)
	}
	x, err := d.Chunks()
	if err != nil {
		t.Fatal(err)
	}
	for i := uint64(64*node - 2); i < 64*(node+1)+2; i++ {
		_, ok, err := x.Lookup(largePosition(i))
		if damaged := i/64 == node; ok == damaged || isFormat(err) != damaged {
			t.Errorf("chunk %d: %v, error %v", i, ok, err)
		}
	}
	_, _, err = x.Lookup(largePosition(64 * node))
	want := fmt.Sprintf(`HDF5 object "/large", B-tree of chunks: signature at address %d: expected "TREE", found`,
		bytes*(node+1))
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, expected %s", err, want)
	}

	d.file.pages = newPages(&failingReader{m, 0}, 1<<50)
	at := largePosition(9_000_000)
	if _, _, err := x.Lookup(at); !errors.Is(err, errTransport) || isFormat(err) {
		t.Errorf("error %v, expected that of the reader", err)
	}
	d.file.pages = newPages(m, 1<<50)
	if _, ok, err := x.Lookup(at); !ok || err != nil {
		t.Errorf("after an error: %v, error %v", ok, err)
	}
}

// TestPartsTogether looks chunks up in several goroutines, which displace the parts of each other.
func TestPartsTogether(t *testing.T) {
	d := largeTree()
	d.file.limit.partChunks = 3 * perPart
	x, err := d.Chunks()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(g, 1))
			for range 200 {
				i := r.Uint64N(1000)
				if c, ok, err := x.Lookup(largePosition(i)); !ok || err != nil || c.Offset != int64(largeAt+4096*i) {
					t.Errorf("chunk %d: %v, %v, error %v", i, c, ok, err)
				}
			}
		})
	}
	all.Wait()
}
