"""What the read_*.py programs share.

Each opens one file with the library that people open it with, and prints as JSON what
that library says:

    read_npy.py FILE x,y,z ...
    {"shape": [X, Y, Z], "channels": C, "dtype": "uint16",
     "spacing_nm": [x, y, z] or null, "origin_nm": [x, y, z] or null,
     "voxels": [[value of channel 0, ...], ...]}

with one list of values for each position asked for.
"""

import json
import sys

import numpy


def report(array, spacing_nm, origin_nm):
    """Print the answer; array has the axes x, y, z, channel."""
    positions = [tuple(map(int, arg.split(","))) for arg in sys.argv[2:]]
    json.dump(
        {
            "shape": list(array.shape[:3]),
            "channels": array.shape[3],
            "dtype": array.dtype.name,
            "spacing_nm": None if spacing_nm is None else [float(v) for v in spacing_nm],
            "origin_nm": None if origin_nm is None else [float(v) for v in origin_nm],
            "voxels": [numpy.asarray(array[p]).tolist() for p in positions],
        },
        sys.stdout,
    )
    print()


def path():
    return sys.argv[1]
