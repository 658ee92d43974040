package chunked

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// cubeInfo describes a cube by the files of its chunks on the channel axis, which are nil where there is none. A cube
// without any file exists only if the fill value is not zero.
func (m *Mag) cubeInfo(c volume.Vec, parts []fs.FileInfo) (fs.FileInfo, error) {
	var first fs.FileInfo
	found := 0
	for _, p := range parts {
		if p != nil {
			if found++; first == nil {
				first = p
			}
		}
	}
	switch {
	case found == 0 && m.array.fillsZero():
		return nil, m.noCube("open", []int{c[2], c[1], c[0]})
	case found == 0:
		return absentInfo{fmt.Sprintf("x%d", c[0]), m.absentVersion(c)}, nil
	}
	info := joinedInfo{first, first.Size(), vfs.StoredOf(first), first.ModTime(), vfs.VersionOf(first)}
	if len(parts) > 1 {
		info = joinInfos(first, parts)
	}
	info.version = m.version(c, info.version)
	return info, nil
}

// version returns the version of a cube by that of its files. It names the voxels of the cube: other mags may show other channels or axes of
// the same files, and a file may be linked as several cubes, of which those at the end of the array have other voxels.
func (m *Mag) version(c volume.Vec, files vfs.Version) vfs.Version {
	inside := m.size.Sub(c.Mul(m.grid.Size)).Min(m.grid.Size)
	sum := sha256.Sum256(fmt.Appendf(files[:], "%s %v", m.meaning, inside))
	return vfs.Version(sum[:16])
}

// meaningOf describes what the stored bytes of an array mean: how they become blocks.
func meaningOf(g *geometry, a *Array) string {
	return fmt.Sprint(g.axis, g.index, g.channels, g.part, g.cut, g.grid.Size, g.grid.Block, g.grid.Type, a.Order, a.BigEndian, a.Fill, a.Shards, a.Codecs, a.Header != nil)
}

// joinInfos describes several files as one: all their bytes, the latest time, and the permissions of users who may read
// all of them. The version changes with that of any file, or if a file appears.
func joinInfos(first fs.FileInfo, parts []fs.FileInfo) joinedInfo {
	joined := joinedInfo{mod: first.ModTime()}
	allowed := access.Unrestricted
	h := sha256.New()
	for _, p := range parts {
		if p == nil {
			h.Write([]byte("absent"))
			continue
		}
		version := vfs.VersionOf(p)
		h.Write(version[:])
		allowed = allowed.And(access.Of(p))
		joined.size += p.Size()
		joined.stored += vfs.StoredOf(p)
		if p.ModTime().After(joined.mod) {
			joined.mod = p.ModTime()
		}
	}
	joined.FileInfo = allowed.Restrict(first)
	joined.version = vfs.Version(h.Sum(nil)[:16])
	return joined
}

// joinedInfo describes the files of a cube as one.
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

// absentInfo describes a cube that has no file and consists of the fill value.
type absentInfo struct {
	name    string
	version vfs.Version
}

func (i absentInfo) Name() string         { return i.name }
func (i absentInfo) Size() int64          { return 0 }
func (i absentInfo) Stored() int64        { return 0 }
func (i absentInfo) Mode() fs.FileMode    { return access.Unrestricted.Perm }
func (i absentInfo) ModTime() time.Time   { return time.Time{} }
func (i absentInfo) IsDir() bool          { return false }
func (i absentInfo) Sys() any             { return nil }
func (i absentInfo) Version() vfs.Version { return i.version }

// absentVersion returns the version of a cube without a file. No other cube has it, because cubes at the end of the array
// have other voxels.
func (m *Mag) absentVersion(c volume.Vec) vfs.Version {
	sum := sha256.Sum256(fmt.Appendf(nil, "%v %s %x %v %v", m.grid, m.dir, m.array.Fill, m.size, c))
	return vfs.Version(sum[:16])
}
