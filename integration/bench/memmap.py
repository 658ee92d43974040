# Copies boxes out of a numpy.memmap of a flat file in Fortran order.
# Arguments: file, type, sides, then boxes as in the names of files in box/. Prints the
# median of the seconds that a box took, and the CRC of all boxes.
import statistics, sys, time, zlib
import numpy

path, dtype, sides, *boxes = sys.argv[1:]
array = numpy.memmap(path, dtype, "r", shape=tuple(map(int, sides.split(","))), order="F")
seconds, crc = [], 0
for box in boxes:
    place = tuple(slice(*map(int, side.split("-"))) for side in box.split("_"))
    start = time.perf_counter()
    voxels = numpy.array(array[place])
    seconds.append(time.perf_counter() - start)
    crc = zlib.crc32(voxels.tobytes(order="F"), crc)
print(statistics.median(seconds), crc)
