"""nibabel. Debian: python3-nibabel."""

import nibabel
import numpy

from client import serve

NM = {"micron": 1e3, "mm": 1e6, "meter": 1e9}


def read(path):
    image = nibabel.load(path)
    array = numpy.asanyarray(image.dataobj)
    if array.dtype.names:  # RGB24 is a structure of R, G, B
        array = numpy.stack([array[name] for name in array.dtype.names], axis=-1)
    else:
        array = array[..., numpy.newaxis]
    unit = NM.get(image.header.get_xyzt_units()[0])
    if unit is None:
        return array, None, None
    assert numpy.allclose(image.get_sform(), image.get_qform(), rtol=1e-6, atol=0), "sform and qform differ"
    return array, numpy.diag(image.affine)[:3] * unit, image.affine[:3, 3] * unit


serve(read)
