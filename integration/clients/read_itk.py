"""ITK in plastimatch, which reads only with ITK. Debian: plastimatch.

plastimatch writes the image as a MetaImage with all digits, in the coordinates of ITK,
which point left, posterior and superior.
"""

import os
import re
import subprocess
import tempfile

import numpy

from client import serve

TYPES = {
    "MET_UCHAR": "u1", "MET_USHORT": "u2", "MET_SHORT": "i2", "MET_UINT": "u4", "MET_INT": "i4", "MET_FLOAT": "f4",
}  # fmt: skip
NM = {".mhd": 1, ".nii": 1e6, ".nrrd": 1, ".nhdr": 1}  # ITK knows no units


def read(path):
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, "copy.mhd")
        subprocess.run(["plastimatch", "convert", "--input", path, "--output-img", copy], check=True, capture_output=True)
        with open(copy) as file:
            fields = dict(re.findall(r"^(\w+) = (.*)$", file.read(), re.MULTILINE))
        dtype = numpy.dtype(TYPES[fields["ElementType"]]).newbyteorder("<")
        data = numpy.fromfile(os.path.join(directory, fields["ElementDataFile"]), dtype)
    size = [int(n) for n in fields["DimSize"].split()]
    array = data.reshape((*size, 1), order="F")
    suffix = os.path.splitext(path)[1]
    if suffix == ".tif":
        return array, None, None
    # In NIfTI, x and y have the opposite direction. The other formats use ITK's directions.
    flip = numpy.array([-1, -1, 1] if suffix == ".nii" else [1, 1, 1])
    direction = numpy.array(fields["TransformMatrix"].split(), float).reshape(3, 3)
    assert numpy.allclose(direction, numpy.diag(flip), rtol=0, atol=1e-15), f"axes point to {direction}"
    spacing, offset = (numpy.array(fields[key].split(), float) * NM[suffix] for key in ("ElementSpacing", "Offset"))
    return array, spacing, offset * flip


serve(read)
