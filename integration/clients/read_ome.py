"""OME-Zarr 0.4 by zarr-python and dask, by xarray, or by GDAL. Debian: python3-zarr, python3-dask, python3-xarray, python3-gdal.

The argument is the library. A path is MAG/#BOX: MAG is a mag of a mount or of a server, and BOX a box of it. The voxels
are those of the level MAG of ome.zarr beside it.
"""

import sys

import numpy

from client import same, serve


def with_zarr(group, level, index):
    import dask.array
    import zarr

    image = zarr.open_consolidated(group, mode="r")
    attributes = image.attrs.asdict()
    voxels = same(image[level][index], numpy.asarray(dask.array.from_zarr(group, component=level)[index]))
    return voxels, attributes["multiscales"][0]


def with_xarray(group, level, index):
    import xarray

    image = xarray.open_zarr(group, mask_and_scale=False)  # else voxels of the fill value are NaN
    return image[level][index].values, image.attrs["multiscales"][0]


def with_gdal(group, level, index):
    import json

    from osgeo import gdal

    gdal.UseExceptions()
    if group.startswith("http"):
        group = f'ZARR:"/vsicurl/{group}"'
    image = gdal.OpenEx(group, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    multiscales = json.loads(image.GetAttribute("multiscales").ReadAsString())
    array = image.OpenMDArray(level)
    index = index[1:] if index[0] is Ellipsis else index
    while len(index) < array.GetDimensionCount():
        index = (slice(0, array.GetDimensions()[0].GetSize()), *index)
    return array.ReadAsArray([i.start for i in index], [i.stop - i.start for i in index]), multiscales[0]


def read(path):
    mag, box = path.rsplit("/#", 1)
    layer, level = mag.rsplit("/", 1)
    starts, ends = zip(*(map(int, side.split("-")) for side in box.split("_")))
    index = (Ellipsis, *(slice(a, b) for a, b in zip(starts[::-1], ends[::-1])))
    voxels, image = {"zarr": with_zarr, "xarray": with_xarray, "gdal": with_gdal}[sys.argv[1]](f"{layer}/ome.zarr", level, index)
    spacing, origin = place(image, level, starts)
    return (voxels if voxels.ndim == 4 else voxels[numpy.newaxis]).transpose(3, 2, 1, 0), spacing, origin


def place(image, level, start):
    """Return the voxel size, and the position of the corner of a voxel, both in nm."""
    axes = {a["name"]: i for i, a in enumerate(image["axes"])}
    if "unit" not in image["axes"][axes["x"]]:
        return None, None
    assert {a.get("unit") for a in image["axes"]} <= {None, "nanometer"}, image["axes"]
    scale, translation = next(d["coordinateTransformations"] for d in image["datasets"] if d["path"] == level)
    factors = list(map(int, level.split("-"))) * (1 if "-" in level else 3)
    spacing = [scale["scale"][axes[a]] for a in "xyz"]
    # OME has the centres of voxels, and 0 is the centre of a voxel of mag 1.
    corner = [translation["translation"][axes[a]] - (s - s / f) / 2 for a, s, f in zip("xyz", spacing, factors)]
    return spacing, [c + s * n for c, s, n in zip(corner, spacing, start)]


serve(read)
