package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestScannedPiece makes a cube of the blocks of another cube, and checks that its blocks are unchanged.
func TestScannedPiece(t *testing.T) {
	from, err := tiny.em().make(t.Context(), t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	p, err := scannedPiece(t.Context(), "scanned", from.dir, 128)
	if err != nil {
		t.Fatal(err)
	}
	to, err := p.make(t.Context(), t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	known := blocksOf(t, from)
	seen := map[string]bool{}
	blocks := blocksOf(t, to)
	for _, block := range blocks {
		if !slices.Contains(known, block) {
			t.Fatal("a block is not one of the original blocks")
		}
		seen[block] = true
	}
	if len(blocks) != 64 || len(seen) != len(known) {
		t.Errorf("%d blocks, %d of them different; want 64 and %d", len(blocks), len(seen), len(known))
	}
}

// blocksOf returns the decoded blocks of a mag of one cube.
func blocksOf(t *testing.T, m mag) []string {
	t.Helper()
	f, err := m.openCube(volume.Vec{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var blocks []string
	for at := range allBlocks(f).All() {
		block, err := volume.ReadBlock(t.Context(), f, at)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, string(block))
	}
	return blocks
}

// TestScannedPieceErrors checks the error for a directory without cubes.
func TestScannedPieceErrors(t *testing.T) {
	if _, err := scannedPiece(t.Context(), "", t.TempDir(), 128); !errors.Is(err, errNoReference) {
		t.Errorf("without cubes: error %v, want %v", err, errNoReference)
	}
}

// TestFilled checks the limit of 10 percent zeros.
func TestFilled(t *testing.T) {
	for _, test := range []struct {
		name   string
		zeros  int
		voxels int
		want   bool
	}{
		{"no zeros", 0, 100, true},
		{"9 percent", 9, 100, true},
		{"10 percent", 10, 100, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			voxels := make([]byte, 4*test.voxels)
			for i := test.zeros; i < test.voxels; i++ {
				voxels[4*i+i%4] = 1
			}
			if got := filled(voxels, 4); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestBlockAt checks positions in Morton order.
func TestBlockAt(t *testing.T) {
	for n, want := range map[int]volume.Vec{0: {}, 1: {1, 0, 0}, 2: {0, 1, 0}, 4: {0, 0, 1}, 8: {2, 0, 0}, 0o7531: {15, 10, 12}} {
		if got := blockAt(n); got != want {
			t.Errorf("block %d is at %v, want %v", n, got, want)
		}
	}
}
