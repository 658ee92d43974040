"""Teem, the reference implementation of NRRD, for attached and detached headers. Debian: teem-apps."""

import re
import subprocess

import numpy

from client import channels_last, serve

TYPES = {
    "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4",
    "unsigned int": "u4", "long long int": "i8", "unsigned long long int": "u8", "float": "f4", "double": "f8",
}  # fmt: skip


def unu(*args):
    return subprocess.run(["teem-unu", *args], check=True, capture_output=True).stdout


def read(path):
    assert unu("head", path).startswith(b"NRRD0004\n"), "unu head shows another format"
    # Teem checks and completes the header when it reads, so its copy has the full header.
    head, data = unu("save", "-f", "nrrd", "-e", "raw", "-i", path).split(b"\n\n", 1)
    fields = dict(re.findall(r"^([a-z ]+): (.*)$", head.decode(), re.MULTILINE))
    sizes = [int(n) for n in fields["sizes"].split()]
    array = numpy.frombuffer(data, numpy.dtype(TYPES[fields["type"]]).newbyteorder("<")).reshape(sizes, order="F")
    return channels_last(array), *position(fields)


def position(fields):
    if "space units" not in fields:
        return None, None
    assert fields["space units"] == '"nm" "nm" "nm"', fields["space units"]
    vectors = re.findall(r"\(([^)]*)\)", fields["space directions"])
    directions = numpy.array([[float(v) for v in vector.split(",")] for vector in vectors])
    assert (directions == numpy.diag(numpy.diag(directions))).all(), "axes are not aligned"
    return numpy.diag(directions), [float(v) for v in fields["space origin"].strip("()").split(",")]


serve(read)
