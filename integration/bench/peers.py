# Writes voxels in other formats, and reads them as users of numpy do.
#
#   write NAME PATH FLAT TYPE SHAPE         writes a plain file in the format that NAME says
#   read KIND PATH TYPE SHAPE WORKERS       reads all voxels into memory that is resident
#   boxes KIND PATH TYPE SHAPE WORKERS BOX… reads boxes, named as the files in box/
#
# SHAPE is in x,y,z; all arrays here are in z, y, x. read prints the time of all, boxes the median time of a box, divided by the workers.
# Then both print the CPU time, all in seconds, and the CRC of the voxels. Several workers are processes, because h5py and numpy hold locks.
import io, json, mmap, os, statistics, struct, sys, time, zipfile, zlib
import numpy


def write(name, path, flat, dtype, shape):
    if name == "table.npy":  # a list that maps each id to itself
        with open(path, "wb") as file:
            return numpy.save(file, numpy.arange(10**7, dtype=dtype))
    voxels = numpy.memmap(flat, dtype, "r", shape=sizes(shape))
    if name == "dataset":
        write_dataset(path, os.path.join(os.path.dirname(flat), "../mag"), dtype, voxels.shape[::-1])
    elif name == "annotation.zip":
        write_annotation(path, voxels)
    elif name == "edits":  # the same, as wkwfs mount --edit has it
        write_annotation(path + ".zip", voxels)
        for packed, to in (path + ".zip", path), (path + "/data.zip", path + "/data"):
            with zipfile.ZipFile(packed) as file:
                file.extractall(to)
            os.remove(packed)
    elif name.endswith(".h5"):
        import h5py

        options = {"compression": "lzf"} if name == "lzf.h5" else {"compression": "gzip", "compression_opts": 4}
        with h5py.File(path, "w") as file:
            file.create_dataset("data", data=voxels, chunks=(64, 64, 64), **options)
    elif name.endswith(".tif"):
        import tifffile

        options = {"tile": (64, 64), "compression": "zlib"} if name == "tiled.tif" else {}
        tifffile.imwrite(path, voxels, photometric="minisblack", metadata={"axes": "ZYX"}, **options)
    elif name == "array.npy":
        with open(path, "wb") as file:
            numpy.save(file, voxels.T)
    elif name == "array.mrc":  # mode 0: signed bytes, the same ones
        nx, ny, nz = voxels.shape[::-1]
        head = struct.pack("<10i6f3i", nx, ny, nz, 0, 0, 0, 0, nx, ny, nz, 100 * nx, 100 * ny, 100 * nz, 90, 90, 90, 1, 2, 3)
        with open(path, "wb") as file:
            file.write(head.ljust(208, b"\0") + b"MAP \x44\x44\0\0".ljust(816, b"\0"))
            voxels.tofile(file)
    else:  # Zarr 2
        import numcodecs, zarr

        codec = numcodecs.Blosc("lz4", clevel=5, shuffle=numcodecs.Blosc.SHUFFLE)
        array = zarr.open(path, mode="w", shape=voxels.shape, chunks=(64, 64, 64), dtype=dtype, compressor=codec)
        for z in range(0, len(voxels), 64):
            array[z : z + 64] = voxels[z : z + 64]


# Writes a dataset of WEBKNOSSOS with one layer. Its cube is the same file as that of the mag.
def write_dataset(path, mag, dtype, shape):
    layer = {"name": "segmentation", "category": "segmentation", "elementClass": dtype, "dataFormat": "wkw", "largestSegmentId": 2**32 - 1}
    layer["boundingBox"] = dict(zip(("topLeft", "width", "height", "depth"), ([0, 0, 0], *shape)))
    layer["wkwResolutions"] = [{"resolution": [1, 1, 1], "cubeLength": shape[0]}]
    scale = {"factor": [11.24, 11.24, 25], "unit": "nanometer"}
    for name in "header.wkw", "z0/y0/x0.wkw":
        to = os.path.join(path, "segmentation/1", name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        os.link(os.path.join(mag, name), to)
    with open(os.path.join(path, "datasource-properties.json"), "w") as file:
        json.dump({"id": {"name": "dataset", "team": ""}, "scale": scale, "dataLayers": [layer]}, file)


# Writes the download of an annotation of that layer. It has every 20th block, each as a cube of its own, with the same voxels.
def write_annotation(path, voxels):
    import numcodecs

    width, data = voxels.dtype.itemsize, io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for i in range(19, voxels.size // 32**3, 20):
            z, y, x = numpy.unravel_index(i, [n // 32 for n in voxels.shape])
            block = voxels[32 * z : 32 * z + 32, 32 * y : 32 * y + 32, 32 * x : 32 * x + 32].tobytes()
            stored = numcodecs.LZ4().encode(block)[4:]  # after the length
            head = struct.pack("<3s5B2Q", b"WKW", 1, 0x05, 2, {1: 1, 2: 2, 4: 3, 8: 4}[width], width, 24, 24 + len(stored))
            file.writestr(f"1/z{z}/y{y}/x{x}.wkw", head + stored)
    with zipfile.ZipFile(path, "w") as file:
        scale = '<parameters><experiment name="dataset"/><scale x="11.24" y="11.24" z="25"/></parameters>'
        volume = '<volume id="0" name="segmentation" location="data.zip" fallbackLayer="segmentation"/>'
        file.writestr("annotation.nml", f"<things>{scale}{volume}</things>")
        file.writestr("data.zip", data.getvalue())


def sizes(shape):
    return tuple(map(int, shape.split(",")))[::-1]


def opened(kind, path, dtype, shape):
    if kind == "numpy":
        return numpy.memmap(path, dtype, "r", shape=sizes(shape))
    if kind == "h5py":
        import h5py

        return h5py.File(path, "r")["data"]
    import zarr

    if kind == "tifffile":
        import tifffile

        path = tifffile.imread(path, aszarr=True)
    return zarr.open(path, mode="r")


def read(kind, path, dtype, shape, workers, *boxes):
    whole = tuple(slice(0, n) for n in sizes(shape))
    step = getattr(opened(kind, path, dtype, shape), "chunks", (64,))[0]
    if boxes:
        index = [tuple(slice(*map(int, side.split("-"))) for side in box.split("_"))[::-1] for box in boxes]
    else:
        index = [(slice(z, min(z + step, whole[0].stop)),) + whole[1:] for z in range(0, whole[0].stop, step)]
    extents = [tuple(s.stop - s.start for s in i) for i in index]
    ends = numpy.cumsum([0] + [int(numpy.prod(e)) for e in extents])
    voxels = numpy.frombuffer(mmap.mmap(-1, int(ends[-1]) * numpy.dtype(dtype).itemsize), dtype)
    voxels.fill(1)  # touches all pages
    seconds = numpy.frombuffer(mmap.mmap(-1, 8 * len(index)), "f8")

    def part(first, step):
        array = opened(kind, path, dtype, shape)
        for i in range(first, len(index), step):
            start = time.perf_counter()
            voxels[ends[i] : ends[i + 1]].reshape(extents[i])[...] = array[index[i]]
            seconds[i] = time.perf_counter() - start

    start, cpu = time.perf_counter(), sum(os.times()[:4])
    share(part, int(workers))
    total = time.perf_counter() - start
    print(statistics.median(seconds) / int(workers) if boxes else total, sum(os.times()[:4]) - cpu, zlib.crc32(voxels))


def share(part, workers):
    if workers == 1:
        return part(0, 1)
    children = []
    for i in range(workers):
        children.append(os.fork())
        if children[-1] == 0:
            try:
                part(i, workers)
                os._exit(0)
            finally:
                os._exit(1)
    for child in children:
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("a worker failed")


{"write": write, "read": read, "boxes": read}[sys.argv[1]](*sys.argv[2:])
