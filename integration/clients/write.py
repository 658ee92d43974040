"""Writes arrays with the programs and libraries that users have, for TestClientImports.

    write.py DIRECTORY

prints a list of JSON objects: the path of each file, the arguments that its import needs,
and what wkwfs has to find in it. "voxels" is the path of the values, little-endian, channel
fastest, then x, y, z. Spacing is in nm, or null if the file has none, as is the position.

Debian: python3-numpy, python3-nibabel, python3-tifffile, python3-gdal, teem-apps,
plastimatch (for ITK), libtiff-tools, imagej.
"""

import json
import pathlib
import struct
import subprocess
import sys

import nibabel
import numpy
import tifffile
from osgeo import gdal

SIZE = (19, 13, 7)  # x, y, z
NM = (8.0, 8.0, 30.0)
AT = (16, 24, 5)
directory = pathlib.Path(sys.argv[1])
cases = []


def ramp(dtype, channels=1, size=SIZE):
    """Return an array with axes x, y, z, channel. Values encode their position."""
    x, y, z, c = numpy.meshgrid(*(numpy.arange(n) for n in (*size, channels)), indexing="ij")
    value = 1 + x + 20 * y + 300 * z + 3000 * c
    if dtype == "uint8":
        value = value * 37 % 251
    return value.astype(dtype)


def case(name, array, path, *args, spacing=NM, at=AT, dtype=None):
    """Tell of a file. array has axes x, y, z, channel."""
    voxels = directory / f"{len(cases)}.voxels"
    array = array.astype(dtype or array.dtype)
    voxels.write_bytes(array.transpose(2, 1, 0, 3).astype(array.dtype.newbyteorder("<")).tobytes())
    cases.append(
        {
            "name": name, "path": str(directory / path), "args": list(args), "voxels": str(voxels), "dtype": array.dtype.name,
            "shape": array.shape[:3], "channels": array.shape[3], "spacing": spacing, "at": at,
        }
    )  # fmt: skip


def run(*command):
    subprocess.run([str(c) for c in command], check=True, capture_output=True, cwd=directory)


def write_numpy():
    # numpy.save writes a view whose first axis is the fastest in Fortran order.
    nowhere = {"spacing": None, "at": None}
    for dtype in ("uint8", "int16", "uint32", "float32", "float64", ">u2", ">f8"):
        array = ramp(dtype)
        for order in "CF":
            name = f"numpy-{dtype.replace('>', 'big-')}-{order}.npy"
            stored = array[..., 0] if order == "F" else array[..., 0].transpose(2, 1, 0)
            numpy.save(directory / name, stored.copy(order=order))
            case(name, array, name, dtype=numpy.dtype(dtype).newbyteorder("="), **nowhere)
    array = ramp("uint8", 3)
    numpy.save(directory / "channels.npy", numpy.ascontiguousarray(array.transpose(2, 1, 0, 3)))
    case("numpy, channels", array, "channels.npy", **nowhere)
    array = ramp("uint8", size=(19, 13, 1))
    numpy.save(directory / "plane.npy", numpy.ascontiguousarray(array[:, :, 0, 0].T))
    case("numpy, a plane", array, "plane.npy", **nowhere)
    array = ramp("uint8") > 100
    numpy.save(directory / "bool.npy", numpy.ascontiguousarray(array[..., 0].transpose(2, 1, 0)))
    case("numpy, bool", array, "bool.npy", dtype="uint8", **nowhere)
    array = ramp("float16")
    numpy.save(directory / "half.npy", numpy.ascontiguousarray(array[..., 0].transpose(2, 1, 0)))
    case("numpy, float16", array, "half.npy", dtype="float32", **nowhere)


def write_nibabel():
    affine = numpy.diag((*NM, 1e3)) / 1e3
    affine[:3, 3] = numpy.array(AT) * NM / 1e3
    for kind, suffixes in ((nibabel.Nifti1Image, (".nii", ".nii.gz")), (nibabel.Nifti2Image, (".nii", ".nii.gz")), (nibabel.Nifti1Pair, (".hdr",)), (nibabel.Nifti2Pair, (".img",))):
        for dtype in ("uint8", "int16", "float32"):
            for suffix in suffixes:
                array = ramp(dtype)
                image = kind(array[..., 0], affine)
                image.header.set_xyzt_units("micron")
                name = f"{kind.__name__}-{dtype}{suffix}"
                image.to_filename(directory / name)
                case(f"nibabel, {name}", array, name)
    array = ramp("uint8", 3)
    colours = numpy.ascontiguousarray(array).view([("R", "u1"), ("G", "u1"), ("B", "u1")])[..., 0]
    image = nibabel.Nifti1Image(colours, affine * 1e-3)  # without a unit, in mm
    image.header.set_xyzt_units("unknown")
    image.to_filename(directory / "rgb.nii.gz")
    case("nibabel, RGB without a unit", array, "rgb.nii.gz")


def write_unu():
    array = ramp("uint16")
    (directory / "unu.raw").write_bytes(array.transpose(2, 1, 0, 3).tobytes())
    sizes = [str(n) for n in SIZE]
    run("teem-unu", "make", "-i", "unu.raw", "-t", "ushort", "-s", *sizes, "-en", "little", "-e", "raw", "-spc", "3", "-orig", "({},{},{})".format(*(a * n for a, n in zip(AT, NM))),
        "-dirs", "({},0,0) (0,{},0) (0,0,{})".format(*NM), "-spu", "nm", "nm", "nm", "-o", "made.nrrd")  # fmt: skip
    case("unu make", array, "made.nrrd")
    for encoding in ("raw", "gzip", "bzip2"):
        for format, suffix in (("nrrd", "nrrd"), ("nrrd", "nhdr")):
            name = f"unu-{encoding}.{suffix}"
            run("teem-unu", "save", "-f", format, "-e", encoding, "-i", "made.nrrd", "-o", name)
            case(name, array, name)
    run("teem-unu", "save", "-f", "nrrd", "-e", "gzip", "-en", "big", "-i", "made.nrrd", "-o", "unu-big.nrrd")
    case("unu, big-endian", array, "unu-big.nrrd")


def write_itk():
    for dtype, kind in (("uint8", "uchar"), ("int16", "short"), ("float32", "float")):
        array = ramp(dtype)
        types = {"uint8": "MET_UCHAR", "int16": "MET_SHORT", "float32": "MET_FLOAT"}
        (directory / "itk.raw").write_bytes(array.transpose(2, 1, 0, 3).tobytes())
        mm, at = [n / 1e6 for n in NM], [a * n / 1e6 for a, n in zip(AT, NM)]
        (directory / "itk.mhd").write_text(
            "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
            "Offset = {:.17g} {:.17g} {:.17g}\nElementSpacing = {:.17g} {:.17g} {:.17g}\nDimSize = {} {} {}\n"
            "ElementType = {}\nElementDataFile = itk.raw\n".format(*at, *mm, *SIZE, types[dtype])
        )
        for suffix in ("mha", "mhd", "nrrd", "nii", "nii.gz"):
            name = f"itk-{dtype}.{suffix}"
            run("plastimatch", "convert", "--input", "itk.mhd", "--output-type", kind, "--output-img", name)
            # In NIfTI, x and y have the opposite direction: wkwfs asks for the position. ITK's NRRD has no unit.
            args = ["--offset", ",".join(map(str, AT))] if "nii" in suffix else []
            case(f"ITK, {name}", array, name, *args, spacing=None if suffix == "nrrd" else NM)


def write_tifffile():
    nowhere = {"spacing": None, "at": None}
    for dtype in ("uint8", "uint16", "float32", "int32", "uint64"):
        for options in ({}, {"bigtiff": True}, {"byteorder": ">"}, {"compression": "zlib"}, {"tile": (16, 16)}, {"compression": "zlib", "predictor": True, "rowsperstrip": 4}):
            if options.get("predictor") and dtype != "uint16":
                continue
            array = ramp(dtype)
            name = f"tifffile-{len(cases)}.tif"
            try:
                tifffile.imwrite(directory / name, array[..., 0].transpose(2, 1, 0), photometric="minisblack", metadata=None, **options)
            except (ImportError, ValueError) as error:
                if "imagecodecs" not in str(error):
                    raise
                continue  # tifffile writes some compressions with a library that Debian lacks
            case(f"tifffile, {dtype}, {options}", array, name, **nowhere)
    array = ramp("uint8", 3)
    tifffile.imwrite(directory / "rgb.tif", array.transpose(2, 1, 0, 3), photometric="rgb", metadata=None)
    case("tifffile, RGB", array, "rgb.tif", **nowhere)
    um = [1e3 / n for n in NM]
    for channels in (1, 2):
        array = ramp("uint16", channels)
        tifffile.imwrite(
            directory / f"ij{channels}.tif", array.transpose(2, 3, 1, 0), imagej=True, resolution=(um[0], um[1]),
            metadata={"spacing": NM[2] / 1e3, "unit": "um", "axes": "ZCYX"},
        )  # fmt: skip
        case(f"tifffile, ImageJ, {channels} channels", array, f"ij{channels}.tif", at=None)
        tifffile.imwrite(
            directory / f"ome{channels}.ome.tif", array.transpose(3, 2, 1, 0), ome=True, photometric="minisblack",
            metadata={"axes": "CZYX", "PhysicalSizeX": NM[0] / 1e3, "PhysicalSizeY": NM[1], "PhysicalSizeYUnit": "nm", "PhysicalSizeZ": NM[2] / 1e3},
        )  # fmt: skip
        case(f"tifffile, OME, {channels} channels", array, f"ome{channels}.ome.tif", at=None)


def write_tifffile_shaped():
    """Files with the description that tifffile writes unless it is told not to."""
    nowhere = {"spacing": None, "at": None}
    array = ramp("uint16")
    for options in ({}, {"truncate": True}):
        name = f"shaped-{len(cases)}.tif"
        tifffile.imwrite(directory / name, numpy.ascontiguousarray(array[..., 0].transpose(2, 1, 0)), photometric="minisblack", **options)
        case(f"tifffile, its own description, {options}", array, name, **nowhere)
    array = ramp("uint8") > 100
    tifffile.imwrite(directory / "bits.tif", numpy.ascontiguousarray(array[..., 0].transpose(2, 1, 0)))
    case("tifffile, bool", array, "bits.tif", dtype="uint8", **nowhere)
    array = ramp("uint16", 2)
    for axes, order in (("CZYX", (3, 2, 1, 0)), ("ZCYX", (2, 3, 1, 0))):
        tifffile.imwrite(directory / f"{axes}.tif", numpy.ascontiguousarray(array.transpose(order)), photometric="minisblack", metadata={"axes": axes})
        case(f"tifffile, {axes}", array, f"{axes}.tif", **nowhere)


def write_libtiff():
    array = ramp("uint16")
    tifffile.imwrite(directory / "plain.tif", array[..., 0].transpose(2, 1, 0), photometric="minisblack", metadata=None)
    for compression in ("none", "lzw", "lzw:2", "zip", "zip:2", "packbits", "zstd", "zstd:2"):
        for layout in ((), ("-t", "-w", "16", "-l", "16"), ("-r", "3"), ("-8",), ("-B",)):
            name = f"libtiff-{len(cases)}.tif"
            run("tiffcp", "-c", compression, *layout, "plain.tif", name)
            case(f"tiffcp -c {compression} {' '.join(layout)}", array, name, spacing=None, at=None)


def write_gdal():
    gdal.UseExceptions()
    memory, nowhere = gdal.GetDriverByName("MEM"), {"spacing": None, "at": None}

    def planes(name, driver, suffix, array, *options, palette=False):
        folder = directory / name
        folder.mkdir()
        for z in range(array.shape[2]):
            kind = gdal.GDT_Byte if array.dtype == "uint8" else gdal.GDT_UInt16 if array.dtype == "uint16" else gdal.GDT_Float32
            source = memory.Create("", array.shape[0], array.shape[1], array.shape[3], kind)
            for c in range(array.shape[3]):
                source.GetRasterBand(c + 1).WriteArray(array[:, :, z, c].T)
            if palette:
                table = gdal.ColorTable()
                for i in range(256):
                    table.SetColorEntry(i, (i, 255 - i, 7, 255))
                source.GetRasterBand(1).SetRasterColorTable(table)
            gdal.GetDriverByName(driver).CreateCopy(str(folder / f"z{z}{suffix}"), source, options=list(options))
        for extra in folder.glob("*.xml"):
            extra.unlink()
        case(f"GDAL, {name}", array, name, **nowhere)

    for dtype, channels in (("uint8", 1), ("uint16", 1), ("uint8", 3), ("uint16", 3), ("uint8", 4)):
        planes(f"png-{dtype}-{channels}", "PNG", ".png", ramp(dtype, channels))
    mask = (ramp("uint8") > 100).astype("uint8")
    for bits, array in ((1, mask), (2, ramp("uint8") % 4), (4, ramp("uint8") % 16)):
        planes(f"png-{bits}-bit", "PNG", ".png", array, f"NBITS={bits}")
    for options in ((), ("COMPRESS=LZW",), ("COMPRESS=DEFLATE", "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16")):
        planes(f"tif-1-bit-{len(cases)}", "GTiff", ".tif", mask, "NBITS=1", *options)
    planes("png-palette", "PNG", ".png", ramp("uint8"), palette=True)
    planes("tif-palette", "GTiff", ".tif", ramp("uint8"), palette=True)
    planes("tif-zstd", "GTiff", ".tif", ramp("uint16", 3), "COMPRESS=ZSTD", "PREDICTOR=2", "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", "INTERLEAVE=PIXEL", "PHOTOMETRIC=RGB")
    planes("tif-float", "GTiff", ".tif", ramp("float32"), "COMPRESS=DEFLATE", "PREDICTOR=3")
    planes("tif-big", "GTiff", ".tif", ramp("uint16"), "BIGTIFF=YES", "ENDIANNESS=BIG", "COMPRESS=LZW", "PREDICTOR=2")


def write_mrc():
    """IMOD's layout, by hand."""
    for mode, dtype in ((0, "uint8"), (1, "int16"), (2, "float32"), (6, "uint16"), (12, "float16")):
        for order in "<>":
            array = ramp(dtype)
            cell = [size * nm * 10 for size, nm in zip(SIZE, NM)]
            header = struct.pack(order + "10i6f3i3fii", *SIZE, mode, *AT, *SIZE, *cell, 90, 90, 90, 1, 2, 3, 0, 0, 0, 0, 128)
            header = header.ljust(152, b"\0") + struct.pack(order + "ii", 1146047817, 0)
            header = header.ljust(208, b"\0") + b"MAP " + (b"DA\0\0" if order == "<" else b"\x11\x11\0\0")
            name = f"mrc-{mode}-{'little' if order == '<' else 'big'}.rec"
            stored = array.transpose(2, 1, 0, 3).astype(array.dtype.newbyteorder(order)).tobytes()
            (directory / name).write_bytes(header.ljust(1024 + 128, b"\0") + stored)
            case(f"IMOD, {name}", array, name, dtype="float32" if mode == 12 else None)


def write_imagej():
    array = ramp("uint16")
    (directory / "ij.raw").write_bytes(array.transpose(2, 1, 0, 3).tobytes())
    script = pathlib.Path(__file__).with_name("WriteImageJ.java").resolve()
    run("java", "-Djava.awt.headless=true", "-cp", "/usr/share/java/ij.jar", script, directory, *SIZE, *NM, *AT)
    case("ImageJ, stack", array, "imagej.tif")
    case("ImageJ, sequence", array, "imagej", at=None, spacing=None)


for write in (write_numpy, write_nibabel, write_unu, write_itk, write_tifffile, write_tifffile_shaped, write_libtiff, write_gdal, write_mrc, write_imagej):
    write()
json.dump(cases, sys.stdout)
