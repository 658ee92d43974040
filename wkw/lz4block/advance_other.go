//go:build !amd64

package lz4block

// advance decodes the block, if nothing is wrong with it.
func (b *block) advance() { b.decodeWhole() }

// advancePair is advance of two blocks.
func advancePair(b0, b1 *block) {
	b0.advance()
	b1.advance()
}
