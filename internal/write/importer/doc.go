// Package importer writes arrays of voxels from files of other programs as layers of a WEBKNOSSOS dataset. Package
// arrayfile reads these files, and package pyramid writes the cubes of all mags.
//
// If an import was interrupted, the same call of [Import] resumes it: it keeps the complete cubes if input and options
// are the same. [Update] replaces a box of a layer.
//
// If options, dataset and input together lack something, the error is a [MissingError], and nothing is written. The
// category is lacking if neither the options nor names, header, type or a sample of the voxels show it.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Files that a mount shows as raw, npy, NRRD, MetaImage, NIfTI or TIFF are imported into WKW voxel for voxel.
//     `TestRoundTrip`, `TestSampleRoundTrip`
//   - A cube appears when all of it is on the disk. An import that is stopped leaves no parts of cubes. The same
//     command keeps the whole cubes and continues, if input and settings are the same.
//     `TestResume`, `TestKilledFirst`, `TestInputChanges`, `TestCanceled`
//   - `--update` changes the voxels of its box, those of coarser mags that depend on them, and nothing else. It writes
//     only cubes with such voxels.
//     `TestUpdate`, `TestUpdateMetadata`, `TestUpdateErrors`
//   - After `--update` with an annotation, mag 1 is what `--over` shows, byte for byte. Coarser mags are made again
//     from it, for the hull of the blocks in neighbouring cubes. Only cubes with blocks are written. A damaged block is
//     found before the first one. `TestMerge`, `TestMergeErrors`, `TestImportAnnotation`, `TestImportAnnotationErrors`
//   - One process at a time writes a layer: an import, a `--finish` or an `--update`. Parts of one import share the
//     layer. If another process has it, an import and `--finish` fail after a second, and `--update` waits.
//     `TestWriters`, `TestImportsOfOneLayer`, `TestUpdateWaits`, `TestUpdateDuringImport`, `TestFinishDuringPart`,
//     `TestShared`
//   - All parts of `wkwfs import --part I/N`, and `--finish`, write the files that an import of the whole input
//     writes, byte for byte, in all mags: in any order, at the same time, and if some run twice.
//     `TestPartsOfImport`, `TestCutBox`, `TestImportParts`
//   - Files that other programs wrote are imported voxel for voxel, with the type, voxel size and position of
//     their header.
//     `TestClientImports`, `TestForms`, `TestNIfTIForms`, `TestMRC`, `TestTIFFChunks`, `TestTIFFDescriptions`,
//     `TestPNG`
//   - Where a header says that values are labels, integers of any size are a segmentation.
//     `TestCategory`, `TestNIfTIForms`, `TestSlicerSegmentation`, `TestTIFFKinds`, `TestPNG`, `TestTIFFBits`,
//     `TestPNGBits`
//   - A compressed file that is longer or shorter than its header says, or damaged, is an error.
//     `TestStreamErrors`, `TestDamagedStrip`, `TestPictureErrors`
//   - Planes without a page of their own, and channels, are found where a TIFF of ImageJ, OME or tifffile
//     describes them. A page that is turned, or has several planes, is an error. Gaps in the numbers of the planes
//     of a folder are a warning.
//     `TestTIFFDescriptions`, `TestTIFFKinds`, `TestGaps`, `TestDirectory`
//   - A header that cannot be used is an error that names the field. Values are never scaled, and axes that a
//     header names are never turned.
//     `TestOpenErrors`, `TestFormErrors`, `TestMRCErrors`, `TestTIFFKinds`, `TestPositionErr`
//   - An `.npy` file in C order has the axes x, y, z or z, y, x. An import prints the box that it writes, the axes
//     and why. It takes them from the size of the box in the name of the file, or of a layer. If only other axes
//     than z, y, x lie in a layer, that is an error which names them. If nothing shows the axes of an update, or
//     of a layer beside others, the import asks for `--axes` and writes nothing. Labels of a mount that numpy
//     saves in any order go back to their place.
//     `TestChooseAxes`, `TestUpdateAxes`, `TestAxesOfHeader`, `TestImportNumpy`
//   - `--axes` says which axis of an `.npy` file, a raw file or a stack is x, y, z or that of channels, in any
//     order.
//     `TestSetAxes`, `TestRawAxes`, `TestTurnedPlanes`, `TestAxesErrors`, `TestResumeOtherAxes`
//   - A voxel of a coarser mag is computed from all its voxels in the mag before: their mean for images, the most
//     frequent value for segmentations. Voxels outside of the layer's box count as 0, as in WEBKNOSSOS.
//     `TestMags`, `TestWrite`, `TestReduce`
//   - The category of a layer is that of `--category`, else what names, header, type or a sample of the values
//     show, in this order. An import prints what it has chosen and why. If the category is in doubt, it asks for
//     `--category` and writes nothing.
//     `TestNamesLabels`, `TestChooseByDescription`, `TestChooseByValues`, `TestSampleForms`,
//     `TestCategoryOfReferenceData`, `TestScripts`
//   - Values of `float16` become `float32`, without a change of the number.
//     `TestHalves`, `TestTIFFHalves`
//   - An import that would write voxels below 0.1 nm, or more than 100,000 files with cubes of less than 512
//     voxels a side, warns first.
//     `TestDoubts`
//   - If an import lacks settings, one error names all of them, with the command to type.
//     `TestCategoryMissing`, `TestScripts`
//   - `--json` prints an object per line: a plan, progress, and a summary or an error. If the text of an error has
//     a byte offset, the object has it as a number, with the file. The names in it are an interface.
//     `TestImportJSONNames`, `TestImportJSON`, `TestImportJSONOffset`, `TestImportProgress`
//   - `--memory` bounds the memory that an import takes for voxels, whatever the shape of the input.
//     `TestImportMemory`
//   - A layer of `--format zarr3` has the same voxels, at the same place, as one of WKW.
//     `TestZarr3`, `TestShard`
//   - With `--backup DIR`, what `--update` may replace is in DIR before the first cube is replaced. DIR is a
//     dataset with the cubes of the box, as hard links where the disk allows it. The same command again leaves the
//     backup as it is, and another update is refused. Without `--backup`, nothing is kept: the room for all boxes
//     would grow without an end that the user has chosen.
//     `TestBackup`, `TestBackupRefused`
//   - Everything else in `datasource-properties.json` stays as it is, in its order.
//     `TestMetadata`
//   - `--dry-run` of an import, an update and `wkwfs cp` writes nothing. It says which boxes, files and bytes
//     would be written at most, and which files exist already. It has the errors and the exit code of the command,
//     except for a full disk, damage in voxels, and what other processes write in the meantime.
//     `TestDryRun`, `TestDryTarget`, `TestDryRunOfUser`, `TestScripts`
//   - A layer that exists is not replaced without `--force`. A refused import leaves nothing behind.
//     `TestScale`, `TestImportErrors`
//   - A name that cannot be that of a layer is refused before anything is written: that of the metadata, or of a
//     file, or one of more than 240 bytes.
//     `TestLayerNames`, `TestUnusualLayerNames`
//   - Of imports into one layer at the same time, one succeeds, and the layer has its voxels. The same holds for
//     parts of different inputs. With `--force`, several may succeed, one after the other.
//     `TestImportsOfOneLayer`, `TestPartsOfTwoInputs`
//   - Imports of different layers at the same time add all layers to `datasource-properties.json`. If they would
//     give the dataset two voxel sizes, one of them fails.
//     `TestImportsOfLayers`, `TestVoxelSizesAtTheSameTime`
//   - Updates at the same time leave the files that they leave one after the other, in all mags. So do updates of
//     layers with the same files, by links or by their paths in the metadata, if the files are in the dataset.
//     `TestUpdatesAtTheSameTime`, `TestOwner`
//   - A layer whose import is not finished cannot be updated.
//     `TestUpdateOfUnfinishedImport`
//   - The locks are the files `.LAYER.lock` and `.datasource-properties.json.lock` in the dataset, with the
//     kernel's lock on them (flock). A writer needs the permission to write in the directory of the dataset, and
//     whoever has it can lock. Readers take no locks, and mounts, `wkwfs check` and `wkwfs cp` do not show them.
//     `TestOneAtATime`, `TestPermissions`, `TestWritersOfOtherUsers`, `TestLocksAreNotSeen`
//   - The lock of a process that was killed is free. The next writer of the layer removes the temporary files that
//     it has left, and the lock file.
//     `TestKilled`, `TestKilledUpdate`, `TestWritersKilled`
//   - `wkwfs sample` does not replace metadata that another process has written since it started.
//     `TestMetadataAppear`
//   - NFS passes these locks on to the server, so they keep machines apart. Where the kernel has no locks (ENOLCK,
//     ENOSYS, EOPNOTSUPP), or where NFS, Lustre or SMB are mounted with locks of one machine (`nolock`,
//     `local_lock`, `localflock`, `nobrl`), the file itself is the lock. The file of a process that was killed
//     then has to be removed by hand: the error names it. There, `--update` waits for half a minute. All machines
//     must mount the dataset in the same way.
//     `TestWithoutLocks`, `TestLocalLocks`, `TestWritersWithoutLocks`
//   - Other file systems may lock on one machine only, without a sign of it, such as sshfs. There and where parts
//     run without locks, checks remain. An import fails if another one has created or replaced its journal, or has
//     added a layer of the name. An update fails if another one has replaced a cube until it is renamed.
//     `--force`, and two machines that replace `datasource-properties.json` or a cube within a millisecond, are
//     not safe there.
//     `TestWithoutLocks`, `TestRenameNew`, `TestRenameUpdated`
//   - Parts of `wkwfs import` have about equal stored bytes of the input. Those of a picture are the size of its
//     file, those of a page of a TIFF are in its header, and other inputs have equal bytes in all planes. If the
//     input is cut on z only, the heaviest part is as light as whole cubes of the coarsest mag allow. Otherwise,
//     if there are 16 whole cubes for each part, none has more than 1.25 of an equal part.
//     `TestPartsOfPictures`, `TestStoredBytes`, `TestCutByStoredBytes`, `TestCutLineIsBest`, `TestCutIsEqual`
//   - All machines cut an import in the same way, from the headers and the sizes of files. If parts were cut in
//     another way, as another release may do, the other parts and `--finish` fail and write nothing.
//     `TestCutIsTheSameEverywhere`, `TestPartsWithAnotherCut`
//   - The layer is in the metadata after `--finish` only. If parts are not complete, their numbers are printed,
//     and the exit code is 1. A part that was interrupted goes on where it was.
//     `TestFinishNamesMissingParts`, `TestPartResumes`
//   - If `--finish` is killed at any moment, the same command completes it. The dataset then has the files of an
//     import by one process, and no other.
//     `TestImportFinishKilled`, `TestFinishRemovesWhatIsLeft`
//   - An input that is one compressed stream is not imported in parts: the error names it, and nothing is written.
//     `TestStreamIsNotDivided`
package importer
