package arrayfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"github.com/wkwfs/wkwfs/volume"
)

// memoryIndexes is an IndexStore in memory with one index, whatever the key is.
type memoryIndexes struct {
	mu      sync.Mutex
	content []byte
	removed int
}

type memoryIndex struct{ *bytes.Reader }

func (memoryIndex) Close() error { return nil }

func (m *memoryIndexes) Open([]byte) (Index, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.content == nil {
		return nil, os.ErrNotExist
	}
	return memoryIndex{bytes.NewReader(m.content)}, nil
}

func (m *memoryIndexes) Put(_ []byte, most int64, write func(io.Writer) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b bytes.Buffer
	if err := write(&b); err == nil && int64(b.Len()) <= most {
		m.content = b.Bytes()
	}
}

func (m *memoryIndexes) Remove([]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content = nil
	m.removed++
}

// compressible returns n bytes that are partly noise.
func compressible(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		if b[i] = byte(i / 700); r.IntN(4) == 0 {
			b[i] = byte(r.IntN(256))
		}
	}
	return b
}

// packedFiles writes files with the same voxels, compressed in several ways.
func packedFiles(t *testing.T, dir string, voxels []byte, size volume.Vec) (names []string) {
	t.Helper()
	nrrd := fmt.Sprintf("NRRD0005\ntype: uchar\ndimension: 3\nsizes: %d %d %d\nencoding: gzip\n\n", size[0], size[1],
		size[2])
	for _, level := range []int{gzip.NoCompression, gzip.BestSpeed, gzip.BestCompression, gzip.HuffmanOnly} {
		var b bytes.Buffer
		b.WriteString(nrrd)
		for from := 0; from < len(voxels); { // members
			to := min(len(voxels), from+len(voxels)/(2+level&1))
			w, err := gzip.NewWriterLevel(&b, level)
			if err == nil {
				_, err = w.Write(voxels[from:to])
			}
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			from = to
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.nrrd", level))
		write(t, name, b.Bytes())
		names = append(names, name)
	}
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(voxels); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "z.mha")
	write(t, name,
		fmt.Appendf(nil,
			"NDims = 3\nDimSize = %d %d %d\nCompressedData = True\nCompressedDataSize = %d\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n%s",
			size[0], size[1], size[2], b.Len(), b.Bytes()))
	return append(names, name)
}

// unpackedArray opens a file that is compressed as a whole. Places to start from are as near as possible.
func unpackedArray(t *testing.T, name string, indexes IndexStore) (*Array, *unpacked) {
	t.Helper()
	a := mustOpen(t, name)
	f := a.voxels.(flat)
	f.restart = 1
	a.voxels = f
	a.Unpack(t.TempDir(), indexes)
	return a, a.voxels.(flat).packed
}

// readPlane reads a plane.
func readPlane(t *testing.T, a *Array, z int) ([]byte, error) {
	t.Helper()
	size := a.Grid.Size
	b := make([]byte, size[0]*size[1])
	return b, a.Read(t.Context(), volume.Box{Min: volume.Vec{0, 0, z}, Max: volume.Vec{size[0], size[1], z + 1}}, b)
}

// TestRestartPoints: a pass over a compressed stream leaves an index. With it, a read decompresses the parts that it
// needs, in any order. An index that is damaged, or that is not of this stream, costs another pass, and the bytes are
// right.
func TestRestartPoints(t *testing.T) {
	size := volume.Vec{100, 100, 150}
	voxels := compressible(size[0] * size[1] * size[2])
	plane := size[0] * size[1]
	dir := t.TempDir()
	for i, name := range packedFiles(t, dir, voxels, size) {
		if testing.Short() && i != 1 && i != 4 {
			continue // gzip and zlib: goroutines do the same at other levels
		}
		store := &memoryIndexes{}
		a, u := unpackedArray(t, name, store)
		if p, ok := a.Packed(); !ok || p.Indexed || p.Bytes < int64(len(voxels)) {
			t.Errorf("%s: before: %+v, %v", name, p, ok)
		}
		if got, err := readPlane(t, a, size[2]-1); err != nil || !bytes.Equal(got, voxels[len(voxels)-plane:]) ||
			len(u.points) < 8 {
			t.Fatalf("%s: the pass: %v, %d places", name, err, len(u.points))
		}
		a, u = unpackedArray(t, name, store)
		if p, _ := a.Packed(); !p.Indexed {
			t.Errorf("%s: after: %+v", name, p)
		}
		middle := size[2] / 2
		if got, err := readPlane(t, a, middle); err != nil || !bytes.Equal(got, voxels[middle*plane:][:plane]) {
			t.Fatalf("%s: the middle: %v", name, err)
		}
		parts := 0
		for _, done := range u.index.Load().done {
			if done {
				parts++
			}
		}
		if parts < 1 || parts > 2 || u.at.Load() > 0 {
			t.Errorf("%s: %d parts, and a pass up to %d", name, parts, u.at.Load())
		}
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for z := range size[2] {
					z = size[2] - 1 - z
					if got, err := readPlane(t, a, z); err != nil || !bytes.Equal(got, voxels[z*plane:][:plane]) {
						t.Errorf("%s: plane %d: %v", name, z, err)
					}
				}
			})
		}
		readers.Wait()
		if u.at.Load() > 0 || store.removed > 0 {
			t.Errorf("%s: there was another pass", name)
		}
		damageIndex(t, name, store, voxels, size)
	}
}

// damageIndex damages an index in some of its bytes.
func damageIndex(t *testing.T, name string, store *memoryIndexes, voxels []byte, size volume.Vec) {
	plane := size[0] * size[1]
	whole := store.content
	r := rand.New(rand.NewPCG(uint64(len(whole)), 1))
	records := int(footerSize+recordSize*8) * 2
	tries := 30
	if testing.Short() {
		tries = 5
	}
	for try := range tries {
		at := r.IntN(len(whole))
		if try%2 == 0 {
			at = len(whole) - 1 - r.IntN(records)
		}
		damaged := &memoryIndexes{content: bytes.Clone(whole)}
		damaged.content[at] ^= 1 << r.IntN(8)
		if try == tries-1 {
			damaged.content = whole[:len(whole)/2]
		}
		a, _ := unpackedArray(t, name, damaged)
		for _, z := range []int{size[2] / 3, 0, size[2] - 1} {
			if got, err := readPlane(t, a, z); err != nil || !bytes.Equal(got, voxels[z*plane:][:plane]) {
				t.Errorf("%s: an index with another byte %d of %d: plane %d: %v", name, at, len(whole), z, err)
			}
		}
	}
}

// TestOtherStream: with the index of another stream of the same length, the bytes are right. A source that was damaged
// after its index was made is an error that names the file.
func TestOtherStream(t *testing.T) {
	size := volume.Vec{100, 100, 60}
	voxels := compressible(size[0] * size[1] * size[2])
	dir := t.TempDir()
	name := packedFiles(t, dir, voxels, size)[1]
	store := &memoryIndexes{}
	a, _ := unpackedArray(t, name, store)
	if _, err := readPlane(t, a, size[2]-1); err != nil || store.content == nil {
		t.Fatalf("%v, no index", err)
	}
	other := bytes.Clone(voxels)
	for i := range other {
		other[i] ^= 0x55
	}
	name = packedFiles(t, t.TempDir(), other, size)[1]
	a, _ = unpackedArray(t, name, store)
	for _, z := range []int{30, 0, 59} {
		if got, err := readPlane(t, a, z); err != nil || !bytes.Equal(got, other[z*10_000:][:10_000]) {
			t.Errorf("plane %d: %v", z, err)
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/3] ^= 4
	name = filepath.Join(dir, "damaged.nrrd")
	write(t, name, b)
	a, _ = unpackedArray(t, name, store)
	failed := 0
	for z := range 60 {
		switch got, err := readPlane(t, a, z); {
		case err == nil && !bytes.Equal(got, other[z*10_000:][:10_000]):
			t.Errorf("a damaged file: plane %d has other bytes", z)
		case err != nil && !strings.Contains(err.Error(), name):
			t.Errorf("a damaged file: plane %d: %v", z, err)
		case err != nil:
			failed++
		}
	}
	if failed == 0 {
		t.Error("a damaged file is read")
	}
}

// TestWrongChecksumOfStream: a stream whose checksum or length is wrong is an error, also of the bytes before, when it
// was read to its end.
func TestWrongChecksumOfStream(t *testing.T) {
	size := volume.Vec{100, 100, 60}
	voxels := compressible(size[0] * size[1] * size[2])
	for i, name := range packedFiles(t, t.TempDir(), voxels, size) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{1, 8} {
			if i == 4 && at == 8 { // zlib has no length
				continue
			}
			b := bytes.Clone(b)
			b[len(b)-at] ^= 1
			write(t, name, b)
			store := &memoryIndexes{}
			a, _ := unpackedArray(t, name, store)
			if got, err := readPlane(t, a, 0); err != nil || !bytes.Equal(got, voxels[:10_000]) {
				t.Errorf("%s: the start: %v", name, err)
			}
			for _, z := range []int{59, 0, 59} {
				if _, err := readPlane(t, a, z); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: plane %d: got %v, want an error that names the file", name, z, err)
				}
			}
			if store.content != nil {
				t.Errorf("%s: there is an index", name)
			}
		}
	}
}

// TestFullDiskOfUnpacked: if there is no room for plain bytes, a read fails. When there is, it goes on.
func TestFullDiskOfUnpacked(t *testing.T) {
	size := volume.Vec{100, 100, 60}
	voxels := compressible(size[0] * size[1] * size[2])
	name := packedFiles(t, t.TempDir(), voxels, size)[1]
	a, u := unpackedArray(t, name, nil)
	if _, err := readPlane(t, a, 5); err != nil {
		t.Fatal(err)
	}
	room := u.plain.Load()
	full, err := os.Open(os.DevNull) // not to be written
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	u.plain.Store(full)
	for range 2 {
		if _, err := readPlane(t, a, 59); err == nil || !strings.Contains(err.Error(), name+": unpacking it: ") {
			t.Errorf("without room: got %v", err)
		}
	}
	u.plain.Store(room)
	for _, z := range []int{59, 30} {
		if got, err := readPlane(t, a, z); err != nil || !bytes.Equal(got, voxels[z*10_000:][:10_000]) {
			t.Errorf("plane %d with room: %v", z, err)
		}
	}
}
