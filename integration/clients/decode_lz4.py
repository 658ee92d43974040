"""Decode the blocks of a cube file with liblz4 and write them to standard output, in the order of the file.

    decode_lz4.py CUBE

Each block must decode to exactly its length. This program shares no code with wkwfs.
"""

import struct
import sys

import lz4.block

with open(sys.argv[1], "rb") as f:
    cube = f.read()
sides, voxel_bytes, end = cube[4], cube[7], struct.unpack_from("<Q", cube, 8)[0]
count = 1 << 3 * (sides >> 4)
block_bytes = voxel_bytes << 3 * (sides & 15)
for next_end in struct.unpack_from(f"<{count}Q", cube, 16):
    block = lz4.block.decompress(cube[end:next_end], uncompressed_size=block_bytes)
    if len(block) != block_bytes:
        sys.exit(f"a block of {len(block)} bytes, expected {block_bytes}")
    sys.stdout.buffer.write(block)
    end = next_end
if end != len(cube):
    sys.exit(f"{len(cube) - end} bytes after the last block")
