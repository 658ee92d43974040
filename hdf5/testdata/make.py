#!/usr/bin/python3
"""Writes the small files of the tests with h5py, and hashes.json with what they have. Needs Debian's python3-h5py.

    /usr/bin/python3 make.py DIRECTORY
"""
import hashlib
import json
import os
import sys

import h5py
import numpy as np

os.chdir(sys.argv[1])
hashes = {}


def voxels(shape, dtype):
    index = np.indices(shape)
    v = sum((7 + 12 * i) * a for i, a in enumerate(index)) + (index[-1] * index[0]) % 5
    return (v % 251).astype(dtype)


def remember(f, path, d):
    hashes.setdefault(os.path.basename(f.filename), {})[path] = ""
    return d


def add(f, path, data, **options):
    return remember(f, path, f.create_dataset(path, data=data, **options))


def attributes(d):
    d.attrs["resolution"] = np.array([40.0, 4.0, 4.0])
    d.attrs["offset"] = np.array([[1, -2, 3]], dtype=">i2")
    d.attrs["unit"] = "nm"
    d.attrs["fixed"] = np.array([b"z", b"y", b"x"], dtype="S3")
    d.attrs["names"] = np.array(["zeta", "ypsilon", "x"], dtype=h5py.string_dtype())
    d.attrs["open"] = True
    d.attrs["half"] = np.float16(-0.25)
    d.attrs["big"] = np.uint64(2**63)


def earliest():
    with h5py.File("earliest.h5", "w", libver="earliest") as f:
        d = add(f, "volumes/raw", voxels((5, 6, 7), "u2"), chunks=(2, 3, 4), compression=4, shuffle=True)
        attributes(d)
        add(f, "plain", voxels((3, 4), ">i4"))
        f["soft"] = h5py.SoftLink("/volumes/raw")
        f["loop"] = h5py.SoftLink("/loop")
        f["outside"] = h5py.ExternalLink("other.h5", "/raw")
        f["volumes/up"] = f["/"]
        f["type"] = np.dtype("<f4")


def latest():
    with h5py.File("latest.h5", "w", libver="latest") as f:
        raw = voxels((5, 6, 7), "u2")
        add(f, "fixed", raw, chunks=(2, 3, 4), fletcher32=True)
        add(f, "extensible", raw, chunks=(1, 1, 4), maxshape=(None, 6, 7))
        add(f, "tree", raw, chunks=(2, 2, 2), maxshape=(None, None, 7), compression=1)
        add(f, "single", raw, chunks=(5, 6, 7), compression=9)
        attributes(f["fixed"])
        d = f.create_dataset("sparse", (4, 4), "i2", chunks=(2, 2), fillvalue=-7)
        d[2:, 2:] = 5
        remember(f, "sparse", d)
        many = f.create_group("many")
        for i in range(20):
            many.attrs[f"a{i}"] = i
            many[f"link{i}"] = h5py.SoftLink("/fixed")


def filters():
    with h5py.File("filters.h5", "w", libver="earliest") as f:
        add(f, "lzf", voxels((5, 6, 7), "u2"), chunks=(5, 6, 7), compression="lzf")
        add(f, "scaled", voxels((5, 6, 7), ">i4"), chunks=(2, 6, 7), scaleoffset=0, fillvalue=9)
        add(f, "rounded", voxels((5, 6, 7), "f4") / 8, chunks=(5, 6, 7), scaleoffset=2)
        t = h5py.h5t.STD_I16LE.copy()
        t.set_precision(9)
        t.set_offset(3)
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        p.set_chunk((4, 5))
        p.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL)
        d = h5py.Dataset(h5py.h5d.create(f.id, b"nbit", t, h5py.h5s.create_simple((4, 5)), p))
        d[...] = voxels((4, 5), "i2") - 100
        remember(f, "nbit", d)


for write in earliest, latest, filters:
    write()
for name, paths in hashes.items():
    with h5py.File(name, "r") as f:  # again, because filters round
        for path in paths:  # the values in C order, little-endian
            d = f[path]
            paths[path] = hashlib.sha256(d[()].astype(d.dtype.newbyteorder("<")).tobytes()).hexdigest()
with open("hashes.json", "w") as out:
    json.dump(hashes, out, indent=1, sort_keys=True)
