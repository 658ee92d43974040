package main

import (
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestScannedCube makes a cube of the blocks of another cube, and checks that its blocks are unchanged.
func TestScannedCube(t *testing.T) {
	from := tinyE(t)
	r, err := scanned(t.Context(), from.mag, 256)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: t.TempDir(), progress: t.Logf}
	to, err := b.cube(t.Context(), "X", r)
	if err != nil {
		t.Fatal(err)
	}
	known, blocks := blocksOf(t, from), blocksOf(t, to)
	seen := map[string]bool{}
	for _, block := range blocks {
		seen[block] = true
		if !slices.Contains(known, block) {
			t.Fatal("a block is not one of the original blocks")
		}
	}
	if len(blocks) != 512 || len(seen) < len(known)/2 {
		t.Errorf("%d blocks, %d of them different; want 512 and most of %d", len(blocks), len(seen), len(known))
	}
}

// blocksOf returns the decoded blocks of a dataset of one cube.
func blocksOf(t *testing.T, d *dataset) []string {
	t.Helper()
	f, err := d.open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var blocks []string
	for at := range (volume.Box{Max: d.grid.Blocks()}).All() {
		block, err := volume.ReadBlock(t.Context(), f, at)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, string(block))
	}
	return blocks
}
