package lz4block

import "github.com/pierrec/lz4/v4"

// whole decodes the block, if nothing is wrong with it, where there is no assembly of ours.
func (b *block) whole() {
	if n, err := lz4.UncompressBlock(b.src, b.dst); err == nil && n == len(b.dst) {
		b.di, b.si = len(b.dst), len(b.src)
	}
}
