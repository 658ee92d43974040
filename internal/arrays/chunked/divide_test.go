package chunked

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/arrays/codec"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// divided is an array of one chunk of 64 × 64 × 64 values of 4 bytes, in two blocks of blosc.
func divided() *model {
	a := &Array{
		Shape: []int{64, 64, 64}, Chunk: []int{64, 64, 64}, Type: volume.Uint32, Order: []int{0, 1, 2},
		Key:    Key{"c", "/"},
		Codecs: codec.Chain{codec.Blosc{}}, Unit: 512 << 10,
	}
	m := &model{Array: a, blosc: a.Unit, absent: map[string]bool{}}
	m.write()
	return m
}

// TestDivided: which chunks have several blocks.
func TestDivided(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	for _, test := range []struct {
		name   string
		change func(a *Array, o *Options)
		want   volume.Vec
	}{
		{"two units", func(*Array, *Options) {}, volume.Vec{64, 64, 32}},
		{"four units", func(a *Array, _ *Options) { a.Chunk = []int{64, 128, 64} }, volume.Vec{64, 128, 16}},
		{"small units", func(a *Array, _ *Options) { a.Unit = 32 << 10 }, volume.Vec{64, 64, 32}},
		{"at most 16 blocks",
			func(a *Array, _ *Options) { a.Shape, a.Chunk = []int{1024, 128, 128}, []int{1024, 64, 64} },
			volume.Vec{64, 64, 64}},
		{"past the end", func(a *Array, _ *Options) { a.Shape, a.Chunk = []int{100, 128, 128}, []int{1 << 16, 64, 64} },
			volume.Vec{64, 64, 32}},
		{"past the end, gzip", func(a *Array, _ *Options) {
			a.Shape, a.Chunk, a.Codecs = []int{100, 128, 128}, []int{1 << 16, 64, 64}, codec.Chain{codec.Gzip{}}
		}, volume.Vec{64, 64, 128}},
		{"past the end, with a header", func(a *Array, _ *Options) {
			a.Shape, a.Chunk, a.Codecs = []int{100, 128, 128}, []int{300, 64, 64}, codec.Chain{codec.Gzip{}}
			a.Header = func(b []byte) ([]byte, []int, error) { return b, nil, nil }
		}, volume.Vec{64, 64, 100}},
		{"past the end, another codec", func(a *Array, _ *Options) {
			a.Shape, a.Chunk, a.Codecs = []int{100, 128, 128}, []int{1 << 10, 64, 64}, codec.Chain{codec.Zstd{}}
		}, volume.Vec{64, 64, 1 << 10}},
		{"no compression", func(a *Array, _ *Options) {
			a.Shape, a.Chunk, a.Codecs = []int{1 << 12, 128, 128}, []int{1 << 11, 128, 128}, nil
		}, volume.Vec{128, 128, 256}},
		{"a small chunk without compression", func(a *Array, _ *Options) { a.Codecs = nil }, volume.Cube(64)},
		{"in shards", func(a *Array, _ *Options) {
			a.Shards = []Shard{{Inner: a.Chunk, Order: a.Order}}
			a.Chunk = []int{128, 128, 128}
		}, volume.Vec{64, 64, 32}},
		{"slowest axis x", func(a *Array, _ *Options) { a.Order = []int{2, 1, 0} }, volume.Vec{32, 64, 64}},
		{"slowest axis of length 1", func(a *Array, _ *Options) { a.Chunk = []int{1, 512, 512} },
			volume.Vec{512, 256, 1}},
		{"slowest axis c", func(a *Array, o *Options) {
			a.Shape, a.Chunk, a.Order, o.Axes = []int{2, 64, 64, 64}, []int{2, 64, 64, 64}, []int{0, 1, 2, 3},
				[]string{"c", "z", "y", "x"}
		}, volume.Cube(64)},
		{"one unit", func(a *Array, _ *Options) { a.Unit = 1 << 20 }, volume.Cube(64)},
		{"units that end within planes", func(a *Array, _ *Options) { a.Unit = 10000 }, volume.Cube(64)},
		{"unknown units", func(a *Array, _ *Options) { a.Unit = 0 }, volume.Cube(64)},
		{"a small chunk", func(a *Array, _ *Options) { a.Chunk = []int{32, 64, 64} }, volume.Vec{64, 64, 32}},
		{"another codec", func(a *Array, _ *Options) { a.Codecs = codec.Chain{codec.Zstd{}} }, volume.Cube(64)},
		{"a checksum", func(a *Array, _ *Options) { a.Codecs = append(a.Codecs, codec.CRC32C{}) }, volume.Cube(64)},
		{"a header",
			func(a *Array, _ *Options) { a.Header = func(b []byte) ([]byte, []int, error) { return b, nil, nil } },
			volume.Cube(64)},
	} {
		a, o := divided().Array, Options{}
		test.change(a, &o)
		m, err := New(fstest.MapFS{}, "a", a, o)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if g, err := m.CubeGrid(); err != nil || g.Block != test.want {
			t.Errorf("%s: blocks of %v, %v, expected %v", test.name, g.Block, err, test.want)
		}
	}
}

// remoteFS is an object store.
type remoteFS struct{ fs.FS }

func (remoteFS) Speed() vfs.Speed { return vfs.Speed{Remote: true} }

// TestWholeChunksOfObjects: chunks in an object store have one block each, because each request takes long.
func TestWholeChunksOfObjects(t *testing.T) {
	m := divided()
	mag, err := New(remoteFS{m.files}, "a", m.Array, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := mag.blocksOf(); n != 1 {
		t.Errorf("a chunk has %d blocks", n)
	}
}

// openDivided opens the chunk of m.
func openDivided(t *testing.T, m *model, fsys fs.FS) volume.CubeFile {
	t.Helper()
	mag, err := New(fsys, "a", m.Array, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mag.OpenCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestDamagedPart: damage in a part of a chunk that is decoded alone is an error for the voxels of this part, alone or
// beside others, and the rest reads. If the whole chunk is concerned, all of it is an error.
func TestDamagedPart(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	const first, second = 1, 2
	for _, test := range []struct {
		name    string
		change  func(b []byte)
		damaged int
	}{
		{"the stream of block 0", func(b []byte) { binary.LittleEndian.PutUint32(b[len(b)-512<<10-4:], 1000) }, first},
		{"the stream of block 1", func(b []byte) { binary.LittleEndian.PutUint32(b[24:], 1000) }, second},
		{"the offset of block 0", func(b []byte) { binary.LittleEndian.PutUint32(b[16:], 1<<30) }, first},
		{"the size", func(b []byte) { b[12]++ }, first + second},
		{"the length", func(b []byte) { b[4]++ }, first + second},
	} {
		m := divided()
		want := m.want(volume.Box{Max: volume.Cube(64)}, []string{"z", "y", "x"}, 0, 1)
		test.change(m.files["a/c/0/0/0"].Data)
		for name, fsys := range map[string]fs.FS{"in time": m.files, "late": lateFS{m.files}} {
			c := openDivided(t, m, fsys)
			check := func(b volume.Block) {
				_, isFormat := errors.AsType[*volume.FormatError](b.Err)
				switch damaged := test.damaged&(first<<b.At[2]) != 0; {
				case damaged && !isFormat:
					t.Errorf("%s, %s: block %v: expected an error of the format, found %v", test.name, name, b.At,
						b.Err)
				case !damaged && !bytes.Equal(b.Voxels, want[b.At[2]*512<<10:][:512<<10]):
					t.Errorf("%s, %s: block %v: other voxels than expected, %v", test.name, name, b.At, b.Err)
				}
			}
			both := []volume.Block{{At: volume.Vec{}}, {At: volume.Vec{0, 0, 1}}}
			c.Fill(t.Context(), both, func(volume.Vec) []byte { return make([]byte, 512<<10) })
			for _, b := range both {
				check(b)
				alone := []volume.Block{{At: b.At}}
				c.Fill(t.Context(), alone, func(volume.Vec) []byte { return make([]byte, 512<<10) })
				check(alone[0])
			}
		}
	}
}

// countingFile counts the bytes that are read.
type countingFile struct {
	lateFile
	read *int
}

func (countingFile) Speed() vfs.Speed { return vfs.Speed{} }

func (f countingFile) ReadAt(p []byte, off int64) (int, error) {
	*f.read += len(p)
	return f.lateFile.ReadAt(p, off)
}

type countingFS struct {
	fs.FS
	read *int
}

func (s countingFS) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return countingFile{lateFile{f}, s.read}, err
}

// TestReadsPartOfChunk: a block takes its part of a chunk out of the file and little more. StoredSize is its share.
func TestReadsPartOfChunk(t *testing.T) {
	for _, blosc := range []int{-1, 512 << 10, 64 << 10} {
		m := divided()
		m.blosc = blosc
		m.write()
		read := 0
		c := openDivided(t, m, countingFS{m.files, &read})
		if _, err := volume.ReadBlock(t.Context(), c, volume.Vec{}); err != nil {
			t.Fatal(err)
		}
		if read < 512<<10 || read > 513<<10 {
			t.Errorf("blocks of %d bytes: %d bytes read", blosc, read)
		}
	}
}

// FuzzDivided reads a chunk of any bytes, in parts.
func FuzzDivided(f *testing.F) {
	array := &Array{
		Shape: []int{4, 4, 4}, Chunk: []int{4, 4, 4}, Type: volume.Uint16, Order: []int{0, 1, 2}, Key: Key{"c", "/"},
		Codecs: codec.Chain{codec.Blosc{}}, Unit: 32,
	}
	for _, blosc := range []int{-1, 32, 64, 20} {
		m := &model{Array: array, blosc: blosc}
		m.write()
		f.Add(m.files["a/c/0/0/0"].Data)
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		var voxels [2]string
		for i, whole := range []int{1, 1 << 20} { // in parts, and not
			mag, err := New(fstest.MapFS{"a/c/0/0/0": &fstest.MapFile{Data: chunk}}, "a", array,
				Options{minPart: whole})
			if err != nil {
				t.Fatal(err)
			}
			c, err := mag.OpenCube(volume.Vec{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for at := range (volume.Box{Max: c.Grid().Blocks()}).All() {
				block, err := volume.ReadBlock(t.Context(), c, at)
				if _, format := errors.AsType[*volume.FormatError](err); err != nil && !format && !isUnsupported(err) ||
					err == nil && len(block) != c.Grid().BlockBytes() {
					t.Fatalf("block %v: got %d bytes, %T: %v", at, len(block), err, err)
				}
				if err != nil {
					voxels[i] = "" // damage
					break
				}
				voxels[i] += string(block)
			}
		}
		if voxels[0] != "" && voxels[1] != "" && voxels[0] != voxels[1] {
			t.Fatalf("%x in parts, %x as a whole", voxels[0], voxels[1])
		}
	})
}

func isUnsupported(err error) bool {
	_, ok := errors.AsType[*volume.UnsupportedError](err)
	return ok
}
