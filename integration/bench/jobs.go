package main

import (
	"github.com/wkwfs/wkwfs/volume"
)

// somePatches are the small boxes that a turn reads.
var somePatches = patches(40)

// jobs returns all jobs. Each guards rows of PERFORMANCE.md.
func (b *bench) jobs() []job {
	const layer, all = "data/1", "volume.raw" // the directory of a file's voxels in its mount, if it may have several arrays
	boxFiles := b.readBoxes(somePatches, byBoxFile, medianMS)
	return []job{
		// Local disks
		{name: "dd of E, decoded-cold", data: dataE, do: dd, whole: true, among: ddLocal,
			figures: one("GB/s", atLeast(1, erofsName), atLeast(1.7, squashfsName), atLeast(1.7, squashfuseName), atLeast(1.7, oneThread))},
		{name: "dd of E, cold", data: dataE, do: dd, cold: true, among: ddCold, figures: one("GB/s", atLeast(1, erofsName))},
		{name: "dd of R, decoded-cold", data: dataR, do: dd, whole: true, among: ddLocal,
			figures: one("GB/s", atLeast(1.6, squashfsName), atLeast(1.9, squashfuseName))},
		{name: "4 KiB random preads of E, decoded-cold", data: dataE, do: preads, among: fileSystems, figures: percentiles(2.5)},
		{name: "4 KiB random preads of R, decoded-cold", data: dataR, do: preads, among: fileSystems, figures: percentiles(1.6)},
		{name: "4 KiB random preads of Q, decoded-cold", data: dataQ, do: preads, among: fileSystems, figures: percentiles(1.8)},
		{name: "64³ patches of R by box/, decoded-cold", data: dataR, do: boxFiles, among: boxesBesideRows, figures: one("ms", atMost(0.6, beforeName))},
		{name: "64³ patches of Q by box/, decoded-cold", data: dataQ, do: boxFiles, among: boxesBesideRows, figures: one("ms", atMost(0.5, beforeName))},
		{name: "64³ patches of R by numpy.memmap, decoded-cold", data: dataR, do: byNumpy.boxes(somePatches), among: fileSystems,
			figures: one("ms", atMost(1.2, erofsName))},
		{name: "64³ patches of Q by numpy.memmap, decoded-cold", data: dataQ, do: byNumpy.boxes(somePatches), among: fileSystems,
			figures: one("ms", atMost(0.5, beforeName))},
		{name: "one xy plane of E, first touch, decoded-cold", data: dataE, do: b.readBoxes(firstPlanes, byRow, medianMS), among: fileSystems,
			figures: one("ms", atMost(1.1, beforeName))},
		{name: "box/ 256³ of E, decoded-cold", data: dataE, do: b.readBoxes(alignedBoxes, byBoxFile, perSecond), among: besideDD(alignedBoxes),
			figures: one("GB/s", atLeast(1.6, oneThread), atLeast(0.9, ddName))},
		{name: "slices/ of E, decoded-cold", data: dataE, do: b.readBoxes(layers(0, 2*blockSide, 1), bySlice, perSecond),
			among: besideDD(layers(0, 2*blockSide, blockSide)), figures: one("GB/s", atLeast(1.6, oneThread), atLeast(0.6, ddName))},
		{name: "mounting and listing 100,000 cubes", data: dataMany, among: listLocal, figures: []figure{{"ms to mount", []bound{atMost(50, "")}}, {"s", []bound{atMost(2, "")}}}},

		// Sources that answer late, and object stores
		{name: "dd of R, reads 5 ms late", data: dataR, do: dd, whole: true, among: lateAndPrompt(cubeFile), figures: one("GB/s", atLeast(0.6, promptName))},
		{name: "64³ box of R, reads 5 ms late", data: dataR, do: boxFiles, among: lateAndPrompt(""), figures: one("ms", atMost(20, ""))},
		{name: "dd of R from S3, 50 ms late", data: dataR, do: dd, whole: true, among: ddCloud, figures: one("GB/s", atLeast(1.5, rcloneName))},
		{name: "dd of R from S3, 50 ms late, second time", data: dataR, do: dd, whole: true, among: diskCache, figures: one("GB/s", atLeast(0.9, nearName))},
		{name: "one cold 64³ box of R from S3, 50 ms late", data: dataR, do: b.readBoxes(patches(1), byBoxFile, medianMS), among: boxCloud,
			figures: one("ms", atMost(170, ""))},
		{name: "mounting and listing 100,000 cubes on S3, 50 ms late", data: dataMany, among: listCloud, figures: []figure{{unit: "ms to mount"}, {"s", []bound{atMost(3, "")}}}},
		{name: "NFS of E, decoded-cold", data: dataE, do: dd, among: overNFS, figures: one("GB/s", atLeast(0.8, ddName))},

		// Imports
		{name: "import of R, LZ4", data: dataR, among: importLZ4, figures: one("s", atMost(2.5, mksquashfsName))},
		{name: "import of Q, LZ4, three coarser mags", data: dataQ, among: importMags, figures: one("s", atMost(1.8, importName))},

		// Other formats
		{name: "dd of R as Zarr 3, decoded-cold", data: dataR, do: dd, whole: true, among: asForm("zarr3", layer, all, "", nil), figures: one("GB/s", atLeast(0.5, asWKWName))},
		{name: "64³ patches of R as Zarr 2, decoded-cold", data: dataR, do: boxFiles, among: asForm("blosc.zarr", "", "", zarrName, byZarr.boxes(somePatches)),
			figures: one("ms", atMost(1/1.5, zarrName))},
		{name: "dd of R as HDF5, deflate, decoded-cold", data: dataR, do: dd, whole: true, among: asForm("deflate.h5", layer, all, h5pyName, byH5py.all),
			figures: one("GB/s", atLeast(1.5, h5pyName))},
		{name: "dd of R as HDF5, LZF, decoded-cold", data: dataR, do: dd, whole: true, among: asForm("lzf.h5", layer, all, h5pyName, byH5py.all),
			figures: one("GB/s", atLeast(1.5, h5pyName))},
		{name: "64³ patches of R as HDF5, deflate, decoded-cold", data: dataR, do: boxFiles, among: asForm("deflate.h5", layer, "", h5pyName, byH5py.boxes(somePatches)),
			figures: one("ms", atMost(1/1.5, h5pyName))},
		{name: "64³ patches of R as HDF5, LZF, decoded-cold", data: dataR, do: boxFiles, among: asForm("lzf.h5", layer, "", h5pyName, byH5py.boxes(somePatches)),
			figures: one("ms", atMost(1/1.5, h5pyName))},
		{name: "dd of R as TIFF, decoded-cold", data: dataR, do: dd, whole: true, among: asForm("array.tif", "1", all, "", nil),
			figures: one("GB/s", atLeast(0.8, asWKWName))},
		{name: "dd of R as npy, decoded-cold", data: dataR, do: dd, whole: true, among: asForm("array.npy", "1", all, "", nil),
			figures: one("GB/s", atLeast(0.8, asWKWName))},
		{name: "dd of R as MRC, decoded-cold", data: dataR, do: dd, whole: true, among: asForm("array.mrc", "1", all, "", nil),
			figures: one("GB/s", atLeast(0.8, asWKWName))},
		{name: "64³ patches of R as a tiled TIFF, decoded-cold", data: dataR, do: boxFiles,
			among: asForm("tiled.tif", "1", "", tifffileName, byTifffile.boxes(somePatches)), figures: one("ms", atMost(1/1.5, tifffileName))},

		// Annotations and mappings
		{name: "dd of Q, merged with an annotation, decoded-cold", data: dataQ, do: dd, whole: true, among: merged,
			figures: one("GB/s", atLeast(0.9, itselfName))},
		{name: "dd of Q, mapped, decoded-cold", data: dataQ, do: dd, whole: true, among: mapped(all),
			figures: one("GB/s", atLeast(0.6, itselfName))},
		{name: "64³ patches of Q, mapped, decoded-cold", data: dataQ, do: boxFiles, among: mapped(""),
			figures: one("ms", atMost(1/0.7, itselfName))},
	}
}

// percentiles returns the figures of preads. p50 is the maximum of the ratio of median times to squashfs.
func percentiles(p50 float64) []figure {
	return []figure{{"µs, p50", []bound{atMost(p50, squashfsName)}}, {"µs, p99", []bound{atMost(3, squashfsName)}}}
}

// The contenders of a job are the functions below, or fileSystems, or in the file of their kind.

func ddLocal(b *bench, d *dataset) []contender {
	return append(fileSystems(b, d), b.decodes(d, whole, perSecond))
}

func ddCold(b *bench, d *dataset) []contender { return append(fileSystems(b, d), d.plain()) }

func boxesBesideRows(b *bench, d *dataset) []contender {
	return append(b.pair(d.source(), ""), d.plain().by(plainName, b.readBoxes(somePatches, byRow, medianMS)))
}

// besideDD compares files with parts of a cube with dd of the whole, and with decoding the same voxels.
func besideDD(boxes func(volume.Grid) []volume.Box) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		return append(b.pair(d.source(), ""), b.wkwfs(d.source(), cubeFile).by(ddName, dd), b.decodes(d, boxes, perSecond))
	}
}

func listLocal(b *bench, d *dataset) []contender {
	return []contender{b.mountAndList(wkwfsName, d.source(), d)}
}

func ddCloud(b *bench, d *dataset) []contender {
	return onlyWithS3(b.wkwfs(b.onS3(d, cloudDelay), cubeFile), b.rclone(d))
}

// diskCache reads from S3 what a mount before has put into the disk cache.
func diskCache(b *bench, d *dataset) []contender {
	far := b.wkwfs(b.onS3(d, cloudDelay), cubeFile, "--disk-cache", b.diskCache())
	return append(onlyWithS3(far), b.wkwfs(d.source(), cubeFile).named(nearName))
}

func boxCloud(b *bench, d *dataset) []contender {
	return onlyWithS3(b.wkwfs(b.onS3(d, cloudDelay), ""), b.wkwfs(b.onS3(d, 0), "").named(promptName))
}

func listCloud(b *bench, d *dataset) []contender {
	return onlyWithS3(b.mountAndList(wkwfsName, b.onS3(d, cloudDelay), d), b.mountAndList(promptName, b.onS3(d, 0), d))
}
