# Copies boxes out of a numpy.memmap of a flat file in Fortran order.
# Arguments: file, type, shape, then boxes as in the names of files in box/. Prints the
# median time of a box in seconds, and the CRC of all boxes.
import statistics, sys, time, zlib
import numpy

path, dtype, shape, *boxes = sys.argv[1:]
array = numpy.memmap(path, dtype, "r", shape=tuple(map(int, shape.split(","))), order="F")
seconds, crc = [], 0
for box in boxes:
    index = tuple(slice(*map(int, side.split("-"))) for side in box.split("_"))
    start = time.perf_counter()
    voxels = numpy.array(array[index])
    seconds.append(time.perf_counter() - start)
    crc = zlib.crc32(voxels.tobytes(order="F"), crc)
print(statistics.median(seconds), crc)
