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
// An [Encoder] looks for matches as liblz4 does at its usual level. Any decoder of LZ4 reads its
// blocks. It is about as fast as liblz4. Its blocks are smaller, because it passes over most matches of less than seven
// bytes.
//
// The package keeps no state. Its functions may be called by many goroutines at once. Each needs its own Encoder.
package lz4block
