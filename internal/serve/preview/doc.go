// Package preview draws one plane of a layer as a small picture.
//
// It chooses the coarsest mag that fills the picture, so it reads few blocks. If even that mag has too many, it draws
// the middle of the plane. Reads are bounded by 512 MiB of decoded blocks, or one block if that is larger, and memory
// by 8 MiB for each job, or one block.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - `wkwfs info --preview` draws blocks that cannot be read as stripes, never as voxels. It prints the first of
//     their errors, and fails.
//     `TestPreviewDamage`, `TestDrawDamage`
//   - `wkwfs info --preview` decodes at most 512 MiB, or one block if that is larger. Of a larger plane it draws
//     the middle, and says so. A terminal that does not answer delays it by two seconds, and is left in the mode
//     that it had.
//     `TestCrop`, `TestDrawLarge`, `TestPreviewOnTerminal`
package preview
