package diskcache

import "golang.org/x/sys/unix"

// preadv fills the parts, one after the other, from a byte of a file. It returns fewer bytes at the end of the file.
func preadv(fd int, parts [][]byte, off int64) (int, error) { return unix.Preadv(fd, parts, off) }
