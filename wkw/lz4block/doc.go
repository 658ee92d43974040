// Package lz4block encodes LZ4 blocks, and decodes those whose decoded length is known. It decodes one block, or two at
// the same time, which is faster than one after the other.
//
// On amd64 the decoder is in assembly. Images of tissue compress to many small matches, and for these it is twice
// as fast as a decoder for any length. Other processors use Go code, which decodes one block after the other. Both
// find the same damage, with the same errors.
//
// A block is a list of sequences. A sequence is a token with the number of literals and the length of a match, the
// literals, and the offset of the match: its distance back in the output, in bytes. The last sequence ends after its
// literals. The format is described in lz4_Block_format.md of the LZ4 project.
//
// An [Encoder] is about as fast as liblz4 at its usual level, and works like it, but passes over most matches of less
// than seven bytes. So its blocks of images are smaller. Any decoder of LZ4 reads them.
//
// The package keeps no state. Its functions may be called by many goroutines at once. Each needs its own Encoder.
//
// # Decisions
//
// We decode LZ4 ourselves. It is most of the work of every first read. General decoders are slow on the small
// matches of tissue: they mispredict a branch for each tenth match. Ours has no branch in the common case, and
// decodes two blocks alternately, so that one is decoded while the other waits for memory: twice as fast.
//
// Go code with all checks decodes the ends of a block, and every fault. The loop in assembly stops before them.
// Where there is no assembly, faster Go code has the same contract. So the same bytes are damaged on every
// processor.
//
// We encode LZ4 ourselves, too, so that importers compress about as fast as liblz4. The encoder looks for matches
// of seven bytes, and liblz4 for four or five: a short match interrupts the literals and saves almost nothing. LZ4HC
// is not in this package: package wkw uses github.com/pierrec/lz4 for it.
package lz4block
