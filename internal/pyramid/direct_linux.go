package pyramid

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// directTypes are file systems that write past the page cache what they are asked to, by their magic numbers in statfs(2). Others copy
// it first, as btrfs does for its checksums, or have their files on another machine. Whether that is faster was only measured on ext4.
var directTypes = []uint32{unix.EXT4_SUPER_MAGIC, xfsMagic}

// xfsMagic is that of XFS, which x/sys/unix lacks.
const xfsMagic = 0x58465342

// writesDirectly reports whether files in a directory can be written past the page cache, and gain by that.
func writesDirectly(dir string) bool {
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	return err == nil && slices.Contains(directTypes, uint32(st.Type)) && os.Getpagesize() == pageBytes
}

// openDirect opens an existing file to write it past the page cache. It returns nil if that is not possible.
func openDirect(path string) directFile {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil
	}
	return f
}
