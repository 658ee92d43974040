package wkw

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// sparse is a file of which only some ranges are in memory. All other bytes are 0xEE. A whole draft cube would take a
// gigabyte.
type sparse struct {
	fs.File
	size   int64
	ranges map[int64][]byte
}

func (s *sparse) Stat() (fs.FileInfo, error) {
	info, err := s.File.Stat()
	return sizedInfo{info, s.size}, err
}

type sizedInfo struct {
	fs.FileInfo
	size int64
}

func (i sizedInfo) Size() int64 { return i.size }

func (s *sparse) ReadAt(p []byte, offset int64) (int, error) {
	for i := range p {
		p[i] = 0xEE
	}
	for start, b := range s.ranges {
		if lo := start - offset; lo >= 0 && lo < int64(len(p)) {
			copy(p[lo:], b)
		} else if lo < 0 && -lo < int64(len(b)) {
			copy(p, b[-lo:])
		}
	}
	if n := max(s.size-offset, 0); n < int64(len(p)) {
		return int(n), io.EOF
	}
	return len(p), nil
}

// openDraft opens a draft cube with a size, and with ranges after its header.
func openDraft(t *testing.T, bt BlockType, size int64, ranges map[int64][]byte) (*File, error) {
	t.Helper()
	below, err := fstest.MapFS{"x0.wkw": {}}.Open("x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	h := draftHeader(volume.Uint16, bt)
	if ranges[0], err = h.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	return NewFile(&sparse{below, size, ranges}, "x0.wkw")
}

func TestDraftRaw(t *testing.T) {
	const blockBytes = 2 << 15
	src := cubeOf(volume.Uint16, 1, 32, 32)
	ranges := map[int64][]byte{}
	blocks := []volume.Vec{{0, 0, 0}, {1, 0, 0}, {5, 17, 30}, {31, 31, 31}}
	for _, b := range blocks {
		ranges[8+int64(MortonIndex(b))*blockBytes] = src.block(b)
	}
	f, err := openDraft(t, Raw, 8+1<<15*blockBytes, ranges)
	if err != nil {
		t.Fatal(err)
	}
	checkBlocks(t, f, src, blocks)
	if size, err := f.StoredSize(volume.Cube(31)); size != blockBytes || err != nil {
		t.Errorf("StoredSize: %d, %v", size, err)
	}
}

// TestDraftLZ4 shows that entries are relative to byte 8 + 262144, and that block 0 starts there.
func TestDraftLZ4(t *testing.T) {
	const data = 8 + 262144
	src := cubeOf(volume.Uint16, 1, 32, 32)
	blocks := []volume.Vec{{0, 0, 0}, {1, 0, 0}, {31, 31, 31}}
	ranges := map[int64][]byte{}
	end := uint64(0)
	for _, b := range blocks {
		stored := literals(src.block(b))
		entry := 8 + 8*int64(MortonIndex(b))
		ranges[data+int64(end)] = stored
		if entry > 16 { // the end of the block before, unless that is block 1
			ranges[entry-8] = binary.LittleEndian.AppendUint64(nil, end)
		}
		end += uint64(len(stored))
		ranges[entry] = binary.LittleEndian.AppendUint64(nil, end)
	}
	f, err := openDraft(t, LZ4, data+int64(end), ranges)
	if err != nil {
		t.Fatal(err)
	}
	checkBlocks(t, f, src, blocks)

	// An entry that overflows when the base is added.
	_, err = volume.ReadBlock(t.Context(), f, volume.Vec{3, 0, 0})
	want := `x0.wkw: jump table entry of block 3,0,0 at byte 80: expected at most 197382 (end of file), found 17216961135462248174`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nexpected %s", err, want)
	}
}

func TestDraftCutOff(t *testing.T) {
	f, err := openDraft(t, LZ4, 1000, map[int64][]byte{})
	if err != nil {
		t.Fatal(err)
	}
	for b, want := range map[volume.Vec]string{
		{0, 0,
			0}: `x0.wkw: jump table entry of block 0,0,0 at byte 8: expected at most 0 (end of file), found 17216961135462248174`,
		{31, 31,
			31}: `x0.wkw: jump table entry of block 31,31,31 at byte 262144: expected 8 bytes, found the end of the file at byte 1000`,
	} {
		if _, err := volume.ReadBlock(t.Context(), f, b); err == nil || err.Error() != want {
			t.Errorf("got %v\nexpected %s", err, want)
		}
	}
}

// checkBlocks compares some blocks of a large cube.
func checkBlocks(t *testing.T, f *File, src coordinates, blocks []volume.Vec) {
	t.Helper()
	if f.Grid() != src.Grid() {
		t.Fatalf("got the grid %+v, expected %+v", f.Grid(), src.Grid())
	}
	for _, b := range blocks {
		if got, err := volume.ReadBlock(t.Context(), f, b); err != nil || !bytes.Equal(got, src.block(b)) {
			t.Errorf("block %v: %d bytes, %v", b, len(got), err)
		}
	}
}
