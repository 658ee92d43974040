"""nibabel. Debian: python3-nibabel."""

import nibabel
import numpy

from client import path, report

NM = {"micron": 1e3, "mm": 1e6, "meter": 1e9}

image = nibabel.load(path())
array = numpy.asanyarray(image.dataobj)
if array.dtype.names:  # RGB24 is a structure of R, G, B
    array = numpy.stack([array[name] for name in array.dtype.names], axis=-1)
else:
    array = array[..., numpy.newaxis]
unit = NM.get(image.header.get_xyzt_units()[0])
spacing = origin = None
if unit:
    assert numpy.allclose(image.get_sform(), image.get_qform()), "sform and qform differ"
    spacing = numpy.diag(image.affine)[:3] * unit
    origin = image.affine[:3, 3] * unit
report(array, spacing, origin)
