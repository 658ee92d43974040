package main

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestScannedPiece makes a cube of the blocks of another one, and holds that it has these
// blocks as they were.
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
			t.Fatal("a block is not one of those that there were")
		}
		seen[block] = true
	}
	if len(blocks) != 64 || len(seen) != len(known) {
		t.Errorf("%d blocks, %d different ones; want 64, %d", len(blocks), len(seen), len(known))
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
	var all []string
	for at := range allBlocks(f).All() {
		block, err := volume.ReadBlock(t.Context(), f, at)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(block))
	}
	return all
}

func TestScannedPieceErrors(t *testing.T) {
	if _, err := scannedPiece(t.Context(), "", t.TempDir(), 128); !errors.Is(err, errNoReference) {
		t.Errorf("no cubes: error %v", err)
	}
}

// TestReferenceBlocks reads the blocks that R and Q consist of.
func TestReferenceBlocks(t *testing.T) {
	for _, layer := range []string{"color", "segmentation"} {
		p, err := scannedPiece(t.Context(), "", filepath.Join(refdata(), "l4_blocks", layer, "2-2-1"), 128)
		if errors.Is(err, errNoReference) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		version, err := p.origin.version(t.Context())
		t.Log(layer, version, err)
	}
}

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
				t.Errorf("%v", got)
			}
		})
	}
}

func TestBlockAt(t *testing.T) {
	for n, want := range map[int]volume.Vec{0: {}, 1: {1, 0, 0}, 2: {0, 1, 0}, 4: {0, 0, 1}, 8: {2, 0, 0}, 0o7531: {15, 10, 12}} {
		if got := blockAt(n); got != want {
			t.Errorf("block %d is at %v, want %v", n, got, want)
		}
	}
}
