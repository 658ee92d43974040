// Package lz4block decodes LZ4 blocks of which it is known how long they are when they are decoded: one, or two
// at the same time, which takes less than one after the other. On amd64 it is twice as fast as a decoder for any
// length on the small matches that images of tissue are made of; elsewhere Go code does the same, one block after the
// other. What is damaged, and why, does not depend on the processor.
//
// A block is a list of sequences: a token, with the number of literals and the length of a match; the
// literals; the offset of the match, which says how many bytes back in the output it begins. The last sequence ends
// after its literals. (lz4_Block_format.md of the LZ4 project.)
package lz4block
