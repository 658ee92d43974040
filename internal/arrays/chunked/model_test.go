package chunked

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// model is an array in memory with a value for each index, and the files that a naive writer makes of it.
type model struct {
	*Array
	files  fstest.MapFS
	absent map[string]bool // chunks that are not written, by their index in units of the smallest chunks
	blosc  int             // decoded bytes of the blocks of blosc; 0: there is no codec; -1: blosc without blocks
	gzip   bool            // that is the codec

	cutEnds bool // chunks with a header end where the array does
}

// valueAt returns the value at an index: it encodes the index.
func valueAt(at []int) uint64 {
	v := uint64(0)
	for _, n := range at {
		v = v*131 + uint64(n) + 7
	}
	return v
}

// each calls f for each index of a box of an array with any number of axes.
func each(size []int, f func(at []int)) {
	at := make([]int, len(size))
	for {
		f(at)
		axis := len(size) - 1
		for ; axis >= 0; axis-- {
			if at[axis]++; at[axis] < size[axis] {
				break
			}
			at[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

// put appends a value with the byte order of the array.
func (m *model) put(b []byte, v uint64) []byte {
	word := binary.LittleEndian.AppendUint64(nil, v)[:m.Type.Size()]
	if m.BigEndian {
		slices.Reverse(word)
	}
	return append(b, word...)
}

// permuted returns the extents in the order of stored axes.
func permuted(extents, order []int) []int {
	p := make([]int, len(order))
	for i, axis := range order {
		p[i] = extents[axis]
	}
	return p
}

// chunk encodes the smallest chunk that starts at an index. Its padding is noise. It is nil if the chunk is absent.
func (m *model) chunk(start []int) (b []byte) {
	if m.absent[fmt.Sprint(start)] {
		return nil
	}
	size := slices.Clone(m.block())
	for axis := range size {
		if m.cutEnds {
			size[axis] = min(size[axis], max(m.Shape[axis]-start[axis], 1))
		}
		if m.Header != nil {
			b = append(b, byte(size[axis]))
		}
	}
	head := b
	b = nil
	each(permuted(size, m.Order), func(stored []int) {
		at := slices.Clone(start)
		for i, axis := range m.Order {
			at[axis] += stored[i]
		}
		v := valueAt(at)
		for axis, n := range at {
			if n >= m.Shape[axis] {
				v = 0xEEEEEEEEEEEEEEEE
			}
		}
		b = m.put(b, v)
	})
	switch {
	case m.blosc != 0:
		b = bloscOf(b, m.blosc)
	case m.gzip:
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(b)
		w.Close()
		b = out.Bytes()
	}
	return append(head, b...)
}

func randomOf(r *rand.Rand, all ...int) int { return all[r.IntN(len(all))] }

// addHeader gives chunks a header with their extents. cutEnds says that chunks end where the array does.
func (m *model) addHeader(cutEnds bool) {
	rank := len(m.Chunk)
	m.cutEnds = cutEnds
	m.Header = func(b []byte) (payload []byte, size []int, err error) {
		if len(b) < rank {
			return nil, nil, io.ErrUnexpectedEOF
		}
		for _, n := range b[:rank] {
			size = append(size, int(n))
		}
		return b[rank:], size, nil
	}
}

// bloscOf returns a chunk of blosc with blocks of a size, which are in reverse order. No block is compressed. If the
// size is -1, there are no blocks.
func bloscOf(b []byte, size int) []byte {
	le := binary.LittleEndian
	flags := byte(1<<5 | 1<<4) // LZ4, blocks are not split
	body := b
	if size < 0 {
		flags, size = flags|1<<1, len(b)
	} else {
		blocks := (len(b) + size - 1) / size
		body = make([]byte, 4*blocks)
		for i := blocks - 1; i >= 0; i-- {
			block := b[i*size : min((i+1)*size, len(b))]
			le.PutUint32(body[4*i:], uint32(16+len(body)))
			body = append(le.AppendUint32(body, uint32(len(block))), block...)
		}
	}
	head := []byte{2, 1, flags, 1}
	for _, n := range []int{len(b), size, 16 + len(body)} {
		head = le.AppendUint32(head, uint32(n))
	}
	return append(head, body...)
}

// encode encodes what starts at an index: a shard of a level, or a chunk.
func (m *model) encode(level int, outer, start []int) []byte {
	if level == len(m.Shards) {
		return m.chunk(start)
	}
	s := m.Shards[level]
	counts := make([]int, len(outer))
	for axis := range outer {
		counts[axis] = outer[axis] / s.Inner[axis]
	}
	n, _ := product(1, counts)
	size := entryBytes*n + 4*s.Checksums
	var index, data []byte
	base := 0
	if s.AtStart {
		base = size
	}
	var order binary.AppendByteOrder = binary.LittleEndian
	if s.Big {
		order = binary.BigEndian
	}
	each(permuted(counts, s.Order), func(stored []int) {
		at := slices.Clone(start)
		for i, axis := range s.Order {
			at[axis] += stored[i] * s.Inner[axis]
		}
		inner := m.encode(level+1, s.Inner, at)
		if inner == nil {
			index = order.AppendUint64(order.AppendUint64(index, 1<<64-1), 1<<64-1)
			return
		}
		index = order.AppendUint64(order.AppendUint64(index, uint64(base+len(data))), uint64(len(inner)))
		data = append(data, inner...)
	})
	if data == nil {
		return nil
	}
	for range s.Checksums {
		index = binary.LittleEndian.AppendUint32(index, crc32.Checksum(index, crc32.MakeTable(crc32.Castagnoli)))
	}
	if s.AtStart {
		return append(index, data...)
	}
	return append(data, index...)
}

// write writes the files of all chunks.
func (m *model) write() {
	m.files = fstest.MapFS{}
	counts := make([]int, len(m.Shape))
	for axis := range counts {
		counts[axis] = (m.Shape[axis] + m.Chunk[axis] - 1) / m.Chunk[axis]
	}
	each(counts, func(at []int) {
		start := make([]int, len(at))
		for axis := range at {
			start[axis] = at[axis] * m.Chunk[axis]
		}
		if b := m.encode(0, m.Chunk, start); b != nil {
			// its version is its own
			m.files["a/"+m.fileOf(at)] = &fstest.MapFile{Data: b, ModTime: time.Unix(1e9+int64(len(m.files)), 0)}
		}
	})
	m.files["a/other"] = &fstest.MapFile{}
}

// axisTree names directories by their axis and two digits, and files by all indices.
type axisTree struct{}

func (axisTree) Dir(axis, index int) string { return fmt.Sprintf("a%d_%02d", axis, index) }
func (axisTree) Kind(at []int, name string) volume.CubeName {
	if name == "beside" {
		return volume.BesideName
	}
	return volume.OtherName
}

func (axisTree) File(at []int) string { return strings.ReplaceAll(fmt.Sprint("chunk", at), " ", "_") }

func (t axisTree) Index(axis int, name string) (index int, ok bool) {
	_, err := fmt.Sscanf(name, fmt.Sprintf("a%d_%%d", axis), &index)
	return index, err == nil && t.Dir(axis, index) == name
}

// want returns the voxels of a box. names are those of the axes.
func (m *model) want(box volume.Box, names []string, first, channels int) (b []byte) {
	index := func(name string) int { return slices.Index(names, name) }
	for p := range box.All() {
		for c := range channels {
			at := make([]int, len(names))
			inside := true
			for i, name := range []string{"x", "y", "z"} {
				if axis := index(name); axis >= 0 {
					at[axis] = p[i]
					inside = inside && p[i] >= 0 && p[i] < m.Shape[axis]
				} else {
					inside = inside && p[i] == 0
				}
			}
			if axis := index("c"); axis >= 0 {
				at[axis] = first + c
			}
			b = append(b, m.stored(at, inside)...)
		}
	}
	return b
}

// stored returns the value at an index, little-endian.
func (m *model) stored(at []int, inside bool) []byte {
	size := m.Type.Size()
	if !inside {
		return make([]byte, size)
	}
	start := slices.Clone(at)
	for axis, n := range m.block() {
		start[axis] -= at[axis] % n
	}
	if m.absent[fmt.Sprint(start)] {
		return append(slices.Clone(m.Fill), make([]byte, size)...)[:size]
	}
	return binary.LittleEndian.AppendUint64(nil, valueAt(at))[:size]
}

// randomModel returns an array with random axes, chunks and shards, and the names of its axes.
func randomModel(r *rand.Rand) (*model, []string) {
	names := [][]string{{"y", "x"}, {"z", "y", "x"}, {"c", "z", "y", "x"}, {"t", "c", "z", "y", "x"},
		{"c", "y", "x"}}[r.IntN(5)]
	names = slices.Clone(names)
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	types := volume.Types()
	m := &model{Array: &Array{Type: types[r.IntN(len(types))], BigEndian: r.IntN(3) == 0}, absent: map[string]bool{}}
	m.Key = []Key{{"c", "/"}, {"c", "."}, {"", "/"}, {"", "."}}[r.IntN(4)]
	if r.IntN(5) == 0 {
		m.Key, m.Tree = Key{}, axisTree{}
	}
	depth := r.IntN(3)
	inner := make([]int, len(names))
	for axis := range names {
		inner[axis] = 1 + r.IntN(4)
	}
	chunk := slices.Clone(inner)
	for range depth {
		s := Shard{Inner: slices.Clone(chunk), Order: r.Perm(len(names)), Big: r.IntN(2) == 0, AtStart: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			s.Checksums = 1 + r.IntN(2)
		}
		m.Shards = slices.Insert(m.Shards, 0, s)
		for axis := range chunk {
			chunk[axis] *= 1 + r.IntN(3)
		}
	}
	m.Chunk, m.Order = chunk, r.Perm(len(names))
	switch r.IntN(4) {
	case 0, 1:
		m.encodeByBlosc(r)
	case 2:
		m.gzip, m.Codecs = true, codec.Chain{codec.Gzip{}}
		fallthrough
	default:
		if r.IntN(2) == 0 {
			m.addHeader(r.IntN(2) == 0)
		}
	}
	for _, name := range names {
		n := 1 + r.IntN(11)
		if m.gzip {
			n = 1 + r.IntN(4)
		}
		if name == "t" {
			n = 1
		}
		m.Shape = append(m.Shape, n)
	}
	if r.IntN(2) == 0 {
		m.Fill = binary.LittleEndian.AppendUint64(nil, r.Uint64())[:m.Type.Size()]
	}
	each(m.Shape, func(at []int) {
		for axis, n := range at {
			if n%inner[axis] != 0 {
				return
			}
		}
		if r.IntN(3) == 0 {
			m.absent[fmt.Sprint(at)] = true
		}
	})
	m.write()
	return m, names
}

// encodeByBlosc gives the array the codec blosc, with units of some planes of a chunk. Blocks of the chunks are as
// large as the metadata say, or not.
func (m *model) encodeByBlosc(r *rand.Rand) {
	m.Codecs = codec.Chain{codec.Blosc{}}
	total, _ := product(m.Type.Size(), m.block())
	m.Unit = total / m.block()[m.Order[0]]
	m.blosc = []int{-1, m.Unit, 1 + r.IntN(total), total}[r.IntN(4)]
}

// lateFS is a file system that answers late.
type lateFS struct{ fs.FS }

type lateFile struct{ fs.File }

func (s lateFS) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if d, ok := f.(fs.ReadDirFile); ok {
		return d, err
	}
	return lateFile{f}, err
}

func (lateFS) Speed() vfs.Speed   { return vfs.Speed{Late: true} }
func (lateFile) Speed() vfs.Speed { return vfs.Speed{Late: true} }
func (f lateFile) ReadAt(p []byte, off int64) (int, error) {
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// TestAgreesWithModel reads random boxes of random arrays: of any axes, chunks, shards, orders, types and fill values.
func TestAgreesWithModel(t *testing.T) {
	cases := uint64(400)
	if testing.Short() {
		cases = 100
	}
	divided, prefixes := 0, 0
	for seed := range cases {
		r := rand.New(rand.NewPCG(seed, 1))
		m, names := randomModel(r)
		o := Options{Axes: names, minPart: 1, maxBatch: randomOf(r, 0, 1, 20, 200), piece: randomOf(r, 0, 1, 7)}
		channels := 1
		if axis := slices.Index(names, "c"); axis >= 0 {
			channels = m.Shape[axis]
			if r.IntN(3) == 0 {
				o.Channel = r.IntN(channels)
				o.Channels = 1 + r.IntN(channels-o.Channel)
				channels = o.Channels
			}
		}
		fsys := fs.FS(m.files)
		if r.IntN(4) == 0 {
			fsys = lateFS{fsys}
		}
		mag, err := New(fsys, "a", m.Array, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if mag.blocksOf() > 1 {
			divided++
			if m.gzip {
				prefixes++
			}
		}
		if r.IntN(2) == 0 { // indexes have many pages and pieces, and few are kept
			page := entryBytes * (1 + r.IntN(2))
			mag.indexes = newIndexes(int64(randomOf(r, 1, 1000, 1<<20)), page, page*(1+r.IntN(2)))
		}
		bounds, _ := mag.Bounds()
		for range 3 {
			var box volume.Box
			for axis := range 3 {
				box.Min[axis] = r.IntN(bounds.Max[axis]+2) - 1
				box.Max[axis] = box.Min[axis] + 1 + r.IntN(bounds.Max[axis]+2)
			}
			got, err := volume.ReadBox(t.Context(), mag, box)
			if want := m.want(box, names, o.Channel, channels); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("seed %d, box %v of %+v, axes %v: got %x, %v, expected %x", seed, box, m.Array, names, got,
					err, want)
			}
		}
		wantListing(t, m, mag, seed)
	}
	if uint64(divided) < cases/5 {
		t.Errorf("%d of %d arrays have chunks of several blocks", divided, cases)
	}
	if uint64(prefixes) < cases/40 {
		t.Errorf("of %d of %d arrays, only the start of a chunk is decoded", prefixes, cases)
	}
}

// wantListing checks that the mag lists the cubes that have a file, and that each of them is described as it is opened.
func wantListing(t *testing.T, m *model, mag *Mag, seed uint64) {
	t.Helper()
	found := map[volume.Vec]bool{}
	for c, err := range volume.AllCubes(mag) {
		if err != nil || found[c] {
			t.Fatalf("seed %d: cube %v: %v, found before: %v", seed, c, err, found[c])
		}
		found[c] = true
		info, err := mag.StatCubes(c[2], c[1], c[0])
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		f, err := mag.OpenCube(c)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if f.Info().Size() != info.Size() {
			t.Errorf("seed %d: cube %v has %d bytes, but is listed with %d", seed, c, f.Info().Size(), info.Size())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	for c := range (volume.Box{Max: mag.lattice.Size}).All() {
		exists := false
		for k := range mag.eachPart {
			_, ok := m.files[mag.path(c, k)]
			exists = exists || ok
		}
		if exists != found[c] {
			t.Errorf("seed %d: cube %v is listed: %v, but has files: %v", seed, c, found[c], exists)
		}
	}
}
