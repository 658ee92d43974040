// Command bench measures the cost of reading voxels through wkwfs, and of importing them. It compares wkwfs with other
// ways to the same bytes: squashfs and EROFS, libraries of Python, and decoding in one thread, as a library does. `make
// bench` runs all jobs, which are in the table of jobs.go.
//
// A job runs in rounds. In each round each contender has one turn. Every second round has the reverse order, so that
// other work of the machine affects all contenders. A figure is the median of its rounds. A ratio is the median of the
// ratios of the rounds.
//
// Cold means that the page cache has nothing. Otherwise it has the compressed files, but not the voxels: each turn has
// a new mount. Where whole files are read, their bytes are compared before the rounds. In other jobs, all contenders
// must read the same bytes.
//
//   - 4 KiB random preads: pages of the flat file by one reader. No two pages have a block in common. A page of E and R
//     has voxels of 32 blocks, a page of Q of 16
//   - 64³ patches: 40 boxes at random places. The figure is the median of their times. A file of box/ is opened, read
//     and closed, a plain file is read row by row, and numpy copies a box out of a memmap
//   - one xy plane, first touch: 8 planes, one pread each, each in a slab of which nothing was read before
//   - box/, slices/: 8 aligned boxes of 256³, and the 64 slices of two slabs in their order
//   - mounting and listing: the time until wkwfs mount returns, and until ls has listed the directories of all cubes
//   - reads late: the source is a FUSE loopback that bypasses the page cache (go run ./integration/cmd/latefs). It
//     delays the answer to each read
//   - merged, mapped: Q with an annotation of every 20th block over it, and with its ids mapped by a list of 10⁷. Both
//     have the voxels of Q
//   - S3: versitygw behind a proxy that answers 50 ms late. "Second time" is a mount with the disk cache of the mount
//     before
//   - imports: wkwfs import of the plain file, which is in the page cache. Outputs are on the disk of the data, and
//     removed
//   - memory beyond the cache: the most memory that a server had in any job above, minus its cache
//
// The command removes its servers and mounts whenever it ends, except by SIGKILL.
package main
