"""Writes Zarr v2 and N5 arrays with zarr-python, and their voxels as flat files: write_zarr.py DIRECTORY.

DIRECTORY/NAME.zarr and NAME.n5 are arrays; NAME.raw has the voxels, x fastest, little-endian.
"""
import itertools
import sys

import numcodecs
import numpy
import zarr

out = sys.argv[1]
shape, chunks = (23, 17, 31), (8, 9, 16)
compressors = {
    'raw': None, 'zlib': numcodecs.Zlib(4), 'gzip': numcodecs.GZip(4), 'zstd': numcodecs.Zstd(5), 'lz4': numcodecs.LZ4(),
    'bz2': numcodecs.BZ2(3), 'lzma': numcodecs.LZMA(preset=1),
}
for cname, shuffle in itertools.product(('blosclz', 'lz4', 'lz4hc', 'zlib', 'zstd'), (0, 1, 2)):
    compressors['blosc_%s_%d' % (cname, shuffle)] = numcodecs.Blosc(cname, 5, shuffle)
types = ['|u1', '<u2', '<u4', '<u8', '|i1', '<i2', '<i4', '<i8', '<f4', '<f8', '>u2', '>u4', '>i8', '>f4', '>f8']
z, y, x = numpy.ogrid[:shape[0], :shape[1], :shape[2]]


def save(name, array, value):
    array[:] = value
    value = numpy.ascontiguousarray(value)
    value.astype(value.dtype.newbyteorder('<')).tofile('%s/%s.raw' % (out, name))


for i, (name, compressor) in enumerate(compressors.items()):
    for j in range(3):
        dtype = types[(3 * i + j) % len(types)]
        order, separator = 'CF'[(i + j) % 2], './'[j % 2]
        value = ((x + 37 * y + 1009 * z) % 251).astype(dtype)
        value[:8, :9, :16] = 5  # a chunk of the fill value, which is not written
        full = '%s_%s' % (name, dtype.strip('|').replace('<', 'le_').replace('>', 'be_'))
        array = zarr.open('%s/%s.zarr' % (out, full), mode='w', shape=shape, chunks=chunks, dtype=dtype, order=order, fill_value=5,
                          compressor=compressor, dimension_separator=separator, write_empty_chunks=False)
        save(full, array, value)
        if name in ('lz4',) or '>' in dtype:
            continue
        store = zarr.N5Store('%s/%s.n5' % (out, full))
        save(full, zarr.create(shape, store=store, chunks=chunks, dtype=dtype, fill_value=0, compressor=compressor, overwrite=True), value)
