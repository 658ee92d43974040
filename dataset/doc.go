// Package dataset opens what lies at a path or a URL, and recognises its format.
//
// [Open] takes a dataset, a layer, a mag or a cube file of WKW, a Precomputed volume, an array or a group of Zarr or
// N5, also in a zip archive (.zip, .ozx), an HDF5 file, an array in a file of another program, a folder of pictures, a
// KNOSSOS dataset, an annotation, and a WEBKNOSSOS dataset whose layers have several of these formats. A URL is that of
// an object store or a web server: s3://BUCKET/PATH, gs://BUCKET/PATH, https://HOST/PATH. Credentials are found as the
// tools of these stores find them: in the environment, in configuration files, and from the machine that the program
// runs on.
//
// The result is a [volume.Dataset]. A program that is written for it works with every format, on every store:
//
//	d, err := dataset.Open(ctx, "s3://bucket/brain.zarr", dataset.Options{Anonymous: true})
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	layers, err := d.Layers()
//
// [volume.ReadBox] reads a box of voxels and keeps nothing. A program that reads more than once should read through a
// cache, with a [Reader]. The program wkwfs opens its sources with this package, too.
//
// # Trust
//
// Everything in a dataset is untrusted, its metadata included. Metadata may lead to other places only with
// [Options].FollowLinks, and then [Options].Allow decides about URLs. A remote dataset never leads to a path of this
// machine.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Metadata that claims much cannot take much memory or time. `datasource-properties.json` may have 16 MiB, 10,000
//     layers, 1,000 mags a layer and 100,000 mags; `info` 16 MiB, 1,000 scales and 1,000 chunk sizes a scale. An error
//     names the limit and the file. A dataset beyond the limits is shown without its metadata.
//     `TestMetadataBombs`, `TestLimitsOfProperties`, `TestLimitsOfInfo`, `TestManyMags`
//   - An entry of a shard index of Zarr, a minishard index of Precomputed or a jump table of WKW that leads into that
//     index itself is damage, which the error names. So is an entry of a zip archive with bytes of the directory.
//     Entries that lead into the index of another minishard, and extents of chunks that overlap, are not detected.
//     `TestEntriesReachIntoIndex`, `TestMisplaced`, `TestChunksReachIntoIndex`, `TestExtentReachesIntoDirectory`,
//     `TestDamagedBlocks`
//   - Layers that show other channels or axes of one array share no blocks in the cache. Neither do chunks that are
//     links to one file, unless they have the same voxels.
//     `TestVersionsOfOneFile`, `TestLinkedChunks`
//   - A layer of `datasource-properties.json` that cannot be parsed does not affect the others. It is shown
//     without its metadata if it can be found without them, and `wkwfs check` reports it. Of layers with the same
//     name, the first is shown.
//     `TestInvalidLayer`, `TestSameName`
//   - The layers of a WEBKNOSSOS dataset may each have another format. Index 0 of an array is voxel 0 of the
//     dataset, and a layer or mag of it, mounted alone, has the box and voxel size of the dataset.
//     `TestMixedDatasets`, `TestPartsOfMixedDatasets`
//   - If an import of a layer is not finished, the layer is shown, and what was not written reads as zeros. `wkwfs
//     check` of the layer, of its dataset and of each of its mags fails. `wkwfs info` says so. What an interrupted
//     copy leaves out is not seen, except for a file of `wkwfs cp` that is not complete (`.part`): the next
//     promise finds it.
//     `TestUnfinishedImport`, `TestUnfinishedImportBeside`, `TestUnfinished`
//   - `wkwfs check` and `wkwfs info` report files in the directory of a mag that have names like cubes, chunks or
//     shards of any format, and that the mag does not read. They look at all names in its first 131,072
//     directories. A file beside one of the same name without a suffix does not count. Chunks of Precomputed in
//     another size of the scale count only if there are none of the size that is read. `check` fails if the mag
//     reads no file at all.
//     `TestNames`, `TestCopies`, `TestOtherDirectories`, `TestSilentZeros`
//   - `wkwfs check` and `wkwfs info` also report a mag that has no file with voxels. `check` does not fail because of
//     that. `TestNames`, `TestFind`, `TestSilentZeros`
//   - `wkwfs check` notes all other files in the directory of a mag that nothing reads, except hidden files and
//     metadata. `TestOthers`
//   - Servers, and `wkwfs cp`, warn of these gaps as far as a sample shows them: of the first 64 mags, the first
//     1,000 names of up to 4 directories on each level, or of one in an object store. A server looks for them in
//     the background when it starts. `wkwfs mount` and `view` wait up to a second for that, and print the warnings
//     on the terminal. A server whose SOURCE is a URL looks at the first mag of up to 8 layers, with about ten
//     requests each.
//     `TestSample`, `TestSilentZeros`, `TestLookPanics`, `TestWarnings`, `TestLookOverNetwork`
//   - The search for gaps ends in a store whose directories lead to others forever: it looks into 17 levels below a
//     mag.
//     `TestEndless`
//   - A file in the place of a layer or a mag that `datasource-properties.json` names is damage. Looking
//     it up is an error, and it is not listed. `wkwfs info` and `wkwfs check` report it. `wkwfs cp` of a directory
//     that it belongs to copies the others and fails. It does the same for a mag whose geometry cannot be read.
//     `TestLayerOfWrongKind`, `TestDataset`, `TestCopyScripts`, `TestUnshown`
//   - A `datasource-properties.json` or a `header.wkw` of the wrong kind is damaged metadata: reading it is an
//     error, `wkwfs check` reports it, and the voxels are shown without it.
//     `TestWrongKindOfMetadata`, `TestWrongKinds`
//   - If a `datasource-properties.json` cannot be parsed, `wkwfs info`, `mount`, `cp` and `view` print a warning
//     on the terminal, and `check` fails.
//     `TestCutMetadata`
//   - A name with control characters cannot change what a terminal does, and one with format characters (Unicode Cf:
//     bidirectional marks, characters of no width) not how it looks. All that commands print escapes them, also as
//     JSON, and so do the log, pages, texts of errors over HTTP and the names in the viewer. Each fault that `check`
//     finds is one line.
//     `TestControlCharacters`, `TestHiddenCharacters`, `TestEscape`, `TestEscapeJSON`, `TestOneLine`
//   - More than 10,000 directories in a dataset, or more than 1,000 directories of mags in a layer, are an error.
//     `TestManyDirectories`
package dataset
