package wkw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// The cube that the tests damage has 2³ blocks of 8³ × uint16 and dataOffset 80. Each block has 1024 decoded and 1029
// stored bytes. Block n is at byte 80 + 1029·n, and the file has 8312 bytes.
var damagedCube = cubeOf(volume.Uint16, 1, 8, 2)

const (
	storedBlock  = 1029
	damagedBytes = 80 + 8*storedBlock
)

// put returns a function that changes one number of 8 bytes.
func put(at int, n uint64) func([]byte) []byte {
	return func(b []byte) []byte {
		binary.LittleEndian.PutUint64(b[at:], n)
		return b
	}
}

// set returns a function that changes one byte.
func set(at int, to byte) func([]byte) []byte {
	return func(b []byte) []byte { b[at] = to; return b }
}

// cut returns a function that truncates the file.
func cut(size int) func([]byte) []byte {
	return func(b []byte) []byte { return b[:size] }
}

// replaceBlock1 returns a function that replaces the stored bytes of block 1, and updates the jump table. All other
// blocks have size stored bytes.
func replaceBlock1(stored []byte, size int) func([]byte) []byte {
	return func(b []byte) []byte {
		start, end := 80+size, 80+2*size
		b = slices.Concat(b[:start], stored, b[end:])
		for n := 1; n < 8; n++ {
			put(16+8*n, uint64(start+len(stored)+(n-1)*size))(b)
		}
		return b
	}
}

func TestDamagedOpen(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
		want   string
	}{
		{"empty", cut(0), `x0.wkw: header at byte 0: expected 16 bytes, found 0`},
		{"header cut off", cut(12), `x0.wkw: header at byte 0: expected 16 bytes, found 12`},
		{"magic", set(0, 'w'), `x0.wkw: magic at byte 0: expected "WKW", found "wKW"`},
		{"version", set(3, 2), `x0.wkw: unsupported version at byte 3: expected 1, found 2`},
		{"geometry", set(4, 0x1A),
			`x0.wkw: unsupported perDimLog2 at byte 4: expected blocks of at most 1073741824 bytes, found 2147483648`},
		{"blockType", set(5, 7), `x0.wkw: blockType at byte 5: expected 1 to 3, found 7`},
		{"voxelType", set(6, 200), `x0.wkw: voxelType at byte 6: expected 1 to 10, found 200`},
		{"voxelSize", set(7, 1), `x0.wkw: voxelSize at byte 7: expected a positive multiple of 2, found 1`},
		{"dataOffset 0", put(8, 0), `x0.wkw: dataOffset at byte 8: expected at least 80, found 0`},
		{"dataOffset in the table", put(8, 79), `x0.wkw: dataOffset at byte 8: expected at least 80, found 79`},
		{"dataOffset 2^63", put(8, 1<<63),
			`x0.wkw: dataOffset at byte 8: expected at most 2^63 − 1, found 9223372036854775808`},
		{"dataOffset in the header, raw", func(b []byte) []byte { return put(8, 15)(set(5, 1)(b)) },
			`x0.wkw: dataOffset at byte 8: expected at least 16, found 15`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openBytes(c.damage(literalCube(damagedCube, 80)))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v\nexpected %s", err, c.want)
			}
		})
	}
}

// TestDamagedBlocks shows that a damaged block has an error with the cause, and that all other blocks are read.
func TestDamagedBlocks(t *testing.T) {
	block := make([]byte, 1024)
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
		want   map[uint64]string // by Morton index
	}{
		{"nothing", set(0, 'W'), nil},
		{"longer", func(b []byte) []byte { return append(b, "more"...) }, nil},
		{"last byte cut off", cut(damagedBytes - 1), map[uint64]string{
			7: `x0.wkw: jump table entry of block 1,1,1 at byte 72: expected at most 8311 (end of file), found 8312`}},
		{"two blocks cut off", cut(80 + 6*storedBlock), map[uint64]string{
			6: `x0.wkw: jump table entry of block 0,1,1 at byte 64: expected at most 6254 (end of file), found 7283`,
			7: `x0.wkw: jump table entry of block 1,1,1 at byte 72: expected at most 6254 (end of file), found 8312`}},
		{"entry 0", put(16, 0), map[uint64]string{
			0: `x0.wkw: jump table entry of block 0,0,0 at byte 16: expected more than 80, found 0`,
			1: `x0.wkw: jump table entry before block 1,0,0 at byte 16: expected 80 to 8312 (end of file), found 0`}},
		{"entry in the header", put(24, 79), map[uint64]string{
			1: `x0.wkw: jump table entry of block 1,0,0 at byte 24: expected more than 1109, found 79`,
			2: `x0.wkw: jump table entry before block 0,1,0 at byte 24: expected 80 to 8312 (end of file), found 79`}},
		{"no bytes", put(24, 80+storedBlock), map[uint64]string{
			1: `x0.wkw: jump table entry of block 1,0,0 at byte 24: expected more than 1109, found 1109`,
			2: `x0.wkw: block 0,1,0 at byte 1109: expected at most 1044 compressed bytes, found 2058`}},
		{"entries swapped", func(b []byte) []byte { return put(24, 80+3*storedBlock)(put(32, 80+2*storedBlock)(b)) },
			map[uint64]string{
				1: `x0.wkw: block 1,0,0 at byte 1109: expected at most 1044 compressed bytes, found 2058`,
				2: `x0.wkw: jump table entry of block 0,1,0 at byte 32: expected more than 3167, found 2138`,
				3: `x0.wkw: block 1,1,0 at byte 2138: expected at most 1044 compressed bytes, found 2058`}},
		{"entry 2^64 − 1", put(24, math.MaxUint64), map[uint64]string{
			1: `x0.wkw: jump table entry of block 1,0,0 at byte 24: expected at most 8312 (end of file), found 18446744073709551615`,
			2: `x0.wkw: jump table entry before block 0,1,0 at byte 24: expected 80 to 8312 (end of file), found 18446744073709551615`}},
		{"one byte short", put(72, damagedBytes-1), map[uint64]string{
			7: `x0.wkw: block 1,1,1 at byte 7283: expected 1024 decoded bytes, found 0, then 1024 literals, of which 1023 are stored at compressed byte 0`}},
		{"decodes short", replaceBlock1(literals(block[:1000]), storedBlock), map[uint64]string{
			1: `x0.wkw: block 1,0,0 at byte 1109: expected 1024 decoded bytes, found 1000`}},
		{"too little for its size", replaceBlock1([]byte{0x10, 'a', 1, 0}, storedBlock), map[uint64]string{
			1: `x0.wkw: block 1,0,0 at byte 1109: expected at least 5 compressed bytes, found 4`}},
		{"decodes long", replaceBlock1(literals(append(block, 0)), storedBlock), map[uint64]string{
			1: `x0.wkw: block 1,0,0 at byte 1109: expected 1024 decoded bytes, found 0, then 1025 literals with room for 1024 at compressed byte 0`}},
		{"match before the block", replaceBlock1([]byte{0x10, 'a', 2, 0, 0}, storedBlock), map[uint64]string{
			1: `x0.wkw: block 1,0,0 at byte 1109: expected 1024 decoded bytes, found 1, then a match 2 bytes back at compressed byte 2`}},
		{"over the bound", replaceBlock1(make([]byte, 1045), storedBlock), map[uint64]string{
			1: `x0.wkw: block 1,0,0 at byte 1109: expected at most 1044 compressed bytes, found 1045`}},
		{"table cut off", cut(16 + 6*8 + 3), map[uint64]string{
			0: `x0.wkw: jump table entry of block 0,0,0 at byte 16: expected at most 67 (end of file), found 1109`,
			1: `x0.wkw: jump table entry of block 1,0,0 at byte 24: expected at most 67 (end of file), found 2138`,
			2: `x0.wkw: jump table entry of block 0,1,0 at byte 32: expected at most 67 (end of file), found 3167`,
			3: `x0.wkw: jump table entry of block 1,1,0 at byte 40: expected at most 67 (end of file), found 4196`,
			4: `x0.wkw: jump table entry of block 0,0,1 at byte 48: expected at most 67 (end of file), found 5225`,
			5: `x0.wkw: jump table entry of block 1,0,1 at byte 56: expected at most 67 (end of file), found 6254`,
			6: `x0.wkw: jump table entry of block 0,1,1 at byte 64: expected 8 bytes, found the end of the file at byte 67`,
			7: `x0.wkw: jump table entry of block 1,1,1 at byte 72: expected 8 bytes, found the end of the file at byte 67`}},
	} {
		t.Run(c.name, func(t *testing.T) { checkDamage(t, c.damage(literalCube(damagedCube, 80)), c.want) })
	}
}

// TestDamagedRaw shows the errors of raw cubes. They can only be too short.
func TestDamagedRaw(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
		want   map[uint64]string
	}{
		{"nothing", cut(16 + 8*1024), nil},
		{"longer", func(b []byte) []byte { return append(b, "more"...) }, nil},
		{"last byte cut off", cut(16 + 8*1024 - 1), map[uint64]string{
			7: `x0.wkw: block 1,1,1 at byte 7184: expected 1024 bytes, found the end of the file at byte 8207`}},
		{"two blocks cut off", cut(16 + 6*1024), map[uint64]string{
			6: `x0.wkw: block 0,1,1 at byte 6160: expected 1024 bytes, found the end of the file at byte 6160`,
			7: `x0.wkw: block 1,1,1 at byte 7184: expected 1024 bytes, found the end of the file at byte 6160`}},
	} {
		t.Run(c.name, func(t *testing.T) { checkDamage(t, c.damage(rawCube(damagedCube, 16)), c.want) })
	}
	t.Run("dataOffset 2^63 − 1", func(t *testing.T) {
		f, err := openBytes(put(8, math.MaxInt64)(rawCube(damagedCube, 16)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = volume.ReadBlock(t.Context(), f, volume.Cube(1))
		want := `x0.wkw: block 1,1,1 at byte 9223372036854775807: expected 1024 bytes, found the end of the file at byte 8208`
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nexpected %s", err, want)
		}
	})
}

// checkDamage reads every block of a damagedCube. Blocks in want must fail with that text. All others must be right. If
// the stored size is wrong, StoredSize must fail with the same error.
func checkDamage(t *testing.T, file []byte, want map[uint64]string) {
	f, err := openBytes(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(8) {
		b := MortonBlock(n)
		block, err := volume.ReadBlock(t.Context(), f, b)
		if text, damaged := want[n]; damaged {
			if err == nil || err.Error() != text {
				t.Errorf("block %d: got %v\nexpected %s", n, err, text)
			}
			if _, is := errors.AsType[*volume.FormatError](err); !is || block != nil {
				t.Errorf("block %d: got %T and %d bytes", n, err, len(block))
			}
			if _, sizeErr := f.StoredSize(b); sizeErr != nil && sizeErr.Error() != text {
				t.Errorf("block %d: StoredSize: got %v\nexpected %s", n, sizeErr, text)
			}
			continue
		}
		if err != nil || !bytes.Equal(block, damagedCube.block(b)) {
			t.Errorf("block %d: %v", n, err)
		}
	}
}
