"""Teem, the reference implementation of NRRD, attached and detached. Debian: teem-apps."""

import re
import subprocess

import numpy

from client import path, report

TYPES = {
    "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4",
    "unsigned int": "u4", "long long int": "i8", "unsigned long long int": "u8", "float": "f4", "double": "f8",
}  # fmt: skip

# Teem checks and completes the header as it reads; so does its copy.
copy = subprocess.run(["teem-unu", "save", "-f", "nrrd", "-e", "raw", "-i", path()], check=True, capture_output=True).stdout
head, data = copy.split(b"\n\n", 1)
fields = dict(re.findall(r"^([a-z ]+): (.*)$", head.decode(), re.MULTILINE))
sizes = [int(n) for n in fields["sizes"].split()]
array = numpy.frombuffer(data, numpy.dtype(TYPES[fields["type"]]).newbyteorder("<")).reshape(sizes, order="F")
array = array[..., numpy.newaxis] if len(sizes) == 3 else array.transpose(1, 2, 3, 0)

spacing = origin = None
if "space units" in fields:
    assert fields["space units"] == '"nm" "nm" "nm"', fields["space units"]
    vectors = re.findall(r"\(([^)]*)\)", fields["space directions"])
    directions = numpy.array([[float(v) for v in vector.split(",")] for vector in vectors])
    assert (directions == numpy.diag(numpy.diag(directions))).all(), "axes are not straight"
    spacing = numpy.diag(directions)
    origin = [float(v) for v in fields["space origin"].strip("()").split(",")]
report(array, spacing, origin)
