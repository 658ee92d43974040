#!/usr/bin/python3
"""Writes what numcodecs and Python's own libraries encode: for each sample its name, the bytes and their encoded form, each
after its length as a little-endian word of 32 bits."""

import bz2
import lzma
import struct
import sys

import numcodecs
import numpy as np

numcodecs.blosc.use_threads = False
random = np.random.RandomState(1)


def write(name, decoded, encoded):
    for b in (name.encode(), bytes(decoded), bytes(encoded)):
        sys.stdout.buffer.write(struct.pack("<I", len(b)) + b)


def contents(n):
    """Bytes that compress well, in part, and not at all."""
    smooth = (np.arange(n) // 37 + random.randint(0, 3, n)).astype("u1")
    mixed = smooth.copy()
    mixed[n // 2 :] = random.randint(0, 256, n - n // 2)
    return {"zeros": np.zeros(n, "u1"), "smooth": smooth, "mixed": mixed}


def blosc():
    for cname in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"):
        for shuffle in (0, 1, 2):
            for size in (1, 2, 3, 4, 7, 8, 12, 16, 17, 255):
                for blocksize in (0, 2048, 2048 + 8 * size, 1000):
                    codec = numcodecs.Blosc(cname=cname, clevel=5, shuffle=shuffle, blocksize=blocksize)
                    for n in lengths(size, blocksize):
                        for kind, b in contents(n * size).items():
                            name = f"blosc {cname} shuffle {shuffle} {n} values of {size} blocks of {blocksize} {kind}"
                            write(name, b, codec.encode(b.view(f"V{size}")))
    for clevel in (0, 1, 9):
        for kind, b in contents(1_000_000).items():
            for cname in ("blosclz", "lz4", "zstd"):
                encoded = numcodecs.Blosc(cname=cname, clevel=clevel, shuffle=2).encode(b.view("u4"))
                write(f"blosc {cname} clevel {clevel} {kind}", b, encoded)


def lengths(size, blocksize):
    """Numbers of values near the ends of blocks, and near the shortest length that is compressed."""
    block = (blocksize or 4096) // size
    return sorted({1, 127 // size + 1, 128 // size + 1, 129 // size + 1, block - 1, block, block + 1, 2 * block + 8} - {0, -1})


def others():
    for n in (1, 100, 65536, 300_000):
        for kind, b in contents(n).items():
            b = b.tobytes()
            for codec in (numcodecs.LZ4(), numcodecs.Zstd(3), numcodecs.Zstd(19), numcodecs.GZip(6), numcodecs.Zlib(6)):
                write(f"{codec.codec_id} {n} {kind}", b, codec.encode(b))
            write(f"crc32 {n} {kind}", b, numcodecs.CRC32().encode(np.frombuffer(b, "u1")))
            write(f"adler32 {n} {kind}", b, numcodecs.Adler32().encode(np.frombuffer(b, "u1")))
            write(f"bzip2 {n} {kind}", b, bz2.compress(b))
            for check in (lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256):
                delta = [{"id": lzma.FILTER_DELTA, "dist": 3}, {"id": lzma.FILTER_LZMA2, "preset": 6}]
                write(f"xz {n} {kind}", b, lzma.compress(b, check=check, filters=delta))
            write(f"xz {n} {kind}", b, lzma.compress(b, preset=9))
            write(f"lzma {n} {kind}", b, lzma.compress(b, format=lzma.FORMAT_ALONE))


blosc()
others()
