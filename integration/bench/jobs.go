package main

import (
	"github.com/wkwfs/wkwfs/volume"
)

// somePatches are the small boxes that a turn reads.
var somePatches = patches(40)

// jobs returns all jobs. Each guards rows of PERFORMANCE.md.
func (b *bench) jobs() []job {
	const layer, all = "data/1", "volume.raw" // in the mount of a file: where the voxels are, and the file with all
	boxFiles := task{do: b.readBoxes(somePatches, byBoxFile, medianMS)}
	memmaps := task{do: byNumpy.boxes(somePatches)}
	h5Boxes, tiffBoxes, zarrBoxes := byH5py.boxes(somePatches), byTifffile.boxes(somePatches), byZarr.boxes(somePatches)
	return []job{
		// Local disks
		{"dd of E, decoded-cold", dataE, ddWhole, ddLocal, gbs(atLeast(1, erofsName),
			atLeast(1.7, squashfsName), atLeast(1.7, squashfuseName), atLeast(1.7, oneThread))},
		{"dd of E, cold", dataE, ddCold, ddBesidePlain, gbs(atLeast(1, erofsName))},
		{"dd of R, decoded-cold", dataR, ddWhole, ddLocal, gbs(
			atLeast(1.6, squashfsName), atLeast(1.9, squashfuseName))},
		{"4 KiB random preads of E, decoded-cold", dataE, task{do: preads}, fileSystems, percentiles(2.5)},
		{"4 KiB random preads of R, decoded-cold", dataR, task{do: preads}, fileSystems, percentiles(1.6)},
		{"4 KiB random preads of Q, decoded-cold", dataQ, task{do: preads}, fileSystems, percentiles(1.8)},
		{"64³ patches of R by box/, decoded-cold", dataR, boxFiles, boxesBesideRows, ms(atMost(0.6, beforeName))},
		{"64³ patches of Q by box/, decoded-cold", dataQ, boxFiles, boxesBesideRows, ms(atMost(0.5, beforeName))},
		{"64³ patches of R by numpy.memmap, decoded-cold", dataR, memmaps, fileSystems, ms(atMost(1.2, erofsName))},
		{"64³ patches of Q by numpy.memmap, decoded-cold", dataQ, memmaps, fileSystems, ms(atMost(0.5, beforeName))},
		{"one xy plane of E, first touch, decoded-cold", dataE, task{do: b.readBoxes(firstPlanes, byRow, medianMS)},
			fileSystems, ms(atMost(1.1, beforeName))},
		{"box/ 256³ of E, decoded-cold", dataE, task{do: b.readBoxes(alignedBoxes, byBoxFile, perSecond)},
			besideDD(alignedBoxes), gbs(atLeast(1.6, oneThread), atLeast(0.9, ddName))},
		{"slices/ of E, decoded-cold", dataE, task{do: b.readBoxes(layers(0, 2*blockSide, 1), bySlice, perSecond)},
			besideDD(layers(0, 2*blockSide, blockSide)), gbs(atLeast(1.6, oneThread), atLeast(0.6, ddName))},
		{"mounting and listing 100,000 cubes", dataMany, task{}, listLocal, listed(50, 2)},

		// Sources that answer late, object stores, NFS
		{"dd of R, reads 5 ms late", dataR, ddWhole, lateAndPrompt(cubeFile), gbs(atLeast(0.6, promptName))},
		{"64³ box of R, reads 5 ms late", dataR, boxFiles, lateAndPrompt(""), ms(atMost(20, ""))},
		{"dd of R from S3, 50 ms late", dataR, ddWhole, ddCloud, gbs(atLeast(1.5, rcloneName))},
		{"dd of R from S3, 50 ms late, second time", dataR, ddWhole, diskCache, gbs(atLeast(0.9, nearName))},
		{"one cold 64³ box of R from S3, 50 ms late", dataR, task{do: b.readBoxes(patches(1), byBoxFile, medianMS)},
			boxCloud, ms(atMost(170, ""))},
		{"mounting and listing 100,000 cubes on S3, 50 ms late", dataMany, task{}, listCloud, listed(3000, 3)},
		{"NFS of E, decoded-cold", dataE, task{do: dd}, overNFS, gbs(atLeast(0.8, ddName))},

		// Imports
		{"import of R, LZ4", dataR, task{}, importLZ4, one("s", atMost(2.5, mksquashfsName))},
		{"import of Q, LZ4, three coarser mags", dataQ, task{}, importMags, one("s", atMost(1.8, importName))},

		// Other formats
		{"dd of R as Zarr 3, decoded-cold", dataR, ddWhole, as("zarr3", layer, all, "", nil),
			gbs(atLeast(0.5, asWKWName))},
		{"64³ patches of R as Zarr 2, decoded-cold", dataR, boxFiles, as("blosc.zarr", "", "", zarrName, zarrBoxes),
			ms(atMost(1/1.5, zarrName))},
		{"dd of R as HDF5, deflate, decoded-cold", dataR, ddWhole, as("deflate.h5", layer, all, h5pyName, byH5py.all),
			gbs(atLeast(1.5, h5pyName))},
		{"dd of R as HDF5, LZF, decoded-cold", dataR, ddWhole, as("lzf.h5", layer, all, h5pyName, byH5py.all),
			gbs(atLeast(1.5, h5pyName))},
		{"64³ patches of R as HDF5, deflate, decoded-cold", dataR, boxFiles,
			as("deflate.h5", layer, "", h5pyName, h5Boxes),
			ms(atMost(1/1.5, h5pyName))},
		{"64³ patches of R as HDF5, LZF, decoded-cold", dataR, boxFiles, as("lzf.h5", layer, "", h5pyName, h5Boxes),
			ms(atMost(1/1.5, h5pyName))},
		{"dd of R as TIFF, decoded-cold", dataR, ddWhole, as("array.tif", "1", all, "", nil),
			gbs(atLeast(0.8, asWKWName))},
		{"dd of R as npy, decoded-cold", dataR, ddWhole, as("array.npy", "1", all, "", nil),
			gbs(atLeast(0.8, asWKWName))},
		{"dd of R as MRC, decoded-cold", dataR, ddWhole, as("array.mrc", "1", all, "", nil),
			gbs(atLeast(0.8, asWKWName))},
		{"64³ patches of R as a tiled TIFF, decoded-cold", dataR, boxFiles,
			as("tiled.tif", "1", "", tifffileName, tiffBoxes),
			ms(atMost(1/1.5, tifffileName))},

		// Annotations and mappings
		{"dd of Q, merged with an annotation, decoded-cold", dataQ, ddWhole, merged, gbs(atLeast(0.9, itselfName))},
		{"dd of Q, mapped, decoded-cold", dataQ, ddWhole, mapped(all), gbs(atLeast(0.6, itselfName))},
		{"64³ patches of Q, mapped, decoded-cold", dataQ, boxFiles, mapped(""), ms(atMost(1/0.7, itselfName))},

		// Edits
		{"dd of Q, 5 % edited, decoded-cold", dataQ, ddWhole, edited("edits"), gbs(atLeast(0.95, itselfName))},
		{"dd of Q, nothing edited, decoded-cold", dataQ, ddWhole, edited(""), gbs(atLeast(0.95, itselfName))},
		{"dd into Q, durable", dataQ, task{}, ddIntoEdits, one("s", atMost(1/0.3, importName))},
		{"64³ boxes written into Q, durable", dataQ, task{}, boxesIntoEdits, ms()},
	}
}

// gbs and ms return the only figure of a job.
func gbs(bounds ...bound) []figure { return one("GB/s", bounds...) }
func ms(bounds ...bound) []figure  { return one("ms", bounds...) }

// listed returns the figures of mountAndList. mount and all are their maxima.
func listed(mount, all float64) []figure {
	return []figure{{"ms to mount", []bound{atMost(mount, "")}}, {"s", []bound{atMost(all, "")}}}
}

// percentiles returns the figures of preads. p50 is the maximum of the ratio of median times to squashfs.
func percentiles(p50 float64) []figure {
	return []figure{{"µs, p50", []bound{atMost(p50, squashfsName)}}, {"µs, p99", []bound{atMost(3, squashfsName)}}}
}

// The contenders of a job are the functions below, or fileSystems, or in the file of their kind.

func ddLocal(b *bench, d *dataset) []contender {
	return append(fileSystems(b, d), b.decodes(d, whole, perSecond))
}

func ddBesidePlain(b *bench, d *dataset) []contender { return append(fileSystems(b, d), d.plain()) }

func boxesBesideRows(b *bench, d *dataset) []contender {
	return append(b.pair(d.source(), ""), d.plain().by(plainName, b.readBoxes(somePatches, byRow, medianMS)))
}

// besideDD compares files with parts of a cube with dd of the whole, and with decoding the same voxels.
func besideDD(boxes func(volume.Grid) []volume.Box) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		whole := b.wkwfs(d.source(), cubeFile).by(ddName, dd)
		return append(b.pair(d.source(), ""), whole, b.decodes(d, boxes, perSecond))
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
