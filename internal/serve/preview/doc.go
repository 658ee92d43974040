// Package preview draws one plane of a layer as a small picture.
//
// It chooses the coarsest mag that fills the picture, so it reads few blocks. If even that mag has too many, it draws the
// middle of the plane. Reads are bounded by 512 MiB of decoded blocks, or one block if that is larger, and memory by 8 MiB
// for each job, or one block.
package preview
