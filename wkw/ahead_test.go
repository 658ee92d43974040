package wkw

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// disk is an open file that takes advice. It is as fast as its reader.
type disk struct {
	*file
	advice []extent
}

func (d *disk) WillNeed(offset, n int64) { d.advice = append(d.advice, extent{offset, n}) }

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
		{"two runs", 80, volume.Box{Max: volume.Vec{2, 1, 2}}, nil, []extent{{80, 2 * storedBlock}, {4196, 2 * storedBlock}}},
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
