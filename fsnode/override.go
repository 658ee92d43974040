//go:build linux

package fsnode

import (
	"io/fs"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// override replaces the owner, group and permissions of the source. A nil field keeps what the source has.
type override struct {
	uid, gid *uint32
	umask    *fs.FileMode
}

// apply sets the owner, group and permissions of an entry. With a umask, all users may read files and search
// directories, except for the bits of the umask.
func (o override) apply(out *fuse.Attr, isDir bool) {
	if o.uid != nil {
		out.Uid = *o.uid
	}
	if o.gid != nil {
		out.Gid = *o.gid
	}
	if o.umask == nil {
		return
	}
	mode := fs.FileMode(0o444)
	if isDir {
		mode = 0o555
	}
	out.Mode = uint32(mode &^ *o.umask)
}
