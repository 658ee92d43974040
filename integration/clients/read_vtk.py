"""VTK of ParaView. The suffix of the file selects the reader. Debian: python3-paraview.

Debian's other VTK for Python, python3-vtk9, has no XDMF.
"""

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkMetaImageReader, vtkNIFTIImageReader, vtkNrrdReader
from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
from vtkmodules.vtkIOXdmf3 import vtkXdmf3Reader

from client import same, serve

# Reader and unit in nm.
READERS = {".mhd": (vtkMetaImageReader, 1), ".nhdr": (vtkNrrdReader, 1), ".nrrd": (vtkNrrdReader, 1), ".nii": (vtkNIFTIImageReader, 1e6)}


def read(path):
    suffix = path[path.rindex(".") :]
    if suffix == ".xmf":
        return read_xdmf(path)
    make, nm = READERS[suffix]
    reader = make()
    assert reader.CanReadFile(path), "VTK cannot read it"
    image = update(reader, path)
    origin = image.GetOrigin()
    if suffix == ".nii":  # VTK has the position of NIfTI only in the matrix
        origin = [reader.GetSFormMatrix().GetElement(axis, 3) for axis in range(3)]
    return values(image, 0), [s * nm for s in image.GetSpacing()], [o * nm for o in origin]


def read_xdmf(path):
    """Read with the old and the new reader."""
    readers = vtkXdmf3Reader(), vtkXdmfReader()
    new, old = (first_image(update(reader, path)) for reader in readers)
    assert new.GetSpacing() == old.GetSpacing() and new.GetOrigin() == old.GetOrigin(), "two readings differ"
    return same(values(new, "voxels"), values(old, "voxels")), new.GetSpacing(), new.GetOrigin()


def first_image(data):
    while not data.IsA("vtkImageData"):  # a collection of grids
        data = data.GetBlock(0)
    return data


def update(reader, path):
    failed = []
    reader.AddObserver("ErrorEvent", lambda *_: failed.append(reader.GetErrorCode()))
    reader.SetFileName(path)
    reader.Update()
    assert not failed, f"VTK failed, code {failed}"
    return reader.GetOutputDataObject(0)


def values(image, which):
    """Return a copy of the values: the reader may free its memory."""
    x, y, z = image.GetDimensions()
    return vtk_to_numpy(image.GetPointData().GetArray(which)).reshape(z, y, x, -1).transpose(2, 1, 0, 3).copy()


serve(read)
