package lz4block

import "golang.org/x/sys/cpu"

// advance decodes sequences until one is wrong or close to an end of the slices.
func (b *block) advance() {
	switch {
	case !b.roomy():
	case cpu.X86.HasSSSE3:
		b.di, b.si = sequences(b.dst, b.src, b.di, b.si)
	default:
		b.di, b.si = sequencesInGo(b.dst, b.src, b.di, b.si)
	}
}

// advancePair is advance for two blocks. Nothing of them may be decoded yet.
func advancePair(b0, b1 *block) {
	if cpu.X86.HasSSSE3 && b0.roomy() && b1.roomy() {
		b0.di, b0.si, b1.di, b1.si = sequencesOfPair(b0.dst, b0.src, b1.dst, b1.src)
	}
	b0.advance() // the rest of the longer block
	b1.advance()
}

// sequences is sequencesInGo in assembly.
//
//go:noescape
func sequences(dst, src []byte, di, si int) (diEnd, siEnd int)

// sequencesOfPair is sequences for two blocks from their start. It stops at the first sequence of either block that
// is wrong or close to an end.
//
//go:noescape
func sequencesOfPair(dst0, src0, dst1, src1 []byte) (di0, si0, di1, si1 int)
