package lz4block

import "github.com/pierrec/lz4/v4"

// decodeWhole decodes the block, if nothing is wrong with it, where there is no assembly of ours. A block that ends with
// a match, and not with literals as it should, passes.
func (b *block) decodeWhole() {
	n, err := lz4.UncompressBlock(b.src, b.dst)
	b.whole = err == nil && n == len(b.dst)
}
