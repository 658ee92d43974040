//go:build linux

package fsnode

import (
	"errors"
	"strconv"
	"strings"
)

// ErrNotOurs is the error of unmounting what another program has mounted.
var ErrNotOurs = errors.New("mounted by another program, which has to unmount it")

// Descriptor returns the number of a descriptor of /dev/fuse for a mountpoint of the form /dev/fd/N. Another program
// has opened it, has made the mount, and has left the descriptor to this process. go-fuse and libfuse know the same
// form. Only the other program knows where the mount is.
func Descriptor(mountpoint string) (fd int, ok bool) {
	number, ok := strings.CutPrefix(mountpoint, "/dev/fd/")
	if !ok {
		return 0, false
	}
	fd, err := strconv.Atoi(number)
	return fd, err == nil && fd > 0
}
