"""NumPy, memory-mapped. Debian: python3-numpy."""

import numpy

from client import path, report

array = numpy.load(path(), mmap_mode="r")
array = array[..., numpy.newaxis] if array.ndim == 3 else array.transpose(1, 2, 3, 0)
report(array, None, None)
