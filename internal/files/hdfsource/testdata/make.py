#!/usr/bin/python3
"""Writes the files with several times of the tests with h5py. Needs Debian's python3-h5py.

    /usr/bin/python3 make.py DIRECTORY

A voxel has the value that voxels() computes of its place, as the tests do.
"""
import os
import sys

import h5py
import numpy as np

os.chdir(sys.argv[1])
SIZES = {"t": 3, "c": 2, "z": 4, "y": 5, "x": 6}
WEIGHTS = {"t": 41, "c": 23, "z": 11, "y": 7, "x": 3}


def voxels(axes, dtype="u2", **start):
    """Values of an array with the axes. start has where it starts, for the axes that it does not have."""
    index = np.indices([SIZES[a] for a in axes])
    v = sum(WEIGHTS[a] * i for a, i in zip(axes, index)) + sum(WEIGHTS[a] * i for a, i in start.items())
    return (v + 1).astype(dtype)


def tags(axes):
    return '{"axes": [%s]}' % ", ".join('{"key": "%s"}' % a for a in axes)


def arrays():
    with h5py.File("times.h5", "w", libver="latest") as f:
        d = f.create_dataset("mixed", data=voxels("ztycx", ">u2"), chunks=(2, 2, 3, 1, 4), compression=4)
        d.attrs["axistags"] = tags("ztycx")
        d = f.create_dataset("flat", data=voxels("tzyx"))
        d.attrs["axes"] = np.array(["t", "z", "y", "x"], dtype=h5py.string_dtype())
        d = f.create_dataset("last", data=voxels("zyxt"), chunks=(2, 5, 6, 3))
        d.attrs["axistags"] = tags("zyxt")
        d = f.create_dataset("scaled", data=voxels("tzyx"), chunks=(1, 2, 3, 4))
        for i, a in enumerate("tzyx"):
            f.create_dataset("axes/" + a, data=np.arange(SIZES[a], dtype="f4")).make_scale(a)
            d.dims[i].attach_scale(f["axes/" + a])
        d = f.create_dataset("sparse", (3, 4, 5, 6), "u2", chunks=(1, 4, 5, 6), fillvalue=7)
        d[1] = voxels("zyx", t=1)
        d.attrs["axistags"] = tags("tzyx")
        for level, data in enumerate([voxels("tzyx"), voxels("tzyx")[:, ::2, ::2, ::2], voxels("zyx")[None, ::4]]):
            d = f.create_dataset(f"pyramid/s{level}", data=data)
            d.attrs["axistags"] = tags("tzyx")
        d = f.create_dataset("once", data=voxels("zyx")[None])
        d.attrs["axistags"] = tags("tzyx")
        d = f.create_dataset("many", (20000, 2, 2, 2), "u1", chunks=(1, 2, 2, 2))
        d.attrs["axistags"] = tags("tzyx")


def big_data_viewer():
    with h5py.File("bdv.h5", "w", libver="latest") as f:
        for setup in range(2):
            f[f"s{setup:02d}/resolutions"] = np.array([[1, 1, 1], [2, 2, 2]], "f8")
            f[f"s{setup:02d}/subdivisions"] = np.array([[4, 4, 4], [4, 4, 4]], "i4")
        for time in (0, 1, 3):
            for setup in range(2):
                if (time, setup) == (1, 1):
                    continue  # a view that is missing
                v = voxels("zyx", "i2", t=time, c=setup)
                for level, data in enumerate([v, v[::2, ::2, ::2]]):
                    f.create_dataset(f"t{time:05d}/s{setup:02d}/{level}/cells", data=data, chunks=(2, 3, 3),
                                     compression=4)


def letters(text):
    return np.array([c.encode() for c in str(text)], dtype="S1")


def imaris():
    with h5py.File("imaris.ims", "w", libver="latest") as f:
        image = f.create_group("DataSetInfo/Image")
        for axis, a in enumerate("xyz"):
            image.attrs[a.upper()] = letters(SIZES[a])
            image.attrs[f"ExtMin{axis}"], image.attrs[f"ExtMax{axis}"] = letters(0), letters(SIZES[a])
        for time in range(3):
            for channel in range(2):
                v = voxels("zyx", t=time, c=channel)
                for level, data in enumerate([v, v[::2, ::2, ::2]]):
                    g = f.create_group(f"DataSet/ResolutionLevel {level}/TimePoint {time}/Channel {channel}")
                    for i, a in enumerate("ZYX"):
                        g.attrs["ImageSize" + a] = letters(data.shape[i])
                    padded = np.pad(data, [(0, -n % 4) for n in data.shape])
                    g.create_dataset("Data", data=padded, chunks=(4, 4, 4), compression=2)


for write in arrays, big_data_viewer, imaris:
    write()
