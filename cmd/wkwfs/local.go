package main

import (
	"slices"

	"golang.org/x/sys/unix"
)

// localTypes are the file systems that are on disks of this machine, or in its memory, as statfs(2) names them.
var localTypes = []uint32{
	unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.BCACHEFS_SUPER_MAGIC, xfsMagic, zfsMagic,
	unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1, unix.ISOFS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC,
}

// What x/sys/unix does not name.
const (
	xfsMagic = 0x58465342
	zfsMagic = 0x2fc12fc1
)

// isLocal reports whether a directory is on a disk of this machine. What it does not know may be on a server.
func isLocal(dir string) bool {
	var st unix.Statfs_t
	err := ignoringEINTR(func() error { return unix.Statfs(dir, &st) })
	return err == nil && slices.Contains(localTypes, uint32(st.Type))
}
