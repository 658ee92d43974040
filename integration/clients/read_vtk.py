"""VTK, as in ParaView, by the file's suffix. Debian: python3-vtk9.

VTK 9.1 fails on 64-bit integers in a MetaImage, and reads one plane only of a NRRD with
several channels.
"""

import sys

import vtk
from vtk.util.numpy_support import vtk_to_numpy

from client import path, report

# The unit that each reader's numbers are in.
READERS = {
    ".mhd": (vtk.vtkMetaImageReader, 1e6),
    ".nhdr": (vtk.vtkNrrdReader, 1),
    ".nrrd": (vtk.vtkNrrdReader, 1),
    ".nii": (vtk.vtkNIFTIImageReader, 1e6),
}

# Where VTK was built with MPI, its NRRD reader is another one, which needs MPI running.
vtk.vtkObjectFactory.SetAllEnableFlags(False, "vtkNrrdReader")
make, nm = READERS[path()[path().rindex(".") :]]
reader = make()
if not reader.CanReadFile(path()):
    sys.exit("VTK says that it cannot read " + path())
reader.SetFileName(path())
failed = []
reader.AddObserver("ErrorEvent", lambda *_: failed.append(reader.GetErrorCode()))
reader.Update()
if failed:
    sys.exit("VTK failed to read " + path())
image = reader.GetOutput()
values = vtk_to_numpy(image.GetPointData().GetArray(0))
x, y, z = image.GetDimensions()
array = values.reshape(z, y, x, -1).transpose(2, 1, 0, 3)
origin = image.GetOrigin()
if path().endswith(".nii"):  # whose place VTK keeps apart
    origin = [reader.GetSFormMatrix().GetElement(axis, 3) for axis in range(3)]
report(array, [s * nm for s in image.GetSpacing()], [o * nm for o in origin])
