"""NumPy: load and memory map. Debian: python3-numpy."""

import numpy

from client import channels_last, same, serve


def read(path):
    return channels_last(same(numpy.load(path, mmap_mode="r"), numpy.load(path))), None, None


serve(read)
