"""tifffile: an OME-TIFF whose planes are in three files, of any order of dimensions, and what tifffile reads from it."""

import itertools
import os
import sys

import numpy
import tifffile

Z, C, T, Y, X = 2, 3, 4, 5, 7
rng = numpy.random.default_rng(1)
for order in map("".join, itertools.permutations("ZCT")):
    directory = os.path.join(sys.argv[1], order)
    os.makedirs(directory)
    pieces, pages = [], {"a": [], "b": [], "c": []}
    sizes = {"Z": Z, "C": C, "T": T}
    for n in range(Z * C * T):
        first, rest = {}, n
        for axis in order:  # the first is fastest
            first[axis], rest = rest % sizes[axis], rest // sizes[axis]
        name = rng.choice(list(pages))
        at = " ".join(f'First{axis}="{i}"' for axis, i in first.items())
        pieces.append(f'<TiffData IFD="{len(pages[name])}" PlaneCount="1" {at}><UUID FileName="{name}.ome.tif">urn:uuid:{name}</UUID></TiffData>')
        pages[name].append(rng.integers(0, 65535, (Y, X), dtype="uint16"))
    for name, planes in pages.items():
        xml = (
            f'<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="urn:uuid:{name}">'
            f'<Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XY{order}" Type="uint16" SizeX="{X}" SizeY="{Y}" SizeZ="{Z}" SizeC="{C}" SizeT="{T}">'
            + "".join(pieces) + "</Pixels></Image></OME>"
        )
        with tifffile.TiffWriter(os.path.join(directory, name + ".ome.tif")) as tif:
            for i, plane in enumerate(planes):
                tif.write(plane, description=xml if i == 0 else None, metadata=None, contiguous=False)
    with tifffile.TiffFile(os.path.join(directory, "a.ome.tif")) as tif:
        series = tif.series[0]
        voxels = series.asarray().transpose(*(series.axes.index(axis) for axis in "TZYXC"))  # channels are interleaved
    assert voxels.shape == (T, Z, Y, X, C)
    voxels.astype("<u2").tofile(directory + ".raw")
