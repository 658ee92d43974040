"""tifffile. Debian: python3-tifffile."""

import numpy
import tifffile

from client import path, report

with tifffile.TiffFile(path()) as file:
    (series,) = file.series
    page = series.pages[0]
    array = series.asarray()
    meta = file.imagej_metadata
    planes = len(file.pages)
array = array.reshape((planes, page.imagelength, page.imagewidth, page.samplesperpixel)).transpose(2, 1, 0, 3)

spacing = origin = None
if meta.get("unit") == "nm":
    pixels_per_nm = [numpy.divide(*page.tags[tag].value) for tag in ("XResolution", "YResolution")]
    spacing = [1 / pixels_per_nm[0], 1 / pixels_per_nm[1], meta["spacing"]]
    origin = [-meta[axis + "origin"] * s for axis, s in zip("xyz", spacing)]
report(array, spacing, origin)
