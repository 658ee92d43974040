# Reads voxels of a layer into memory, as users do. Arguments: the way, and its path:
#
#   zarr ARRAY      all by zarr-python, one chunk after the other
#   threads ARRAY   all by zarr-python, in two threads
#   numpy FILE      all by numpy.load
#   planes ARRAY    some planes across z by zarr-python, each of other chunks
#   memmap FILE     the same planes by numpy.memmap
#
# Prints the time and the CPU time, in seconds, and the CRC of the voxels.
import sys, time, zlib
from concurrent.futures import ThreadPoolExecutor
import numpy, zarr

PLANE_STEP = 128


def threads(path):
    array = zarr.open(path, mode="r")
    voxels = numpy.empty(array.shape, array.dtype)
    step = array.chunks[0]

    def slab(z):
        voxels[z : z + step] = array[z : z + step]

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(slab, range(0, len(voxels), step)))
    return voxels


def planes(array):
    return numpy.stack([array[z] for z in range(7, len(array), PLANE_STEP)])


ways = {"zarr": lambda path: zarr.open(path, mode="r")[...], "threads": threads, "numpy": lambda path: numpy.load(path).T,
        "planes": lambda path: planes(zarr.open(path, mode="r")), "memmap": lambda path: planes(numpy.load(path, mmap_mode="r").T)}
start, cpu = time.perf_counter(), time.process_time()
voxels = ways[sys.argv[1]](sys.argv[2])
print(time.perf_counter() - start, time.process_time() - cpu, zlib.crc32(numpy.ascontiguousarray(voxels)))
