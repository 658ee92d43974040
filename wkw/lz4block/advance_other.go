//go:build !amd64

package lz4block

// advance decodes most of the block: all that is not close to its ends, up to what is wrong.
func (b *block) advance() {
	if b.roomy() {
		b.di, b.si = sequencesInGo(b.dst, b.src, b.di, b.si)
	}
}

// advancePair is advance of two blocks.
func advancePair(b0, b1 *block) {
	b0.advance()
	b1.advance()
}
