package wkw

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// TestEncoder encodes blocks of all kinds with one encoder, one after the other into one slice, and decodes them.
func TestEncoder(t *testing.T) {
	for bt := Raw; bt <= LZ4HC; bt++ {
		for _, side := range []int{1, 2, 8, 32, 64} {
			t.Run(fmt.Sprintf("%v, side %d", bt, side), func(t *testing.T) {
				h := Header{BlockSide: side, CubeBlocks: 2, BlockType: bt, Type: volume.Uint16, Channels: 3}
				e, n := NewEncoder(h), h.Grid().BlockBytes()
				stored, at := []byte("before"), len("before")
				for _, block := range kindsOfBlocks(n) {
					var err error
					if stored, err = e.Encode(stored, block); err != nil {
						t.Fatal(err)
					}
					checkStored(t, e, stored[at:], block)
					at = len(stored)
				}
				if !bytes.HasPrefix(stored, []byte("before")) {
					t.Error("Encode wrote into the bytes that were there")
				}
			})
		}
	}
}

// kindsOfBlocks returns blocks of n bytes: zeros, random bytes, labels, and random bytes again.
func kindsOfBlocks(n int) [][]byte {
	r := rand.New(rand.NewPCG(3, 4))
	random := make([]byte, n)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	labels := make([]byte, n)
	for i := range labels {
		labels[i] = byte(i % 4 * (i / 100))
	}
	return [][]byte{make([]byte, n), random, labels, random}
}

func checkStored(t *testing.T, e *Encoder, stored, want []byte) {
	t.Helper()
	if len(stored) > e.Bound() {
		t.Errorf("a block in %d bytes, above the bound of %d", len(stored), e.Bound())
	}
	got := make([]byte, len(want))
	if e.compress == nil {
		got = stored
	} else if err := lz4block.Decode(got, stored); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the decoded block differs")
	}
}

// TestEncoderInPlace encodes into memory that has room for exactly one block. Nothing is allocated.
func TestEncoderInPlace(t *testing.T) {
	for bt := Raw; bt <= LZ4HC; bt++ {
		h := Header{BlockSide: 32, CubeBlocks: 1, BlockType: bt, Type: volume.Uint8, Channels: 1}
		e := NewEncoder(h)
		blocks := kindsOfBlocks(h.Grid().BlockBytes())
		dst := make([]byte, 0, e.Bound())
		if n := testing.AllocsPerRun(3, func() {
			for _, block := range blocks {
				if stored, err := e.Encode(dst, block); err != nil || &stored[0] != &dst[:1][0] {
					t.Fatal("not in place", err)
				}
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations", bt, n)
		}
	}
}

func TestEncoderErrors(t *testing.T) {
	good := Header{BlockSide: 4, CubeBlocks: 1, BlockType: LZ4, Type: volume.Uint8, Channels: 1}
	for _, c := range []struct {
		change func(h *Header)
		n      int
		want   string
	}{
		{func(*Header) {}, 63, "expected 64 bytes, found 63"},
		{func(h *Header) { h.BlockType = Raw }, 65, "expected 64 bytes, found 65"},
		{func(h *Header) { h.BlockType = 0 }, 64, "header with BlockType(0)"},
		{func(h *Header) { h.BlockSide = 3 }, 27,
			"header with blocks of 3 voxels a side: expected a power of two up to 32768"},
		{func(h *Header) { h.BlockSide = 2048 }, 64, "blocks of 8589934592 bytes: expected at most 1073741824"},
	} {
		h := good
		c.change(&h)
		dst, err := NewEncoder(h).Encode([]byte("before"), make([]byte, c.n))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || string(dst) != "before" {
			t.Errorf("%+v, %d bytes: got %q, %v; expected the error %s", h, c.n, dst, err, c.want)
		}
	}
}
