//go:build !amd64

package lz4block

// advance decodes sequences until one is wrong or close to an end of the slices.
func (b *block) advance() {
	if b.roomy() {
		b.di, b.si = sequencesInGo(b.dst, b.src, b.di, b.si)
	}
}

// advancePair is advance for two blocks.
func advancePair(b0, b1 *block) {
	b0.advance()
	b1.advance()
}
