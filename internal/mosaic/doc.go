// Package mosaic shows the cubes of a mag that lie beside each other as one source of blocks, in one snapshot: it knows
// which version of each cube belongs together.
//
// A snapshot tells the cache key of every block without opening a file; in a mag of more than 20,000 cubes, the first read of a
// cube opens it. Cubes are opened when a block has to be decoded, and kept open for a while.
//
// Whether a snapshot is still true, a survey tells: one look at all cubes of the mag, many at a time. It is believed for a
// second, or for longer where it takes long. Files of few cubes have these looked at instead, unless the source answers late.
//
// Readers of a cube that is being opened wait for it, and those who need a new survey wait for it. Nobody else waits.
package mosaic
