"""ParaView's VTK. Debian: python3-paraview and paraview; run with pvpython."""

from paraview import servermanager  # noqa: F401  finds ParaView's modules
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXdmf3 import vtkXdmf3Reader

from client import path, report

reader = vtkXdmf3Reader()
reader.SetFileName(path())
reader.Update()
image = reader.GetOutputDataObject(0)
while not image.IsA("vtkImageData"):  # a collection of grids
    image = image.GetBlock(0)
values = vtk_to_numpy(image.GetPointData().GetArray("voxels"))
x, y, z = image.GetDimensions()
report(values.reshape(z, y, x, -1).transpose(2, 1, 0, 3), image.GetSpacing(), image.GetOrigin())
