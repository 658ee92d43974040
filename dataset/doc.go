// Package dataset opens what lies at a path or a URL, and recognises its format.
//
// [Open] takes a dataset, a layer, a mag or a cube file of WKW, a Precomputed volume, an array or a group of Zarr or N5, also in a zip
// archive of uncompressed files (.zip, .ozx), and a WEBKNOSSOS dataset whose layers have several of these formats. A URL is that of an
// object store or a web server: s3://BUCKET/PATH, gs://BUCKET/PATH, https://HOST/PATH. Credentials are found as the tools of these stores
// find them: in the environment, in configuration files, and from the machine that the program runs on.
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
// [volume.ReadBox] reads a box of voxels and keeps nothing. A program that reads more than once should read through a cache, with a
// [Reader]. The program wkwfs opens its sources with this package, too.
//
// # Trust
//
// Everything in a dataset is untrusted, its metadata included. They may lead to other places only with [Options].FollowLinks, and then
// [Options].Allow decides about URLs. A remote dataset never leads to a path of this machine.
package dataset
