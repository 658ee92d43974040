// Package overlay makes a layer of two: where the layer above has a block, its voxels replace those of the layer
// below. So a volume annotation of WEBKNOSSOS, which has only the blocks that were painted, becomes the whole
// segmentation. Nothing is copied or kept.
//
// A block that the layer above has replaces all voxels below it, zeros included: they erase. A block that is absent
// changes nothing. Each mag is merged alone. Mags are matched by their factors. This is the rule of WEBKNOSSOS
// (merge_chunk of webknossos-libs).
//
// The result has the geometry of the layer below: its cubes, its blocks and its bounding box. The blocks of the layer
// above may have any size and lie anywhere. A cube without such a block is the cube below itself, so its blocks are
// lent without another copy. The version of a merged cube depends on the versions of all cubes that it is made of: a
// change of either side shows like every other change.
//
// # Decisions
//
// Cubes above are opened only while blocks are decoded, because the annotation may have 32,768 files in the place of
// one cube below.
//
// The cubes above are listed together, and the list is used for a second or longer, as package mosaic uses its
// surveys.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A volume over its dataset has the voxels of the annotation where it has a block, zeros included, else those
//     below. A block that cannot be read is an error, never the voxels below.
//     `TestAnnotations`, `TestComposedReferenceData`, `TestFaults`
//   - A change of the annotation, of the layer below, or of a table of package relabel is a new version.
//     `TestVersions`, `TestVersionsOfParts`, `TestChanges`, `TestComposedChange`
package overlay
