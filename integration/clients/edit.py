"""Writes voxels into a file of a mount with the ways of numpy, nibabel, tifffile and ITK, for TestClientEdits.

    edit.py WAY FILE VOXELS SHAPE AT LENGTHS

VOXELS has flat uint32, little-endian. SHAPE is that of FILE; AT and LENGTHS are where the voxels are put in it. All are
x,y,z. Debian: python3-numpy, python3-nibabel, python3-tifffile, plastimatch (for ITK).
"""

import pathlib
import subprocess
import sys
import tempfile

import nibabel
import numpy
import tifffile

way, path, voxels = sys.argv[1:4]
shape, at, lengths = (tuple(map(int, s.split(",")))[::-1] for s in sys.argv[4:7])  # z, y, x
place = tuple(slice(a, a + n) for a, n in zip(at, lengths))
fresh = numpy.fromfile(voxels, "<u4").reshape(lengths)


def put(array):
    """Change a mapped array, and write it back."""
    array[place] = fresh
    array.flush()


def memmap():
    put(numpy.memmap(path, "<u4", "r+", shape=shape))


def memmap_without_flush():
    numpy.memmap(path, "<u4", "r+", shape=shape)[place] = fresh


def open_memmap():
    put(numpy.load(path, mmap_mode="r+").T)  # x, y, z in Fortran order


def tofile():
    """Write the whole file anew."""
    array = numpy.fromfile(path, "<u4").reshape(shape)
    array[place] = fresh
    array.tofile(path)


def tofile_rows():
    with open(path, "r+b", buffering=0) as f:
        for z in range(lengths[0]):
            for y in range(lengths[1]):
                f.seek(4 * (((at[0] + z) * shape[1] + at[1] + y) * shape[2] + at[2]))
                fresh[z, y].tofile(f)


def changed():
    """Return x, y, z in Fortran order."""
    array = numpy.load(path)
    array.T[place] = fresh
    return array


def save():
    numpy.save(path, changed())


def save_in_c_order():
    numpy.save(path, numpy.ascontiguousarray(changed()))


def save_floats():
    numpy.save(path, changed().astype("<f4"))


def save_and_rename():
    temporary = pathlib.Path(path).parent / ".temporary.npy"
    numpy.save(temporary, changed())
    temporary.rename(path)


def outside(command, write):
    """Write a file on another disk, and have a command put it in place."""
    with tempfile.TemporaryDirectory() as folder:
        write(pathlib.Path(folder) / pathlib.Path(path).name)
        subprocess.run([*command, f"{folder}/{pathlib.Path(path).name}", path], check=True)


def save_and_rsync():
    outside(["rsync", "--archive", "--ignore-times"], lambda name: numpy.save(name, changed()))


def save_and_move():
    outside(["mv"], lambda name: numpy.save(name, changed()))


def rsync_inplace():
    array = numpy.fromfile(path, "<u4").reshape(shape)
    array[place] = fresh
    outside(["rsync", "--inplace", "--ignore-times"], array.tofile)


def nibabel_memmap():
    """nibabel says where the voxels are, and maps them only for reading."""
    data = nibabel.load(path).dataobj
    assert data.shape[::-1] == shape and (data.slope, data.inter) == (1, 0)
    put(numpy.memmap(path, data.dtype, "r+", data.offset, shape))


def nibabel_save():
    image = nibabel.load(path, mmap=False)
    array = numpy.asanyarray(image.dataobj).copy()
    array.transpose(2, 1, 0)[place] = fresh
    nibabel.save(nibabel.Nifti1Image(array, image.affine, image.header), path)


def tifffile_memmap():
    put(tifffile.memmap(path, mode="r+"))


def tifffile_imwrite(**options):
    array = tifffile.imread(path)
    array[place] = fresh
    tifffile.imwrite(path, array, **options)


def tifffile_compressed():
    tifffile_imwrite(compression="zlib")


def itk():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        array = numpy.fromfile(pathlib.Path(path).with_suffix(".raw"), "<u4").reshape(shape)
        array[place] = fresh
        array.tofile(folder / "itk.raw")
        (folder / "itk.mhd").write_text(
            "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
            f"DimSize = {shape[2]} {shape[1]} {shape[0]}\nElementType = MET_UINT\nElementDataFile = itk.raw\n"
        )
        read, write = ["--input", folder / "itk.mhd"], ["--output-type", "uint", "--output-img", path]
        subprocess.run(["plastimatch", "convert", *read, *write], check=True)


globals()[way]()
