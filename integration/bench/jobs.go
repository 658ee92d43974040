package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// maxPatches is the number of small boxes that a turn reads.
const maxPatches = 40

// How late sources are.
const (
	readsLate    = 5 * time.Millisecond
	metadataLate = time.Millisecond
)

// jobs returns all jobs. Each guards rows of PERFORMANCE.md.
func (b *bench) jobs() []job {
	boxFiles := b.readBoxes(patches(maxPatches), byBoxFile, medianMS)
	zarr2 := python("blosc.zarr", zarrModules)
	deflate, lzf := python("deflate.h5", h5pyModule), python("lzf.h5", h5pyModule)
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
		{name: "64³ patches of R by numpy.memmap, decoded-cold", data: dataR, do: byNumpy.boxes(b, patches(maxPatches)), among: memmaps,
			figures: one("ms", atMost(1.2, erofsName))},
		{name: "64³ patches of Q by numpy.memmap, decoded-cold", data: dataQ, do: byNumpy.boxes(b, patches(maxPatches)), among: memmaps,
			figures: one("ms", atMost(0.5, beforeName))},
		{name: "yz plane of E by numpy.memmap, decoded-cold", data: dataE, do: byNumpy.boxes(b, middlePlane), among: memmaps,
			figures: one("ms", atMost(0.5, squashfsName))},
		{name: "one xy plane of E, first touch, decoded-cold", data: dataE, do: b.readBoxes(firstPlanes, byRow, medianMS), among: planes,
			figures: one("ms", atMost(0.8, oneThread))},
		{name: "box/ 256³ of E, decoded-cold", data: dataE, do: b.readBoxes(alignedBoxes, byBoxFile, perSecond), among: besideDD(alignedBoxes),
			figures: one("GB/s", atLeast(1.6, oneThread), atLeast(0.9, ddName))},
		{name: "slices/ of E, decoded-cold", data: dataE, do: b.readBoxes(layers(0, 2*blockSide, 1), bySlice, perSecond),
			among: besideDD(layers(0, 2*blockSide, blockSide)), figures: one("GB/s", atLeast(1.6, oneThread), atLeast(0.6, ddName))},
		{name: "mounting and listing 100,000 cubes", data: dataMany, among: listLocal, figures: []figure{{"ms to mount", []bound{atMost(50, "")}}, {"s", []bound{atMost(2, "")}}}},

		// Sources that answer late, and object stores
		{name: "dd of R, reads 5 ms late", data: dataR, do: dd, whole: true, among: late(cubeFile), figures: one("GB/s", atLeast(0.6, promptName))},
		{name: "64³ box of R, reads 5 ms late", data: dataR, do: boxFiles, among: late(""), figures: one("ms", atMost(3*ms(readsLate)+5, ""))},
		{name: "first bytes of 2,000 cubes, metadata 1 ms late", data: dataGrid, do: firstBytes, among: metadata,
			figures: []figure{{"ms, volume.raw", []bound{atMost(400, "")}}, {"ms, volume.npy", []bound{atMost(40, "")}}, {"ms, a slice", []bound{atMost(20, "")}}}},
		{name: "dd of R from S3, 50 ms late", data: dataR, do: dd, whole: true, among: ddCloud, figures: one("GB/s", atLeast(0.7, rangesName))},
		{name: "dd of R from S3, 50 ms late, second time", data: dataR, do: dd, whole: true, among: diskCache, figures: one("GB/s", atLeast(0.9, nearName))},
		{name: "one cold 64³ box of R from S3, 50 ms late", data: dataR, do: b.readBoxes(patches(1), byBoxFile, medianMS), among: boxCloud,
			figures: one("ms", atMost(3*ms(cloudDelay)+20, ""))},
		{name: "mounting and listing 100,000 cubes on S3, 50 ms late", data: dataMany, among: listCloud, figures: []figure{{unit: "ms to mount"}, {"s", []bound{atMost(3, "")}}}},
		{name: "NFS of E, decoded-cold", data: dataE, do: dd, among: overNFS, figures: one("GB/s", atLeast(0.8, ddName))},

		// Imports
		{name: "import of R, LZ4", data: dataR, among: importLZ4, figures: one("s", atMost(2.5, mksquashfsName))},
		{name: "import of R, raw", data: dataR, among: importRaw, figures: one("s", atMost(1.5, copyName))},
		{name: "import of Q, LZ4, three coarser mags", data: dataQ, among: importMags, figures: one("s", atMost(1.8, importName))},

		// Other formats
		{name: "dd of R as Zarr 3, decoded-cold", data: dataR, do: dd, whole: true, among: ddForm(layerOfFile, (*bench).zarr3), figures: one("GB/s", atLeast(0.5, asWKWName))},
		{name: "64³ patches of R as Zarr 2, decoded-cold", data: dataR, do: boxFiles, among: patchesOfForm("", zarr2, peer{zarrName, byZarr}),
			figures: one("ms", atMost(1/1.5, zarrName))},
		{name: "dd of R as HDF5, deflate, decoded-cold", data: dataR, do: dd, whole: true, among: ddForm(layerOfFile, deflate, peer{h5pyName, byH5py}),
			figures: one("GB/s", atLeast(1.5, h5pyName))},
		{name: "dd of R as HDF5, LZF, decoded-cold", data: dataR, do: dd, whole: true, among: ddForm(layerOfFile, lzf, peer{h5pyName, byH5py}),
			figures: one("GB/s", atLeast(1.5, h5pyName))},
		{name: "64³ patches of R as HDF5, deflate, decoded-cold", data: dataR, do: boxFiles, among: patchesOfForm(layerOfFile, deflate, peer{h5pyName, byH5py}),
			figures: one("ms", atMost(1/1.5, h5pyName))},
		{name: "64³ patches of R as HDF5, LZF, decoded-cold", data: dataR, do: boxFiles, among: patchesOfForm(layerOfFile, lzf, peer{h5pyName, byH5py}),
			figures: one("ms", atMost(1/1.5, h5pyName))},
		{name: "dd of R as TIFF, decoded-cold", data: dataR, do: dd, whole: true, among: ddForm(magOfFile, python("array.tif", tifffileModule)),
			figures: one("GB/s", atLeast(0.8, asWKWName))},
		{name: "dd of R as npy, decoded-cold", data: dataR, do: dd, whole: true, among: ddForm(magOfFile, python("array.npy", numpyModule)),
			figures: one("GB/s", atLeast(0.8, asWKWName))},
		{name: "dd of R as MRC, decoded-cold", data: dataR, do: dd, whole: true, among: ddForm(magOfFile, python("array.mrc", numpyModule)),
			figures: one("GB/s", atLeast(0.8, asWKWName))},
		{name: "64³ patches of R as a tiled TIFF, decoded-cold", data: dataR, do: boxFiles,
			among: patchesOfForm(magOfFile, python("tiled.tif", tifffileModule), peer{tifffileName, byTifffile}), figures: one("ms", atMost(1/1.5, tifffileName))},

		// Annotations and mappings
		{name: "dd of Q, merged with an annotation, decoded-cold", data: dataQ, do: dd, whole: true, among: computed(mergedName, "volume.raw", merged),
			figures: one("GB/s", atLeast(0.9, itselfName))},
		{name: "dd of Q, mapped, decoded-cold", data: dataQ, do: dd, whole: true, among: computed(mappedName, "volume.raw", mapped),
			figures: one("GB/s", atLeast(0.6, itselfName))},
		{name: "64³ patches of Q, mapped, decoded-cold", data: dataQ, do: boxFiles, among: computed(mappedName, "", mapped),
			figures: one("ms", atMost(1/0.7, itselfName))},
		{name: "all of R by zarr-python, decoded-cold", data: dataR, among: omeZarr, figures: one("GB/s", atLeast(1.5, numpyName))},
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// percentiles returns the figures of preads. p50 is the maximum of the ratio of median times to squashfs.
func percentiles(p50 float64) []figure {
	return []figure{{"µs, p50", []bound{atMost(p50, squashfsName)}}, {"µs, p99", []bound{atMost(3, squashfsName)}}}
}

// The contenders of a job are the functions below, or fileSystems, or in the file of their kind.

func ddLocal(b *bench, d *dataset) []contender {
	return append(fileSystems(b, d), b.decodes(d, whole, perSecond))
}

func ddCold(b *bench, d *dataset) []contender {
	all := append(fileSystems(b, d), d.plain())
	for i := range all {
		if all[i].Absent == "" {
			all[i].Absent = cannotDrop()
		}
	}
	return all
}

func boxesBesideRows(b *bench, d *dataset) []contender {
	return append(b.pair(local(d.mag), ""), d.plain().by(plainName, b.readBoxes(patches(maxPatches), byRow, medianMS)))
}

func memmaps(b *bench, d *dataset) []contender { return b.needs(numpyModule, fileSystems(b, d)...) }

func planes(b *bench, d *dataset) []contender {
	decoder := b.decodes(d, slabsOfPlanes, medianMS)
	slabs := decoder.do
	decoder.do = func(ctx context.Context, r reading) (turn, error) {
		t, err := slabs(ctx, r)
		t.sum = 0 // it decodes more than the planes
		return t, err
	}
	return append(fileSystems(b, d), decoder)
}

// besideDD compares files with parts of a cube with dd of the whole, and with decoding the same voxels.
func besideDD(boxes func(volume.Grid) []volume.Box) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender {
		return append(b.pair(local(d.mag), ""), b.wkwfs(local(d.mag), cubeFile).by(ddName, dd), b.decodes(d, boxes, perSecond))
	}
}

func listLocal(b *bench, d *dataset) []contender {
	return []contender{b.mountAndList(wkwfsName, names(d.mag), d)}
}

func late(file string) func(*bench, *dataset) []contender {
	return func(b *bench, d *dataset) []contender { return b.lateAndPrompt(local(d.mag), file, readsLate, 0) }
}

func metadata(b *bench, d *dataset) []contender {
	return b.lateAndPrompt(names(d.mag), "", 0, metadataLate)
}

func ddCloud(b *bench, d *dataset) []contender {
	return []contender{b.fromS3(d, cubeFile), b.rclone(d), b.s3fs(d), b.ranges(d)}
}

// nearName is the contender whose source is a directory.
const nearName = "wkwfs, a directory"

// diskCache reads from S3 what a mount before has put into the disk cache.
func diskCache(b *bench, d *dataset) []contender {
	near := b.wkwfs(local(d.mag), cubeFile)
	near.Name = nearName
	return []contender{b.fromS3(d, cubeFile, "--disk-cache", filepath.Join(b.dir, "disk-cache")), near}
}

func boxCloud(b *bench, d *dataset) []contender {
	prompt := b.wkwfs(b.onS3(local(d.mag), 0), "")
	prompt.Name, prompt.Absent = promptName, noGateway()
	return []contender{b.fromS3(d, ""), prompt}
}

func listCloud(b *bench, d *dataset) []contender {
	all := []contender{b.mountAndList(wkwfsName, b.onS3(names(d.mag), cloudDelay), d), b.mountAndList(promptName, b.onS3(names(d.mag), 0), d)}
	all[0].Absent, all[1].Absent = noGateway(), noGateway()
	return all
}

func overNFS(b *bench, d *dataset) []contender {
	return []contender{b.nfs(d), b.wkwfs(local(d.mag), cubeFile).by(ddName, dd)}
}

// omeZarr reads the OME-Zarr view of a layer in Python, beside the same voxels as one file.
func omeZarr(b *bench, d *dataset) []contender {
	f := b.withLayer(d)
	view := b.mounted(f, "segmentation/ome.zarr/1").by("ome.zarr", byZarr.all(b))
	flat := b.mounted(f, "segmentation/1/volume.raw").by(numpyName, byNumpy.all(b))
	return b.needs(zarrModules, b.among(f, view, flat)...)
}
