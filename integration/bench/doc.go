// Command bench measures what it costs to read voxels through wkwfs, beside other ways
// to the same bytes: squashfs and EROFS, a file in memory behind FUSE, and decoding in
// one thread as a library does. `make bench` runs all of it.
//
// Every job runs in rounds, and in every round each contender has its turn, forwards
// and backwards by turns, so that what else the machine does hits all of them. Figures
// are medians; a ratio is the median of the ratios of the rounds.
//
// A file is read in one of three states of the page cache: cold (nothing is there),
// decoded-cold (the compressed file is, the voxels are not: every turn has a new mount),
// and warm (the voxels are).
//
// Sources that answer late are the same files through a file system that sleeps: package latefs.
//
// It takes servers and kernel mounts down again however it ends, but SIGKILL.
package main
