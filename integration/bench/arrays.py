# Writes and reads arrays of Zarr 2 with zarr-python. Arguments:
#
#   write DIRECTORY FLAT TYPE SHAPE SIDE   store a flat file as chunks of this side
#   read DIRECTORY                         read all voxels in two threads
#   patches DIRECTORY BOX...               read boxes, named as the files in box/
#
# read prints its time, patches the median time of a box. Then both print the CPU time,
# all in seconds, and the CRC of the voxels.
import statistics, sys, time, zlib
from concurrent.futures import ThreadPoolExecutor
import numcodecs, numpy, zarr


def write(path, flat, dtype, shape, side):
    voxels = numpy.memmap(flat, dtype, "r", shape=tuple(map(int, shape.split(",")))[::-1])
    codec = numcodecs.Blosc("lz4", clevel=5, shuffle=numcodecs.Blosc.SHUFFLE)
    side = int(side)
    array = zarr.open(path, mode="w", shape=voxels.shape, chunks=(side,) * 3, dtype=voxels.dtype, compressor=codec)
    for z in range(0, len(voxels), side):
        array[z : z + side] = voxels[z : z + side]


def read(path):
    array = zarr.open(path, mode="r")
    voxels = numpy.full(array.shape, 1, array.dtype)  # touches all pages
    step = array.chunks[0]

    def slab(z):
        voxels[z : z + step] = array[z : z + step]

    start, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(slab, range(0, len(voxels), step)))
    print(time.perf_counter() - start, time.process_time() - cpu, zlib.crc32(voxels))


def patches(path, *boxes):
    numcodecs.blosc.set_nthreads(2)
    array = zarr.open(path, mode="r")
    seconds, crc, before = [], 0, time.process_time()
    for box in boxes:
        x, y, z = (slice(*map(int, side.split("-"))) for side in box.split("_"))
        start = time.perf_counter()
        voxels = array[z, y, x]
        seconds.append(time.perf_counter() - start)
        crc = zlib.crc32(voxels, crc)
    print(statistics.median(seconds), time.process_time() - before, crc)


{"write": write, "read": read, "patches": patches}[sys.argv[1]](*sys.argv[2:])
