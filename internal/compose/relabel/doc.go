// Package relabel makes a layer whose voxels are those of another layer, mapped through a table: ids of segments
// become ids of the objects that they are parts of. Such tables are the agglomerates and mappings of WEBKNOSSOS, and
// files of a user. Nothing is copied or kept.
//
// A [Table] is a list, whose entry i is what id i becomes, or pairs. Lists may have gigabytes: they are read in
// pages, and all tables of the process keep at most 128 MiB of pages. Pairs are in memory, and their number is
// limited.
//
// The result has the type of the layer, if all ids of the table fit into it, and else uint64: no id is ever cut.
//
// # Decisions
//
// An id after the end of a list becomes 0, as in webknossos-libs. An id that pairs do not have stays.
//
// 0 is the background, and must stay 0: cubes that were never written have no voxels that could be mapped.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A mapped layer has the ids of its table, and none is cut. A damaged table is left out with the reason; the other
//     layers stay.
//     `TestMappings`, `TestComposedForms`
package relabel
