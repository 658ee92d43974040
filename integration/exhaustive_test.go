package integration

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/webknossos"
)

// tiny has cubes of 2³ blocks of 4³ voxels. The tests damage every byte of them in turn.
var tiny = []model{
	{blockLog: 2, cubeLog: 1, blockType: 1, voxelType: 1, channels: 1},
	{blockLog: 2, cubeLog: 1, blockType: 2, voxelType: 2, channels: 1},
	{blockLog: 2, cubeLog: 1, blockType: 3, voxelType: 1, channels: 3},
}

// mutation is a damaged cube file.
type mutation struct {
	change string
	file   []byte
}

// mutations damages the file everywhere: each byte of the header takes each other value, each later byte takes
// several values, and the file is cut off at each length.
func mutationsOf(file []byte) []mutation {
	var mutations []mutation
	change := func(i int, v byte) {
		if file[i] != v {
			b := bytes.Clone(file)
			b[i] = v
			mutations = append(mutations, mutation{fmt.Sprintf("byte %d = %#x, was %#x", i, v, file[i]), b})
		}
	}
	for i := range 16 {
		for v := range 256 {
			change(i, byte(v))
		}
	}
	for i := 16; i < len(file); i++ {
		for _, v := range []byte{0, 1, 0x7f, 0xff, file[i] ^ 1, file[i] ^ 0x80, file[i] + 1, file[i] - 1} {
			change(i, v)
		}
	}
	for n := range file {
		mutations = append(mutations, mutation{fmt.Sprintf("cut off after %d bytes", n), file[:n]})
	}
	return append(mutations, tableMutations(file)...)
}

// tableMutations changes entries of the jump table, or the bytes in its place in a RAW cube: to values that
// overflow, that go back, and that are exchanged with each other.
func tableMutations(file []byte) []mutation {
	var mutations []mutation
	for i := range 8 {
		for _, v := range []uint64{0, 1, 15, 16, 79, 80, 1 << 31, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 80,
			uint64(len(file)), uint64(len(file)) + 1} {
			mutations = append(mutations, mutation{fmt.Sprintf("entry %d = %d", i, v),
				setEntry(bytes.Clone(file), i, v)})
		}
		for j := range i {
			b := bytes.Clone(file)
			first, second := tableEntry(b, i), tableEntry(b, j)
			mutations = append(mutations, mutation{fmt.Sprintf("entries %d and %d exchanged", i, j),
				setEntry(setEntry(b, i, second), j, first)})
		}
	}
	return mutations
}

// allDamages makes TestEveryByteDamaged try each value.
var allDamages = flag.Bool("damage.all", false, "each byte takes all values of TestEveryByteDamaged, not some of them")

// partOf returns a part of the mutations, by default a sixteenth at random: every other byte is in about one of them. A
// message has the mutation, so it can be repeated.
func partOf(all []mutation) []mutation {
	n := len(all) / 16
	switch {
	case testing.Short() || os.Getenv(raceVariable) == "1":
		n = 500
	case *allDamages:
		return all
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// TestEveryByteDamaged checks every single damage of a small cube, or a random part of them. The bytes that can be read
// are those that a naive reader finds. All other bytes are errors.
func TestEveryByteDamaged(t *testing.T) {
	for _, m := range tiny {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			intact := m.file(t)
			all := mutationsOf(intact)
			for _, damaged := range append(partOf(all), mutation{"no change", intact}) {
				if err := m.compareFS(damaged.file); err != nil {
					t.Errorf("%s: %v", damaged.change, err)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// compareFS reads the cube as blocks, as a cube, as a volume and as a box, without a mount.
func (m model) compareFS(file []byte) error {
	fsys := fstest.MapFS{
		"1/header.wkw":      {Data: m.header(0)},
		"1/z0/y0/x0.wkw":    {Data: file},
		"1/z0/y0/other.wkw": {Data: []byte("no cube")},
	}
	root, err := webknossos.Recognise(fsys, "1", webknossos.Options{})
	if err != nil {
		return err
	}
	// Files in memory have no inodes, so a shared cache could take them for files of another test with the same size.
	c := cache.New(0)
	defer c.Close()
	tree, blocks := view.New(root, view.Options{Cache: c}), m.read(file)
	for i, want := range blocks {
		x, y, z := unmorton(i)
		got, err := fs.ReadFile(tree, fmt.Sprintf("z0/y0/x0.blocks/z%d/y%d/x%d.raw", z, y, x))
		if (err == nil) != (want != nil) || !bytes.Equal(got, want) {
			return fmt.Errorf("block %d,%d,%d: %x, %v; want %x", x, y, z, got, err, want)
		}
	}
	if err := m.compareRuns(tree, "z0/y0/x0.raw", blocks); err != nil {
		return fmt.Errorf("z0/y0/x0.raw: %w", err)
	}
	isBad, want := slices.ContainsFunc(blocks, isNil), m.assemble(blocks)
	for _, name := range []string{"volume.raw", fmt.Sprintf("box/0-%[1]d_0-%[1]d_0-%[1]d.raw", m.side())} {
		got, err := fs.ReadFile(tree, name)
		if (err == nil) == isBad || !isBad && !bytes.Equal(got, want) {
			return fmt.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	return nil
}

func isNil(b []byte) bool { return b == nil }

// compareRuns reads a flat file in runs along x that are in one block.
func (m model) compareRuns(tree fs.FS, name string, blocks [][]byte) error {
	f, err := tree.Open(name)
	if err != nil {
		if slices.ContainsFunc(blocks, func(b []byte) bool { return b != nil }) {
			return err // some block can be read
		}
		return nil
	}
	defer f.Close()
	flat, run := m.assemble(blocks), m.voxelSize()<<m.blockLog
	for off := 0; off < len(flat); off += run {
		got := make([]byte, run)
		_, err := f.(io.ReaderAt).ReadAt(got, int64(off))
		if good := blocks[m.blockAt(off)] != nil; good != (err == nil) || good && !bytes.Equal(got, flat[off:off+run]) {
			return fmt.Errorf("bytes at %d: %x, %v; want %x", off, got, err, flat[off:off+run])
		}
	}
	return nil
}

// assemble returns the flat cube of blocks in Morton order.
func (m model) assemble(blocks [][]byte) []byte {
	side, run := m.side(), m.voxelSize()<<m.blockLog
	flat := make([]byte, side*side*side*m.voxelSize())
	for i, block := range blocks {
		x0, y0, z0 := unmorton(i)
		for r := 0; r*run < len(block); r++ {
			y, z := y0<<m.blockLog+r&(1<<m.blockLog-1), z0<<m.blockLog+r>>m.blockLog
			copy(flat[((z*side+y)*side+x0<<m.blockLog)*m.voxelSize():], block[r*run:(r+1)*run])
		}
	}
	return flat
}

// blockAt returns the block, in Morton order, that has the byte of the flat cube.
func (m model) blockAt(off int) int {
	v, s := off/m.voxelSize(), m.side()
	return morton(v%s>>m.blockLog, v/s%s>>m.blockLog, v/s/s>>m.blockLog)
}

func morton(x, y, z int) (i int) {
	for bit := range 16 {
		i |= (x>>bit&1 | y>>bit&1<<1 | z>>bit&1<<2) << (3 * bit)
	}
	return i
}

func unmorton(i int) (x, y, z int) {
	for bit := range 16 {
		x |= i >> (3 * bit) & 1 << bit
		y |= i >> (3*bit + 1) & 1 << bit
		z |= i >> (3*bit + 2) & 1 << bit
	}
	return x, y, z
}

// TestDamageTakesNoMemory reads files whose headers and tables claim far more bytes than the files have.
func TestDamageTakesNoMemory(t *testing.T) {
	for _, c := range []struct {
		name string
		m    model
		data []byte
	}{
		{"a block of 1 GiB out of 5 bytes", model{blockLog: 10, cubeLog: 0, blockType: 2, voxelType: 1, channels: 1},
			[]byte{0x10, 'a', 1, 0, 0}},
		{"a block of 1 GiB out of none", model{blockLog: 10, cubeLog: 0, blockType: 2, voxelType: 1, channels: 1}, nil},
		{"a raw block of 1 GiB", model{blockLog: 10, cubeLog: 0, blockType: 1, voxelType: 1, channels: 1},
			make([]byte, 1000)},
		{"a block that decodes to more than its size", model{blockLog: 2, cubeLog: 0, blockType: 2, voxelType: 1,
			channels: 1},
			slices.Concat([]byte{0x1f, 'a', 1, 0}, bytes.Repeat([]byte{255}, 60), []byte{0})},
		{"a table of 32768³ entries", model{blockLog: 0, cubeLog: 15, blockType: 2, voxelType: 1, channels: 1},
			make([]byte, 1000)},
	} {
		n := 1 << (3 * c.m.cubeLog)
		start := 16
		if c.m.blockType != 1 {
			start += 8 * n
		}
		file := c.m.header(start)
		if n == 1 && c.m.blockType != 1 {
			file = append(file, make([]byte, 8)...)
			file[16] = byte(start + len(c.data))
		}
		fsys := fstest.MapFS{"1/header.wkw": {Data: c.m.header(0)}, "1/z0/y0/x0.wkw": {Data: append(file, c.data...)}}
		root, err := webknossos.Recognise(fsys, "1", webknossos.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tree := view.New(root, view.Options{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, name := range []string{"z0/y0/x0.raw", "volume.raw", "volume.nii", "slices/z0000000.tif",
			"z0/y0/x0.blocks/z0/y0/x0.raw"} {
			f, err := tree.Open(name)
			if err != nil {
				continue // an error of open is as good as one of read
			}
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.(io.ReaderAt).ReadAt(make([]byte, 4096), info.Size()/2); err == nil {
				t.Errorf("%s: %s: no error", c.name, name)
			}
			f.Close()
		}
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20 {
			t.Errorf("%s: allocated %d MiB", c.name, taken>>20)
		}
	}
}

// TestMountedDamage reads a sample of the mutations through the kernel.
func TestMountedDamage(t *testing.T) {
	m := tiny[1]
	all := mutationsOf(m.file(t))
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:300]
	source := t.TempDir()
	m.writeHeader(t, source)
	for i, damaged := range all {
		writeFile(t, filepath.Join(source, fmt.Sprintf("z0/y0/x%d.wkw", i)), damaged.file)
	}
	dir := mount(t, source, "--log-file", os.DevNull)
	for i, damaged := range all {
		for n, want := range m.read(damaged.file) {
			x, y, z := unmorton(n)
			got, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("z0/y0/x%d.blocks/z%d/y%d/x%d.raw", i, z, y, x)))
			if want == nil && !errors.Is(err, syscall.EIO) || want != nil && (err != nil || !bytes.Equal(got, want)) {
				t.Errorf("%s: block %d: got %d bytes, error %v; intact: %v", damaged.change, n, len(got), err,
					want != nil)
			}
		}
	}
}
