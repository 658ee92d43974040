package integration

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// small is the cube that the tests damage: 2³ blocks of 16³ voxels. The jump table ends at byte 80. A block has
// 4 KiB. A page of the flat file has rows of two blocks.
var small = model{blockLog: 4, cubeLog: 1, blockType: 2, voxelType: 1, channels: 1}

const smallTable = 16 // offset of the jump table

// tableEntry returns entry i of the jump table: the end of block i.
func tableEntry(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[smallTable+8*i:]) }

// setEntry changes entry i of the jump table.
func setEntry(b []byte, i int, v uint64) []byte {
	binary.LittleEndian.PutUint64(b[smallTable+8*i:], v)
	return b
}

func setByte(i int, v byte) func([]byte) []byte {
	return func(b []byte) []byte { b[i] = v; return b }
}

// damages has one row for each field and each rule of the format. bad are the blocks, in Morton order, that
// cannot be read. nil means all. The log has to contain log.
var damages = []struct {
	name   string
	damage func([]byte) []byte
	bad    []int
	log    string
}{
	{"magic", setByte(0, 'X'), nil, `magic`},
	{"version", setByte(3, 2), nil, `version`},
	{"cube side", setByte(4, 0x24), nil, `dataOffset`},
	{"block side", setByte(4, 0x13), nil, `geometry`},
	{"block type 0", setByte(5, 0), nil, `blockType`},
	{"block type 4", setByte(5, 4), nil, `blockType`},
	{"voxel type 0", setByte(6, 0), nil, `voxelType`},
	{"voxel type 11", setByte(6, 11), nil, `voxelType`},
	{"voxel type of the mag", setByte(6, 7), nil, `geometry`},
	{"voxel size 0", setByte(7, 0), nil, `voxelSize`},
	{"voxel size of the mag", setByte(7, 2), nil, `geometry`},
	{"data offset 0", setByte(8, 0), nil, `dataOffset`},
	{"data offset in the table", setByte(8, 79), nil, `dataOffset`},
	{"huge sides", setByte(4, 0xff), nil, ``},
	{"empty file", func([]byte) []byte { return nil }, nil, `header`},
	{"short header", func(b []byte) []byte { return b[:15] }, nil, `header`},
	{"short table", func(b []byte) []byte { return b[:smallTable+8*3+4] }, nil, ``},
	{"cut off in block 5", func(b []byte) []byte { return b[:tableEntry(b, 5)-1] }, []int{5, 6, 7}, `block 1,0,1`},
	{"entry before its block", func(b []byte) []byte { return setEntry(b, 2, tableEntry(b, 1)-1) }, []int{2, 3},
		`block 0,1,0`},
	{"entry 2^64-1", func(b []byte) []byte { return setEntry(b, 7, 1<<64-1) }, []int{7}, `block 1,1,1`},
	{"entry 0", func(b []byte) []byte { return setEntry(b, 0, 0) }, []int{0, 1}, `block 0,0,0`},
	{"empty block", func(b []byte) []byte { return setEntry(b, 4, tableEntry(b, 3)) }, []int{4, 5}, `block 0,0,1`},
	{"block that is no LZ4", func(b []byte) []byte {
		for i := tableEntry(b, 2); i < tableEntry(b, 3); i++ {
			b[i] = 0xff
		}
		return b
	}, []int{3}, `block 1,1,0`},
	{"block that decodes short", func(b []byte) []byte {
		copy(b[tableEntry(b, 5):], "\xf0\x05twenty literal bytes")
		return setEntry(b, 6, tableEntry(b, 5)+22)
	}, []int{6, 7}, `expected 4096`},
	{"longer than needed", func(b []byte) []byte { return append(b, "after the last block"...) }, []int{}, ``},
}

// TestDamage checks for each kind of damage that everything that depends on it is an error, that the log has
// one line with the reason, and that every other byte of the dataset reads.
func TestDamage(t *testing.T) {
	source := t.TempDir()
	mag := filepath.Join(source, "color/1")
	small.writeHeader(t, mag)
	for i, d := range damages {
		writeFile(t, filepath.Join(mag, cubePath(i)+".wkw"), d.damage(small.file(t)))
	}
	small.write(t, mag, 0, 0, len(damages)) // an intact cube
	log := filepath.Join(t.TempDir(), "log")
	dir := filepath.Join(mount(t, source, "--log-file", log), "color/1")
	want := small.flat()

	for i, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			cube := filepath.Join(dir, cubePath(i))
			bad := d.bad
			if bad == nil {
				bad = []int{0, 1, 2, 3, 4, 5, 6, 7}
			}
			checkBlocks(t, cube+".blocks", bad)
			checkDirect(t, cube+".raw", want, bad)
			checkPages(t, cube+".raw", want, bad)
			if info, err := os.Stat(cube + ".raw"); err != nil || info.Size() != int64(len(want)) {
				t.Errorf("stat: %v, or a wrong size", err)
			}
			if b, err := os.ReadFile(log); len(bad) > 0 && (err != nil || !logged(string(b), cubePath(i), d.log)) {
				t.Errorf("the log has no line with %q for this cube; %v:\n%s", d.log, err, b)
			}
		})
	}
	if got, err := os.ReadFile(filepath.Join(dir, cubePath(len(damages))+".raw")); err != nil ||
		!bytes.Equal(got, want) {
		t.Errorf("the intact cube: %d bytes, %v", len(got), err)
	}
	wantUniqueErrors(t, log)
}

// wantUniqueErrors checks that no two lines of a log have the same error.
func wantUniqueErrors(t *testing.T, log string) {
	t.Helper()
	seen := map[string]bool{}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		_, message, ok := strings.Cut(line, " err=")
		if ok && seen[message] {
			t.Errorf("logged more than once: %s", message)
		}
		seen[message] = true
	}
}

// cubePath returns the path of the cube at z without its extension.
func cubePath(z int) string { return filepath.Join("z"+itoa(z), "y0", "x0") }

// logged reports whether a line of the log names the cube and contains the text.
func logged(log, cube, want string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, cube+".wkw") && strings.Contains(line, want) {
			return true
		}
	}
	return false
}

// blockOf returns the block, in Morton order, that holds byte i of the flat cube.
func blockOf(i int) int {
	x, y, z := i%32/16, i/32%32/16, i/1024/16
	return x | y<<1 | z<<2
}

// checkBlocks reads the block files. Exactly the bad blocks have to fail.
func checkBlocks(t *testing.T, dir string, bad []int) {
	t.Helper()
	for i := range 8 {
		x, y, z := i&1, i>>1&1, i>>2
		got, err := os.ReadFile(filepath.Join(dir, "z"+itoa(z), "y"+itoa(y), "x"+itoa(x)+".raw"))
		switch {
		case slices.Contains(bad, i) && !errors.Is(err, syscall.EIO):
			t.Errorf("bad block %d: %d bytes, error %v; want EIO", i, len(got), err)
		case !slices.Contains(bad, i) && (err != nil || !bytes.Equal(got, small.part(x*16, y*16, z*16, 16))):
			t.Errorf("good block %d: %d bytes, error %v", i, len(got), err)
		}
	}
}

// checkDirect reads past the page cache. Exactly the bytes of bad blocks have to fail, and a read of everything if it
// has one of them.
func checkDirect(t *testing.T, name string, want []byte, bad []int) {
	t.Helper()
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		if len(bad) != 8 || !errors.Is(err, syscall.EIO) {
			t.Errorf("open: %v", err)
		}
		return
	}
	defer unix.Close(fd)
	all := make([]byte, len(want))
	switch n, err := unix.Pread(fd, all, 0); {
	case len(bad) > 0 && !errors.Is(err, syscall.EIO):
		t.Errorf("all bytes, some of them bad: got %d bytes, error %v; want EIO", n, err)
	case len(bad) == 0 && (err != nil || !bytes.Equal(all, want)):
		t.Errorf("all bytes: got %d bytes, error %v", n, err)
	}
	for i := 0; i < len(want); i += 16 { // 16 bytes are in one block
		p := make([]byte, 16)
		n, err := unix.Pread(fd, p, int64(i))
		switch isBad := slices.Contains(bad, blockOf(i)); {
		case isBad && !errors.Is(err, syscall.EIO):
			t.Fatalf("bad bytes at %d: got %d bytes, error %v; want EIO", i, n, err)
		case !isBad && (err != nil || !bytes.Equal(p, want[i:i+16])):
			t.Fatalf("good bytes at %d: got %d bytes, error %v", i, n, err)
		}
	}
}

// checkPages reads through the page cache. Exactly the pages with a byte of a bad block have to fail.
func checkPages(t *testing.T, name string, want []byte, bad []int) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		return // checkDirect has checked the error
	}
	defer f.Close()
	for page := 0; page < len(want); page += 4096 {
		isBad := false
		for i := page; i < page+4096; i += 16 {
			isBad = isBad || slices.Contains(bad, blockOf(i))
		}
		p := make([]byte, 4096)
		n, err := unix.Pread(int(f.Fd()), p, int64(page))
		switch {
		case isBad && !errors.Is(err, syscall.EIO):
			t.Errorf("bad page at %d: got %d bytes, error %v; want EIO", page, n, err)
		case !isBad && (err != nil || !bytes.Equal(p, want[page:page+4096])):
			t.Errorf("good page at %d: got %d bytes, error %v", page, n, err)
		}
	}
}
