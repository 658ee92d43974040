# Copies the middle plane across an axis out of a flat file of uint8, in Fortran order.
# Arguments: file, axis, sides. Prints the seconds that it took and the CRC of the plane.
import sys, time, zlib
import numpy

path, axis, *shape = sys.argv[1:]
axis, shape = int(axis), [int(side) for side in shape]
plane = [slice(None)] * 3
plane[axis] = shape[axis] // 2
start = time.perf_counter()
voxels = numpy.array(numpy.memmap(path, "u1", "r", shape=tuple(shape), order="F")[tuple(plane)])
seconds = time.perf_counter() - start
print(seconds, zlib.crc32(voxels.tobytes()))
