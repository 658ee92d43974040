package sample

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/wkwfs/wkwfs/volume"
)

// box computes a box of both layers in one piece.
func (t Tissue) box(b volume.Box) picture {
	p := picture{box: b, image: make([]uint8, volumeOf(b)), ids: make([]uint32, volumeOf(b))}
	t.render(p)
	return p
}

// TestPositionOnly: a voxel does not depend on the box that it is computed with.
func TestPositionOnly(t *testing.T) {
	far := volume.Vec{-3, 5, 40000}
	whole := volume.Box{Min: far, Max: far.Add(volume.Vec{50, 40, 35})}
	want := Usual.box(whole)
	for _, part := range []volume.Box{
		whole,
		{Min: whole.Min, Max: whole.Min.Add(volume.Cube(1))},
		{Min: whole.Max.Sub(volume.Cube(1)), Max: whole.Max},
		{Min: far.Add(volume.Vec{0, 0, 7}), Max: far.Add(volume.Vec{50, 40, 8})},
		{Min: far.Add(volume.Vec{33, 0, 0}), Max: far.Add(volume.Vec{34, 40, 35})},
		{Min: far.Add(volume.Vec{5, 11, 3}), Max: far.Add(volume.Vec{46, 32, 34})},
		{Min: far.Add(volume.Cube(31)), Max: far.Add(volume.Cube(33))},
	} {
		got := Usual.box(part)
		for at := range part.All() {
			i, j := at.Sub(part.Min).Index(part.Size()), at.Sub(whole.Min).Index(whole.Size())
			if got.image[i] != want.image[j] || got.ids[i] != want.ids[j] {
				t.Fatalf("box %v, voxel %v: got %d of cell %d, want %d of cell %d",
					part, at, got.image[i], got.ids[i], want.image[j], want.ids[j])
			}
		}
	}
}

func TestSeeds(t *testing.T) {
	box := volume.Box{Max: volume.Cube(32)}
	same, again, other := Usual.box(box), Usual.box(box), Tissue{Usual.Seed + 1, Usual.Grain}.box(box)
	if !bytes.Equal(same.image, again.image) {
		t.Error("the same seed makes different images")
	}
	if bytes.Equal(same.image, other.image) {
		t.Error("different seeds make the same image")
	}
}

// TestCompression: LZ4 compresses image and segmentation like real data.
func TestCompression(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it starts no goroutine")
	}
	cut := Cut{Box: volume.Box{Min: volume.Cube(500), Max: volume.Vec{596, 596, 532}}, Block: 32, Mag: 1}
	var raw, stored, sequences int
	em, segmentation := Usual.EM(cut), Usual.Segmentation(cut)
	var rawIDs, storedIDs int
	for b := range (volume.Box{Max: em.Grid().Blocks()}).All() {
		block, compressed := compressed(t, em, b)
		raw, stored, sequences = raw+len(block), stored+len(compressed), sequences+countSequences(compressed)
		block, compressed = compressedHC(t, segmentation, b)
		rawIDs, storedIDs = rawIDs+len(block), storedIDs+len(compressed)
	}
	if ratio := float64(raw) / float64(stored); ratio < 1.9 || ratio > 2.3 {
		t.Errorf("image: ratio %.2f, want 1.9 to 2.3", ratio)
	}
	if perBlock := sequences / (raw >> 15); perBlock < 2000 {
		t.Errorf("image: %d sequences per block, want at least 2000", perBlock)
	}
	if ratio := float64(rawIDs) / float64(storedIDs); ratio < 20 {
		t.Errorf("segmentation: ratio %.2f, want at least 20", ratio)
	}
}

func compressed(t *testing.T, src volume.Source, b volume.Vec) (block, compressed []byte) {
	block = blockOf(t, src, b)
	dst := make([]byte, lz4.CompressBlockBound(len(block)))
	n, err := lz4.CompressBlock(block, dst, nil)
	if err != nil {
		t.Fatal(err)
	}
	return block, dst[:n]
}

func compressedHC(t *testing.T, src volume.Source, b volume.Vec) (block, compressed []byte) {
	block = blockOf(t, src, b)
	dst := make([]byte, lz4.CompressBlockBound(len(block)))
	n, err := lz4.CompressBlockHC(block, dst, lz4.Level9, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return block, dst[:n]
}

// blockOf returns a block. It checks that the block does not depend on the previous content of the memory.
func blockOf(t *testing.T, src volume.Source, b volume.Vec) []byte {
	t.Helper()
	block, err := volume.ReadBlock(t.Context(), src, b)
	if err != nil {
		t.Fatal(err)
	}
	again := []volume.Block{{At: b}}
	src.Fill(t.Context(), again, func(volume.Vec) []byte { return bytes.Repeat([]byte{0xEE}, len(block)) })
	if !bytes.Equal(again[0].Voxels, block) {
		t.Fatalf("block %v: the voxels depend on the memory", b)
	}
	if len(block) != src.Grid().BlockBytes() {
		t.Fatalf("block %v: %d bytes, want %d", b, len(block), src.Grid().BlockBytes())
	}
	return block
}

// countSequences counts the sequences of an LZ4 block: a token, literals, a match.
func countSequences(b []byte) (n int) {
	for len(b) > 0 {
		token := b[0]
		literals, rest := sequenceLength(b[1:], token>>4)
		n++
		if b = rest[literals:]; len(b) == 0 {
			return n
		}
		_, b = sequenceLength(b[2:], token&15)
	}
	return n
}

func sequenceLength(b []byte, nibble byte) (int, []byte) {
	n := int(nibble)
	for more := nibble == 15; more; b = b[1:] {
		n += int(b[0])
		more = b[0] == 255
	}
	return n, b
}

// TestLayersMatch: the image is dark at membranes.
func TestLayersMatch(t *testing.T) {
	p := Usual.box(volume.Box{Min: volume.Cube(1000), Max: volume.Cube(1064)})
	cells := map[uint32]int{}
	var dark, membrane int
	for i, id := range p.ids {
		cells[id]++
		if id == 0 {
			membrane++
			if p.image[i] < 150 {
				dark++
			}
		}
	}
	if len(cells) < 5 {
		t.Errorf("%d cells in 64³ voxels", len(cells)-1)
	}
	if share := float64(membrane) / float64(len(p.ids)); share < 0.03 || share > 0.4 {
		t.Errorf("%.2f of the voxels are membranes", share)
	}
	if share := float64(dark) / float64(membrane); share < 0.95 {
		t.Errorf("%.2f of the membranes are dark", share)
	}
}

// TestMags: a voxel of a coarser mag is computed from its voxels of mag 1.
func TestMags(t *testing.T) {
	for _, mag := range []int{1, 2, 3, 33} {
		t.Run(fmt.Sprint(mag), func(t *testing.T) {
			cut := Cut{Box: volume.Box{Min: volume.Vec{-5, 7, 11}, Max: volume.Vec{-3, 9, 13}}, Block: 2, Mag: mag}
			grey := blockOf(t, Usual.EM(cut), volume.Vec{})
			ids := blockOf(t, Usual.Segmentation(cut), volume.Vec{})
			at := volume.Vec{-4, 7, 12}
			fine := Usual.box(cut.fine(at))
			i := at.Sub(cut.Box.Min).Index(volume.Cube(2))
			middle := volume.Cube(mag / 2).Index(volume.Cube(mag))
			if got, want := binary.LittleEndian.Uint32(ids[4*i:]), fine.ids[middle]; got != want {
				t.Errorf("segmentation: got cell %d, want %d", got, want)
			}
			sum := 0
			for _, v := range fine.image {
				sum += int(v)
			}
			mean := float64(sum) / float64(len(fine.image))
			if diff := float64(grey[i]) - mean; diff < -greyStep/2 || diff > greyStep/2 {
				t.Errorf("image: got %d, want %.1f ± %d", grey[i], mean, greyStep/2)
			}
		})
	}
}

func BenchmarkEM(b *testing.B)           { benchmark(b, Usual.EM) }
func BenchmarkSegmentation(b *testing.B) { benchmark(b, Usual.Segmentation) }

func benchmark(b *testing.B, source func(Cut) volume.Source) {
	src := source(Cut{Box: volume.Box{Max: volume.Cube(256)}, Block: 32, Mag: 1})
	b.SetBytes(int64(src.Grid().BlockBytes()))
	for i := 0; b.Loop(); i++ {
		if _, err := volume.ReadBlock(b.Context(), src, volume.Vec{i & 7, i >> 3 & 7, i >> 6 & 7}); err != nil {
			b.Fatal(err)
		}
	}
}
