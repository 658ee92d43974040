//go:build clients

package integration

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	tissue "github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestClientLZ4 decodes cubes that package wkw wrote with liblz4, the LZ4 of the reference library.
func TestClientLZ4(t *testing.T) {
	cut := tissue.Cut{Box: volume.Box{Min: volume.Cube(512), Max: volume.Cube(640)}, Block: 32, Mag: 1}
	image, labels := tissue.Usual.EM(cut), tissue.Usual.Segmentation(cut)
	for name, src := range map[string]volume.Source{
		"image":  image,
		"labels": labels,
		"random": randomBlocks(64, 2),   // of 512 KiB
		"tiny":   randomBlocks(2, 8),    // of 16 bytes
		"zeros":  constantBlocks(64, 2), // of 512 KiB
	} {
		for _, bt := range []wkw.BlockType{wkw.LZ4, wkw.LZ4HC} {
			t.Run(name+" "+bt.String(), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x0.wkw")
				if err := wkw.WriteCube(t.Context(), path, bt, src); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command("/usr/bin/python3", "clients/decode_lz4.py", path)
				cmd.Stderr = os.Stderr
				got, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				if want := blocksInOrder(t, src); !bytes.Equal(got, want) {
					t.Errorf("liblz4 decoded %d bytes, expected %d other bytes", len(got), len(want))
				}
			})
		}
	}
}

// blocksInOrder returns the blocks of a source in the order of a cube file.
func blocksInOrder(t *testing.T, src volume.Source) []byte {
	t.Helper()
	var all []byte
	blocks := src.Grid().Blocks()
	for n := range blocks[0] * blocks[1] * blocks[2] {
		block, err := volume.ReadBlock(t.Context(), src, wkw.MortonBlock(uint64(n)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, block...)
	}
	return all
}

// computed is a cube of uint16 whose blocks a function writes.
type computed struct {
	side, blocks int // voxels a side of a block, blocks a side of the cube
	fill         func(at volume.Vec, block []byte)
}

func (c computed) Grid() volume.Grid {
	return volume.Grid{Size: volume.Cube(c.side * c.blocks), Block: volume.Cube(c.side), Type: volume.Uint16,
		Channels: 1}
}

func (c computed) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels = memory(b.At)
		c.fill(b.At, b.Voxels)
	}
}

// randomBlocks has blocks of random bytes, the same each time.
func randomBlocks(side, blocks int) volume.Source {
	return computed{side, blocks, func(at volume.Vec, block []byte) {
		r := rand.New(rand.NewPCG(5, wkw.MortonIndex(at)))
		for i := range block {
			block[i] = byte(r.Uint32())
		}
	}}
}

// constantBlocks has blocks of zeros.
func constantBlocks(side, blocks int) volume.Source {
	return computed{side, blocks, func(_ volume.Vec, block []byte) { clear(block) }}
}
