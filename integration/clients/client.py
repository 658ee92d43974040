"""Code that the read_*.py programs share.

Each program opens files with one library and reports what the library reads. It reads
lines from standard input: the path of a file and positions of voxels, separated by
tabs. It answers each with a line of JSON:

    PATH	x,y,z	x,y,z ...
    {"shape": [X, Y, Z], "channels": C, "dtype": "uint16",
     "spacing": [x, y, z] or null, "origin": [x, y, z] or null,
     "voxels": [[value of channel 0, ...], ...], "sha256": "..."}

Spacing and origin are in nm, or null if the file or the library has none. The hash is
that of all values, little-endian, channel fastest, then x, y, z. If the library fails,
the answer is {"error": "..."}.
"""

import hashlib
import json
import sys

import numpy


def serve(read):
    """Answer all lines. read(path) returns an array with axes x, y, z, channel; the spacing; and the origin."""
    for line in sys.stdin:
        path, *positions = line.rstrip("\n").split("\t")
        try:
            array, spacing, origin = read(path)
            answer = describe(array, spacing, origin, [tuple(map(int, p.split(","))) for p in positions])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def describe(array, spacing, origin, positions):
    flat = numpy.ascontiguousarray(array.transpose(2, 1, 0, 3), array.dtype.newbyteorder("<"))
    return {
        "shape": list(array.shape[:3]),
        "channels": array.shape[3],
        "dtype": array.dtype.name,
        "spacing": None if spacing is None else [float(v) for v in spacing],
        "origin": None if origin is None else [float(v) for v in origin],
        "voxels": [numpy.asarray(array[p]).tolist() for p in positions],
        "sha256": hashlib.sha256(flat).hexdigest(),
    }


def channels_last(array):
    """Return an array with axes x, y, z, channel from one with axes x, y, z or channel, x, y, z."""
    return array[..., numpy.newaxis] if array.ndim == 3 else array.transpose(1, 2, 3, 0)


def same(*arrays):
    """Return the first of several readings of one file. They must be equal."""
    for other in arrays[1:]:
        assert other.dtype == arrays[0].dtype, f"{other.dtype} and {arrays[0].dtype}"
        # As bytes: a NaN is not equal to itself.
        assert other.shape == arrays[0].shape and other.tobytes() == arrays[0].tobytes(), "two readings differ"
    return arrays[0]
