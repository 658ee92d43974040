package chunked

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// cubeInfo describes a cube by the files of its chunks on the channel axis, which are nil where there is none. A cube
// without any file exists only if the fill value is not zero.
func (m *Mag) cubeInfo(c volume.Vec, parts []fs.FileInfo) (fs.FileInfo, error) {
	isAbsent := !slices.ContainsFunc(parts, func(p fs.FileInfo) bool { return p != nil })
	switch {
	case isAbsent && m.array.fillsZero():
		return nil, m.NoChunk("open", c[2], c[1], c[0])
	case isAbsent:
		return absentInfo{fmt.Sprintf("x%d", c[0]), m.absentVersion(c)}, nil
	}
	files := vfs.JoinInfos(parts)
	return vfs.WithVersion(files, m.version(c, vfs.VersionOf(files))), nil
}

// version returns the version of a cube by that of its files. It names the voxels of the cube: other mags may show
// other channels or axes of the same files, and a file may be linked as several cubes, of which those at the end of the
// array have other voxels.
func (m *Mag) version(c volume.Vec, files vfs.Version) vfs.Version {
	inside := m.size.Sub(c.Mul(m.grid.Size)).Min(m.grid.Size)
	sum := sha256.Sum256(fmt.Appendf(files[:], "%s %v", m.meaning, inside))
	return vfs.Version(sum[:16])
}

// meaningOf describes what the stored bytes of an array mean: how they become blocks.
func meaningOf(g *geometry, a *Array) string {
	return fmt.Sprint(g.axis, g.index, g.channels, g.part, g.cut, g.grid.Size, g.grid.Block, g.grid.Type, a.Order,
		a.BigEndian, a.Fill, a.Shards, a.Codecs, a.Header != nil)
}

// absentInfo describes a cube that has no file and consists of the fill value.
type absentInfo struct {
	name    string
	version vfs.Version
}

func (i absentInfo) Name() string       { return i.name }
func (i absentInfo) Size() int64        { return 0 }
func (i absentInfo) Mode() fs.FileMode  { return access.Unrestricted.Perm }
func (i absentInfo) ModTime() time.Time { return time.Time{} }
func (i absentInfo) IsDir() bool        { return false }
func (i absentInfo) Sys() any           { return nil }

func (i absentInfo) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return i.version }, Stored: func() int64 { return 0 }}
}

// absentVersion returns the version of a cube without a file. No other cube has it, because cubes at the end of the
// array have other voxels.
func (m *Mag) absentVersion(c volume.Vec) vfs.Version {
	sum := sha256.Sum256(fmt.Appendf(nil, "%v %s %x %v %v", m.grid, m.dir, m.array.Fill, m.size, c))
	return vfs.Version(sum[:16])
}
