"""Writes files with the libraries of users, and reads each with the library that wrote it, for TestClientSecondReaders.

    write_second.py DIRECTORY

prints a list of JSON objects: the name of each file without its suffix, and what its library reads: "shape" is x, y, z;
"sha256" is that of the values, little-endian, channel fastest, then x, y, z.

Debian: python3-numpy, python3-nibabel, python3-tifffile, python3-mrcfile.
"""

import hashlib
import json
import pathlib
import sys

import mrcfile
import nibabel
import numpy
import tifffile

directory = pathlib.Path(sys.argv[1])
random = numpy.random.default_rng(7)
cases = []


def voxels(dtype, *shape):
    """Return an array of any values, slowest axis first."""
    if dtype == "float32":
        return random.normal(size=shape).astype(dtype)
    lo, hi = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
    return random.integers(lo, hi, shape, dtype=dtype, endpoint=True)


def case(path, array):
    """Add a file. array has the axes z, y, x, or z, y, x, channel."""
    array = numpy.asarray(array)
    array = array.astype(array.dtype.newbyteorder("<"))
    if array.ndim == 3:
        array = array[..., numpy.newaxis]
    cases.append({
        "name": path.name.split(".")[0], "path": str(path), "dtype": array.dtype.name, "channels": array.shape[3], "shape": array.shape[2::-1],
        "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
    })


def write_tifffile():
    forms = {
        "tif_imagej": (voxels("uint16", 7, 30, 41), {"imagej": True, "resolution": (125.0, 125.0), "metadata": {"axes": "ZYX", "spacing": 0.03, "unit": "um"}}),
        "tif_ome": (voxels("float32", 7, 30, 41), {"ome": True, "metadata": {"axes": "ZYX", "PhysicalSizeX": 0.008, "PhysicalSizeY": 0.008, "PhysicalSizeZ": 0.03}}),
        "tif_tiles": (voxels("uint8", 7, 70, 41), {"bigtiff": True, "tile": (32, 16), "compression": "zlib", "predictor": True, "photometric": "minisblack"}),
        "tif_rgb": (voxels("uint8", 5, 30, 41, 3), {"photometric": "rgb"}),
        "tif_big_endian": (voxels("int16", 7, 30, 41), {"byteorder": ">", "photometric": "minisblack"}),
    }
    for name, (array, options) in forms.items():
        path = directory / f"{name}.tif"
        tifffile.imwrite(path, array, **options)
        case(path, tifffile.imread(path))


def write_nibabel():
    forms = {
        "nii_one.nii": (nibabel.Nifti1Image, "int16"), "nii_two.nii": (nibabel.Nifti2Image, "float32"),
        "nii_packed.nii.gz": (nibabel.Nifti1Image, "uint8"), "nii_pair.img": (nibabel.Nifti1Pair, "uint16"),
    }
    for name, (image, dtype) in forms.items():
        path = directory / name
        nibabel.save(image(voxels(dtype, 41, 30, 7), numpy.diag([0.008, 0.008, 0.03, 1])), path)
        case(path, numpy.asanyarray(nibabel.load(path).dataobj).transpose())


def write_mrcfile():
    for dtype in ("int8", "int16", "uint16", "float32"):
        path = directory / f"mrc_{dtype}.mrc"
        with mrcfile.new(path) as file:
            file.set_data(voxels(dtype, 7, 30, 41))
            file.voxel_size = (80, 80, 300)
        with mrcfile.open(path) as file:
            case(path, file.data)


def write_numpy():
    forms = {
        "npy_c": voxels("uint32", 7, 30, 41), "npy_f": numpy.asfortranarray(voxels("uint16", 41, 30, 7)),
        "npy_big_endian": voxels("int32", 7, 30, 41).astype(">i4"), "npy_channels": voxels("uint8", 7, 30, 41, 3),
    }
    for name, array in forms.items():
        path = directory / f"{name}.npy"
        numpy.save(path, array)
        array = numpy.load(path)
        case(path, array.transpose() if array.flags.f_contiguous else array)


for write in (write_tifffile, write_nibabel, write_mrcfile, write_numpy):
    write()
json.dump(cases, sys.stdout)
