package wkw

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/volume"
)

// benchSide is the blocks per side of the cube for benchmarks. Its blocks have 32 KiB.
const benchSide = 32

// BenchmarkFill reads blocks from the page cache. They have many small matches, as images of tissue have.
func BenchmarkFill(b *testing.B) {
	for _, bt := range []BlockType{LZ4, Raw} {
		f := benchCube(b, bt)
		for _, c := range []struct {
			name string
			size volume.Vec // of the box, in blocks
		}{
			{"block", volume.Vec{1, 1, 1}},
			{"8 in a row", volume.Vec{8, 1, 1}},
			{"row", volume.Vec{benchSide, 1, 1}},
			{"column", volume.Vec{1, benchSide, 1}},
			{"slab", volume.Vec{benchSide, benchSide, 1}},
		} {
			b.Run(bt.String()+"/"+c.name, func(b *testing.B) { benchFill(b, f, c.size) })
		}
	}
}

// benchFill reads one box after the other of the first slab.
func benchFill(b *testing.B, f *File, size volume.Vec) {
	var boxes [][]volume.Vec
	for at := range (volume.Box{Max: volume.Vec{benchSide, benchSide, 1}.Div(size)}).All() {
		var box []volume.Vec
		for p := range at.BoxOfOne().Mul(size).All() {
			box = append(box, p)
		}
		boxes = append(boxes, box)
	}
	n := f.grid.BlockBytes()
	memory, blocks := make([]byte, len(boxes[0])*n), make([]volume.Block, len(boxes[0]))
	at := 0
	next := func(volume.Vec) []byte {
		p := memory[at:][:n:n]
		at += n
		return p
	}
	b.SetBytes(int64(len(memory)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for j, p := range boxes[i%len(boxes)] {
			blocks[j].At = p
		}
		at = 0
		f.Fill(b.Context(), blocks, next)
		for j := range blocks {
			if blocks[j].Err != nil {
				b.Fatal(blocks[j].Err)
			}
		}
	}
}

// benchCube returns a cube file with the first slab of blocks. The rest is a hole.
func benchCube(b *testing.B, bt BlockType) *File {
	b.Helper()
	h := Header{BlockSide: 32, CubeBlocks: benchSide, BlockType: bt, Type: volume.Uint8, Channels: 1,
		DataOffset: HeaderSize}
	if bt != Raw {
		h.DataOffset += 8 * h.blocks()
	}
	head, err := h.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	file, err := os.Create(filepath.Join(dir, "x0.wkw"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	stored := benchBlocks(b, h)
	end := int64(h.DataOffset)
	for n := range h.blocks() {
		block := stored[n%uint64(len(stored))]
		if MortonBlock(n)[2] == 0 {
			if _, err := file.WriteAt(block, end); err != nil {
				b.Fatal(err)
			}
		}
		end += int64(len(block))
		if bt != Raw {
			head = binary.LittleEndian.AppendUint64(head, uint64(end))
		}
	}
	if _, err := file.WriteAt(head, 0); err != nil {
		b.Fatal(err)
	}
	if err := file.Truncate(end); err != nil {
		b.Fatal(err)
	}
	return openStored(b, dir)
}

// openStored opens x0.wkw of a directory as the program does.
func openStored(b testing.TB, dir string) *File {
	b.Helper()
	fsys, err := store.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	f, err := OpenFile(fsys, "x0.wkw")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		f.Close()
		fsys.Close()
	})
	return f
}

// benchBlocks returns the stored form of blocks.
func benchBlocks(b *testing.B, h Header) [][]byte {
	e, blocks := NewEncoder(h), make([][]byte, 61)
	for i := range blocks {
		var err error
		if blocks[i], err = e.Encode(nil, texture(rand.New(rand.NewPCG(11, uint64(i))),
			h.Grid().BlockBytes())); err != nil {
			b.Fatal(err)
		}
	}
	return blocks
}

// texture returns n bytes of repeated words of 5 to 9 bytes, and short runs.
func texture(r *rand.Rand, n int) []byte {
	var words [2048][]byte
	for i := range words {
		for range 5 + r.IntN(5) {
			words[i] = append(words[i], byte(r.Uint32()))
		}
	}
	var p []byte
	for len(p) < n {
		p = append(p, words[r.IntN(len(words))]...)
		switch r.IntN(8) {
		case 0, 1:
			p = append(p, byte(r.Uint32()))
		case 2:
			p = append(p, bytes.Repeat(p[len(p)-1:], 5+r.IntN(5))...)
		}
	}
	return p[:n]
}
