package lockfile

import (
	"os"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// lockedLocally reports whether the kernel locks a file of a server on this machine only.
func lockedLocally(f *os.File) (bool, error) {
	var fsys unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fsys); err != nil || !slices.Contains(mayLockLocally, uint32(fsys.Type)) {
		return false, nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return false, err
	}
	mounts, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		return m.Major != int(unix.Major(st.Dev)) || m.Minor != int(unix.Minor(st.Dev)), false
	})
	return err == nil && slices.ContainsFunc(mounts,
		func(m *mountinfo.Info) bool { return hasLocalLocks(m.Options, m.VFSOptions) }), err
}

// mayLockLocally are the file systems with options for local locks, by their magic numbers in statfs(2).
var mayLockLocally = []uint32{unix.NFS_SUPER_MAGIC, lustreMagic, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC}

const lustreMagic = 0x0bd00bd0

// hasLocalLocks reports whether options of a mount say that locks do not reach the server.
func hasLocalLocks(options ...string) bool {
	for _, list := range options {
		for option := range strings.SplitSeq(list, ",") {
			switch option {
			case "nolock", "local_lock=flock", "local_lock=all", // nfs(5)
				"localflock",         // mount.lustre(8)
				"nobrl", "nobrllock": // mount.cifs(8)
				return true
			}
		}
	}
	return false
}
