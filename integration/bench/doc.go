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
// The command removes its servers and mounts whenever it ends, except by SIGKILL.
package main
