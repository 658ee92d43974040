//go:build !linux

package diskcache

import "golang.org/x/sys/unix"

// preadv fills the parts, one after the other, from a byte of a file. It returns fewer bytes at the end of the file.
func preadv(fd int, parts [][]byte, off int64) (int, error) {
	n := 0
	for _, part := range parts {
		m, err := unix.Pread(fd, part, off+int64(n))
		if err != nil {
			return 0, err
		}
		if n += m; m < len(part) {
			break
		}
	}
	return n, nil
}
