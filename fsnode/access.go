package fsnode

import (
	"io/fs"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// access is who may read, where the source is not to decide; nil leaves it to decide.
type access struct {
	uid, gid *uint32
	umask    *fs.FileMode
}

// override puts owner, group and permissions in place of the source's. With a mask
// everybody may read, and search directories, but for its bits.
func (a access) override(out *fuse.Attr, isDir bool) {
	if a.uid != nil {
		out.Uid = *a.uid
	}
	if a.gid != nil {
		out.Gid = *a.gid
	}
	if a.umask == nil {
		return
	}
	mode := fs.FileMode(0o444)
	if isDir {
		mode = 0o555
	}
	out.Mode = uint32(mode &^ *a.umask)
}
