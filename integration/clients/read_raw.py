"""NumPy with flat files. The extended attributes have type and shape. Debian: python3-numpy."""

import os

import numpy

from client import channels_last, same, serve


def read(path):
    about = {name: os.getxattr(path, name).decode() for name in os.listxattr(path)}
    about = {name.removeprefix("user.wkwfs."): value for name, value in about.items()}
    dtype = numpy.dtype(about["dtype"]).newbyteorder("<")
    shape, channels = tuple(map(int, about["shape"].split(","))), int(about["channels"])
    if channels > 1:
        shape = (channels, *shape)
    array = same(
        numpy.fromfile(path, dtype).reshape(shape, order=about["order"]),
        numpy.memmap(path, dtype, mode="r", shape=shape, order=about["order"]),
    )
    if "voxel_size" not in about:
        return channels_last(array), None, None
    size, unit = about["voxel_size"].split()
    assert unit == "nm", unit
    spacing = numpy.array(size.split(","), float)
    return channels_last(array), spacing, spacing * numpy.array(about["origin"].split(","), float)


serve(read)
