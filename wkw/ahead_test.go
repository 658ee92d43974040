package wkw

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// disk is an open file that takes advice. It is as fast as its reader.
type disk struct {
	*file
	advice []extent
	cached int64 // advice about bytes before this offset takes no time
}

func (d *disk) WillNeed(offset, n int64) {
	d.advice = append(d.advice, extent{offset, n})
	if offset+n > d.cached {
		time.Sleep(time.Duration(n)) // in a bubble of synctest
	}
}

// slowly returns a reader that takes as long as a disk for bytes from offset from on.
func slowly(r io.ReaderAt, from int64) io.ReaderAt {
	return readerFunc(func(p []byte, offset int64) (int, error) {
		if offset >= from {
			time.Sleep(2 * (slowRead + time.Duration(len(p)/fastBytes)))
		}
		return r.ReadAt(p, offset)
	})
}

// TestAhead shows that after slow ranges, each run of a batch is announced once, and nothing else.
func TestAhead(t *testing.T) {
	column := volume.Box{Max: volume.Vec{1, 2, 2}} // four blocks that are not adjacent in the file
	all := []extent{{80, storedBlock}, {2138, storedBlock}, {4196, storedBlock}, {6254, storedBlock}}
	for _, c := range []struct {
		name          string
		slow          int64 // first byte that is read slowly
		box           volume.Box
		first, second []extent // announced by the first and the second Fill
	}{
		{"slow table", 8, column, all, all},
		{"slow blocks", 80, column, nil, all},
		{"two runs", 80, volume.Box{Max: volume.Vec{2, 1, 2}}, nil,
			[]extent{{80, 2 * storedBlock}, {4196, 2 * storedBlock}}},
		{"one run", 8, volume.Box{Max: volume.Cube(2)}, nil, nil},
		{"all is in the page cache", damagedBytes, column, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				below := &disk{file: inMemory(t, literalCube(damagedCube, 80))}
				below.ReaderAt = slowly(below.ReaderAt, c.slow)
				f, err := NewFile(below, "x0.wkw")
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range [][]extent{c.first, c.second} {
					below.advice = nil
					checkFill(t, f, damagedCube.blocks(), c.box, nil)
					if fmt.Sprint(below.advice) != fmt.Sprint(want) {
						t.Errorf("got %v, expected %v", below.advice, want)
					}
				}
				if c.slow < damagedBytes { // now in the page cache
					below.ReaderAt = slowly(inMemory(t, literalCube(damagedCube, 80)), damagedBytes)
					checkFill(t, f, damagedCube.blocks(), c.box, nil)
					below.advice = nil
					checkFill(t, f, damagedCube.blocks(), c.box, nil)
					if len(below.advice) > 0 {
						t.Errorf("%v is announced when all is in the page cache", below.advice)
					}
				}
			})
		})
	}
}

// TestAheadIsBounded shows that a Fill of 32 MiB never has more than maxAhead bytes announced and not read.
func TestAheadIsBounded(t *testing.T) { synctest.Test(t, aheadIsBounded) }

func aheadIsBounded(t *testing.T) {
	src := cubeOf(volume.Uint64, 2, 64, 2)
	bytes := int64(src.grid.BlockBytes())
	below := &disk{file: inMemory(t, rawCube(src, 16))}
	slow, read := slowly(below.ReaderAt, 0), int64(0)
	below.ReaderAt = readerFunc(func(p []byte, offset int64) (int, error) {
		read = offset
		for _, at := range below.advice {
			if at.end() > offset+maxAhead {
				t.Errorf("byte %d is announced before byte %d is read", at.end(), offset)
			}
		}
		return slow.ReadAt(p, offset)
	})
	f, err := NewFile(below, "x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	blocks := blocksIn(volume.Box{Max: volume.Cube(2)})
	f.Fill(t.Context(), blocks, f.newMemory)
	next := 16 + bytes // after the first block, which shows that the disk is slow; each block is a batch
	for _, at := range below.advice {
		if at.offset != next {
			t.Errorf("%v is announced after byte %d", at, next)
		}
		next = at.end()
	}
	if next != read+bytes {
		t.Errorf("announced up to byte %d, read to %d", next, read+bytes)
	}
}

// TestAnnounce shows that each run of the blocks of a box is announced once, without reading them, and that a damaged
// entry of the jump table is left out.
func TestAnnounce(t *testing.T) {
	const n = storedBlock
	for _, c := range []struct {
		name    string
		box     volume.Box
		damaged uint64 // block with a damaged entry; 0: none
		want    []extent
	}{
		{"two slabs", volume.Box{Max: volume.Cube(2)}, 0, []extent{{80, 8 * n}}},
		{"one slab", volume.Box{Min: volume.Vec{0, 0, 1}, Max: volume.Cube(2)}, 0, []extent{{80 + 4*n, 4 * n}}},
		{"column", volume.Box{Max: volume.Vec{1, 2, 2}}, 0, []extent{{80, n}, {80 + 2*n, n}, {80 + 4*n, n},
			{80 + 6*n, n}}},
		{"beyond the cube", volume.Box{Max: volume.Cube(100)}, 0, []extent{{80, 8 * n}}},
		{"outside of the cube", volume.Box{Min: volume.Cube(2), Max: volume.Cube(3)}, 0, nil},
		// it is the start of block 6, too
		{"damaged entry", volume.Box{Max: volume.Cube(2)}, 5, []extent{{80, 5 * n}, {80 + 7*n, n}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := literalCube(damagedCube, 80)
			if c.damaged > 0 {
				binary.LittleEndian.PutUint64(content[HeaderSize+8*c.damaged:], 1<<40)
			}
			below := &disk{file: inMemory(t, content)}
			f, err := NewFile(below, "x0.wkw")
			if err != nil {
				t.Fatal(err)
			}
			f.Announce(t.Context(), c.box)
			if fmt.Sprint(below.advice) != fmt.Sprint(c.want) {
				t.Errorf("got %v, expected %v", below.advice, c.want)
			}
		})
	}
}

// TestAnnounceRows shows that the first rows of the first two slabs are announced first, that no run is longer than
// maxAdvice, and that nothing is announced after four rows that are in the page cache.
func TestAnnounceRows(t *testing.T) {
	h := Header{BlockSide: 32, CubeBlocks: 8, BlockType: Raw, Type: volume.Uint64, Channels: 2, DataOffset: 16}
	bytes := int64(h.Grid().BlockBytes()) // 512 KiB
	name := filepath.Join(t.TempDir(), "x0.wkw")
	header, err := h.MarshalBinary()
	if err == nil { // an announcement reads no voxels: they are a hole
		err = errors.Join(os.WriteFile(name, header, 0o666), os.Truncate(name, 16+512*bytes))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ cached, want int64 }{
		{0, 256 * bytes},
		{16 + 64*bytes, 256 * bytes}, // the first half of the first rows
		{16 + 512*bytes, 64 * bytes}, // everything
	} {
		synctest.Test(t, func(t *testing.T) {
			opened, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			below := &disk{file: &file{File: opened, ReaderAt: opened}, cached: c.cached}
			f, err := NewFile(below, "x0.wkw")
			if err != nil {
				t.Fatal(err)
			}
			f.Announce(t.Context(), volume.Box{Max: volume.Vec{8, 8, 4}})
			last, announced := 0, int64(0)
			for _, at := range below.advice {
				if at.size > maxAdvice {
					t.Errorf("%v is announced at once", at)
				}
				announced += at.size
				first := MortonBlock(uint64((at.offset - 16) / bytes))
				if now := first[2]/announcedSlabs*8/announcedRows + first[1]/announcedRows; now < last {
					t.Errorf("%v is announced too late", first)
				} else {
					last = now
				}
			}
			if announced != c.want {
				t.Errorf("%d bytes in the page cache: %d bytes are announced, expected %d", c.cached, announced, c.want)
			}
		})
	}
}

// TestAnnounceEnds shows that nothing is announced when the context is done, or if the file takes no advice.
func TestAnnounceEnds(t *testing.T) {
	below := &disk{file: inMemory(t, literalCube(damagedCube, 80))}
	f, err := NewFile(below, "x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.Announce(ctx, volume.Box{Max: volume.Cube(2)})
	if len(below.advice) > 0 {
		t.Errorf("%v is announced", below.advice)
	}
	plain, err := openBytes(literalCube(damagedCube, 80))
	if err != nil {
		t.Fatal(err)
	}
	plain.Announce(t.Context(), volume.Box{Max: volume.Cube(2)})
}
