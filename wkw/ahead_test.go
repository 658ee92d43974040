package wkw

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// disk is an open file that takes advice. It is slow if its reader is.
type disk struct {
	*file
	advice []extent
}

func (d *disk) WillNeed(offset, n int64) { d.advice = append(d.advice, extent{offset, n}) }

// slowly returns a reader that takes as long as a disk for what is at offset from and after it.
func slowly(r io.ReaderAt, from int64) io.ReaderAt {
	return readerFunc(func(p []byte, offset int64) (int, error) {
		if offset >= from {
			time.Sleep(2 * (slowRead + time.Duration(len(p)/fastBytes)))
		}
		return r.ReadAt(p, offset)
	})
}

// TestAhead: once ranges of a file were slow, the runs of each batch are announced, each once, and only those.
func TestAhead(t *testing.T) {
	column := volume.Box{Max: volume.Vec{1, 2, 2}} // of four blocks that do not follow each other
	all := []extent{{80, storedBlock}, {2138, storedBlock}, {4196, storedBlock}, {6254, storedBlock}}
	for _, c := range []struct {
		what          string
		slow          int64 // first byte that is read slowly
		box           volume.Box
		first, second []extent // what is announced by the first Fill, and by another one
	}{
		{"slow table", 8, column, all, all},
		{"slow blocks", 80, column, nil, all},
		{"two runs", 80, volume.Box{Max: volume.Vec{2, 1, 2}}, nil, []extent{{80, 2 * storedBlock}, {4196, 2 * storedBlock}}},
		{"one run", 8, volume.Box{Max: volume.Cube(2)}, nil, nil},
		{"all is in the page cache", damagedBytes, column, nil, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
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
				if c.slow < damagedBytes { // the page cache has it now
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

// TestAheadIsBounded: a Fill of 32 MiB has no more than maxAhead bytes announced and not read.
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
	next := 16 + bytes // the first block has shown that the disk is slow: each is a batch
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
