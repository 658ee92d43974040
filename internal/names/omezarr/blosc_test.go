package omezarr

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// TestZeros decodes the blocks. They are shorter than their voxels, so that readers do not take them for stored bytes.
func TestZeros(t *testing.T) {
	for n := 64; n < 70_000; n = n*17/16 + 1 {
		block := Zeros(n)
		got := bytes.Repeat([]byte{0xFF}, n)
		if read, err := lz4.UncompressBlock(block, got); err != nil || read != n || !bytes.Equal(got, make([]byte, n)) {
			t.Errorf("%d zeros: %d bytes, %v", n, read, err)
		}
		if len(block) >= n {
			t.Errorf("%d zeros: a block of %d bytes", n, len(block))
		}
	}
}

// TestLayContainer compares a container with its bytes.
func TestLayContainer(t *testing.T) {
	sizes := []int64{3, 5, 4}
	b := make([]byte, ContainerSize(sizes))
	for i, block := range LayContainer(b, 5, 2, sizes) {
		if len(block) != int(sizes[i]) || cap(block) != len(block) {
			t.Errorf("block %d has %d bytes, capacity %d", i, len(block), cap(block))
		}
		for j := range block {
			block[j] = byte(0xA0 + 16*i)
		}
	}
	// 15 bytes in blocks of 5, 52 bytes in all
	check(t, hex.EncodeToString(b), "02013002"+"0f000000"+"05000000"+"34000000"+
		"1c000000"+"23000000"+"2c000000"+
		"03000000"+"a0a0a0"+"05000000"+"b0b0b0b0b0"+"04000000"+"c0c0c0c0")
}
