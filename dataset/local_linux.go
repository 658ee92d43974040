package dataset

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// localTypes are file systems on disks of this machine or in its memory, by their magic
// numbers in statfs(2).
var localTypes = []uint32{
	unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.BCACHEFS_SUPER_MAGIC, xfsMagic, zfsMagic,
	unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1, unix.ISOFS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC,
	unix.MSDOS_SUPER_MAGIC,
}

// Magic numbers that x/sys/unix lacks.
const (
	xfsMagic = 0x58465342
	zfsMagic = 0x2fc12fc1
)

// diskTypes are the names of localTypes in the table of mounts, without overlay: what lies
// below an overlay may be on a server.
var diskTypes = []string{
	"ext2", "ext3", "ext4", "btrfs", "f2fs", "bcachefs", "xfs", "zfs", "tmpfs", "ramfs", "squashfs", "erofs", "iso9660",
	"exfat", "vfat", "msdos",
}

// isLocal reports whether a directory is on a file system of this machine. Unknown file systems
// may be on a server.
func isLocal(dir string) bool {
	st, err := statfs(dir)
	return err == nil && slices.Contains(localTypes, uint32(st.Type))
}

// isOverlay reports whether a directory is on an overlay of other file systems.
func isOverlay(dir string) bool {
	st, err := statfs(dir)
	return err == nil && st.Type == unix.OVERLAYFS_SUPER_MAGIC
}

// mayHang reports whether files in a directory may be on another machine, which may stop to
// answer. Even if the directory is local, it may be an overlay of file servers, or have some of
// them mounted below it.
func mayHang(dir string) bool {
	if !isLocal(dir) || isOverlay(dir) {
		return true
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return true
	}
	below, err := mountinfo.GetMounts(mountinfo.PrefixFilter(strings.TrimSuffix(dir, "/")))
	return err != nil || slices.ContainsFunc(below, func(m *mountinfo.Info) bool {
		return m.Mountpoint != dir && !slices.Contains(diskTypes, m.FSType)
	})
}

// statfs describes the file system of a path. It repeats the system call if a signal of the Go
// runtime interrupts it.
func statfs(path string) (st unix.Statfs_t, err error) {
	for {
		if err = unix.Statfs(path, &st); err != unix.EINTR {
			return st, err
		}
	}
}
