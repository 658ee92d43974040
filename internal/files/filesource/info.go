package filesource

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// info describes the files of a mag as one. The version names its voxels: other levels and other times have other voxels of the same
// files.
func (m *mag) info(files fs.FileInfo) fs.FileInfo {
	version := vfs.VersionOf(files)
	sum := sha256.Sum256(fmt.Appendf(version[:], "%d %v %d", m.n, m.grid, m.t))
	return joinedInfo{files, files.Size(), vfs.StoredOf(files), files.ModTime(), vfs.Version(sum[:16])}
}

// infoOf describes the files of an array as one: all their bytes, the latest time, and the permissions of users who may read all of
// them. The version changes with that of any file.
func infoOf(infos []fs.FileInfo) fs.FileInfo {
	if len(infos) == 1 {
		return infos[0]
	}
	joined := joinedInfo{mod: infos[0].ModTime()}
	allowed := access.Unrestricted
	h := sha256.New()
	for _, info := range infos {
		version := vfs.VersionOf(info)
		h.Write(version[:])
		allowed = allowed.And(access.Of(info))
		joined.size += info.Size()
		joined.stored += vfs.StoredOf(info)
		if info.ModTime().After(joined.mod) {
			joined.mod = info.ModTime()
		}
	}
	joined.FileInfo = allowed.Restrict(infos[0])
	joined.version = vfs.Version(h.Sum(nil)[:16])
	return joined
}

// joinedInfo describes several files as one.
type joinedInfo struct {
	fs.FileInfo
	size, stored int64
	mod          time.Time
	version      vfs.Version
}

func (i joinedInfo) Size() int64          { return i.size }
func (i joinedInfo) Stored() int64        { return i.stored }
func (i joinedInfo) ModTime() time.Time   { return i.mod }
func (i joinedInfo) Version() vfs.Version { return i.version }
