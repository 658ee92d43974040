"""Files of all times: numpy, nibabel and tifffile. Prints the shapes and the voxels that each library reads."""

import hashlib
import json
import os
import sys

import nibabel
import numpy
import tifffile

directory = sys.argv[1]
file = lambda name: os.path.join(directory, name)
answer = {"numpy": list(numpy.load(file("volume.npy"), mmap_mode="r").shape)}
array = numpy.load(file("volume.npy"))
answer["sha256"] = hashlib.sha256(array.tobytes("F")).hexdigest()
if os.path.exists(file("volume.nii")):
    image = nibabel.load(file("volume.nii"))
    answer["nibabel"] = list(image.shape)
    answer["nibabel agrees"] = bool(numpy.array_equal(numpy.asanyarray(image.dataobj), array))
with tifffile.TiffFile(file("volume.tif")) as tif:
    series = tif.series[0]
    answer["imagej"], answer["axes"], answer["tifffile"] = tif.is_imagej, series.axes, list(series.shape)
    voxels = series.asarray()
    order = [series.axes.index(axis) for axis in "SXYZT" if axis in series.axes]
    answer["tifffile agrees"] = bool(numpy.array_equal(voxels.transpose(order).squeeze(), array.squeeze()))
print(json.dumps(answer))
