// Command bench measures the cost of reading voxels through wkwfs, and of importing them. It compares wkwfs with
// other ways to the same bytes: squashfs and EROFS, a FUSE server that has the file in memory, and decoding in one
// thread, as a library does. `make bench` runs all jobs.
//
// A job runs in rounds. In each round each contender has one turn. Every second round has the reverse order, so
// that other work of the machine affects all contenders. A figure is the median of its rounds. A ratio is the
// median of the ratios of the rounds.
//
// A file is read in one of three states of the page cache: cold (nothing is cached), decoded-cold (the
// compressed file is cached, the voxels are not; each turn has a new mount), or warm (the voxels are cached).
//
// Imports run as commands of their own, beside programs that write the same bytes in other forms. Their inputs are in the
// page cache.
//
// Sources that answer late are the same files on a file system that delays its answers: see package latefs.
//
// Jobs read or write:
//
//   - dd of E, R, C, S: the flat file of the cube, dd bs=1M
//   - NFS of E: the same cube from wkwfs nfs: by a client with 8 READs of 1 MiB in flight, and by nfs-cat of libnfs
//     with one. Compared with dd of a mount
//   - 4 KiB random preads: pages of the flat file by one reader. No two pages have a block in common. A page of E and
//     R has voxels of 32 blocks, a page of Q of 16. The third figure is the CPU time of the server only
//   - … by 64 readers: the same pages, compared with one reader
//   - 64³ patches by box/: 40 files box/X0-X1_Y0-Y1_Z0-Z1.raw at random places, each opened, read and closed. The
//     figure is the median of their times. A plain file is read row by row
//   - all of R, Q by zarr-python: the whole layer into memory: zarr.open("ome.zarr/1")[...], the same in two threads,
//     and numpy.load("volume.npy")
//   - xy planes of R, Q by zarr-python: planes 7, 135, 263 …, no two of them in one chunk: zarr.open("ome.zarr/1")[z],
//     and the same of a numpy.memmap of volume.npy
//   - 64³ patches by numpy.memmap: the same boxes, each copied out of a numpy.memmap of the flat file
//   - one xy plane, first touch: 8 planes, one pread each, each in a slab of which nothing was read before: 1024
//     blocks. Compared with the decoder on two threads
//   - xz and yz plane: the middle plane, copied out of a numpy.memmap. The start of Python is not counted
//   - box/, slices/: 8 aligned boxes of 256³, and the 64 slices of two slabs in their order. Compared with decoding
//     only those blocks, and with dd of E in the same round
//   - dd of L, cache 64 MiB: volume.raw, with less cache than the 128 MiB of a slab. How often each block is read: the
//     bytes that the server read (/proc/PID/io), divided by the stored bytes
//   - dd of a growing layer: volume.raw of 1, 16 and 64 cubes
//   - mounting, listing: the time until wkwfs mount returns. ls of the directories of all cubes. ls -R of a hundredth
//     of them, which goes down to the blocks
//   - … reads N ms late, metadata 1 ms late: the source is a FUSE loopback that bypasses the page cache (go run
//     ./integration/cmd/latefs). It delays the answer to each read, or to each other request, by N ms. If the bound is
//     in delays, the ratio to not late is too: the extra time, divided by the delay. 64³ box and random preads are 40
//     of those above
//   - first bytes: the time to open a file and read its first byte: volume.raw right after mounting, then volume.npy,
//     then 40 slices, one after the other (the median)
//   - ls -l of 2,000 cubes: of the 200 directories of the cubes
//   - wkwfs check, info, cp: the commands, of the mag: cp SOURCE . DEST copies the cubes
//   - check in 1,000 parts, simulated: wkwfs check --part 1000/1000 of names, which is nearly all listing, and wkwfs
//     check of E, each on one processor. From these times: the slowest of 1,000 parts of 100,000 cubes like E, of half
//     to three halves of its bytes, compared with a thousandth of the work
//   - requests for E, R, Q: what a mount asks its source for, in one round: dd, and 400 patches of 64³ with 32 MiB of
//     cache. A file server is latefs, 1 ms late, S3 is versitygw, 50 ms late. "Second time" is a mount with the disk
//     cache of the mount before. docs/clusters.md has the figures
//   - import of R, Q: the time of wkwfs import of the plain file, with voxels of 11.24 × 11.24 × 25 nm. Before a turn
//     the input is in the page cache. After it, the benchmark removes the output. All outputs are on the disk of the
//     data. One import before the rounds is compared with the cube, voxel for voxel
//   - … LZ4, beside mksquashfs: mksquashfs -comp lz4 -noappend -no-progress, with its own size of blocks. It does not
//     sync what it writes, an import does
//   - … raw, beside cp: cp --reflink=never; then sync of the copy as well, because an import syncs its files
//   - … three coarser mags: --mags 3, beside the same import without: mags 2-2-1, 4-4-2 and 8-8-4
//   - … R.nii.gz: made by gzip -1. gunzip writes to /dev/null
//   - memory of an import: of wide, which is not in the page cache: the most memory of the process (VmHWM), minus
//     --memory
//   - memory beyond the cache: the most memory that a server had in any job above, minus its cache
//
// The command removes its servers and mounts whenever it ends, except by SIGKILL.
package main
