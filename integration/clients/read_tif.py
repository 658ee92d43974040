"""tifffile. Debian: python3-tifffile."""

import numpy
import tifffile

from client import same, serve


def read(path):
    array = same(tifffile.imread(path), tifffile.memmap(path, mode="r"))
    with tifffile.TiffFile(path) as file:
        page, planes, meta = file.pages[0], len(file.pages), file.imagej_metadata
    array = array.reshape((planes, page.imagelength, page.imagewidth, page.samplesperpixel)).transpose(2, 1, 0, 3)
    if meta.get("unit") != "nm":
        return array, None, None
    pixels_per_nm = [numpy.divide(*page.tags[tag].value) for tag in ("XResolution", "YResolution")]
    spacing = [1 / pixels_per_nm[0], 1 / pixels_per_nm[1], meta["spacing"]]
    return array, spacing, [-meta[axis + "origin"] * s for axis, s in zip("xyz", spacing)]


serve(read)
