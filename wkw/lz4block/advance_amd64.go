package lz4block

import "golang.org/x/sys/cpu"

// How far from their ends the output and the input of a block are left to finish, in bytes: so far do sequences
// read and write beyond what they have to.
const (
	outputRoom = 64
	inputRoom  = 48
)

// advance decodes most of the block: all that is not close to its ends, up to what is wrong.
func (b *block) advance() {
	switch {
	case !cpu.X86.HasSSSE3:
		b.decodeWhole()
	case b.roomy():
		b.di, b.si = sequences(b.dst, b.src, b.di, b.si)
	}
}

// advancePair is advance of two blocks at the begin of both.
func advancePair(b0, b1 *block) {
	if cpu.X86.HasSSSE3 && b0.roomy() && b1.roomy() {
		b0.di, b0.si, b1.di, b1.si = sequencesOfPair(b0.dst, b0.src, b1.dst, b1.src)
	}
	b0.advance() // what is left of the longer one
	b1.advance()
}

func (b *block) roomy() bool { return len(b.dst) >= outputRoom && len(b.src) >= inputRoom }

// sequences decodes sequences from the one on that is at src[si] and goes to dst[di], until one is close to an
// end or wrong, and returns where that one is. Both slices must be roomy.
//
//go:noescape
func sequences(dst, src []byte, di, si int) (diEnd, siEnd int)

// sequencesOfPair is sequences for two blocks from their begins on, until one of them comes to such a sequence.
//
//go:noescape
func sequencesOfPair(dst0, src0, dst1, src1 []byte) (di0, si0, di1, si1 int)
