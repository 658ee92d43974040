package overlay

import (
	"io/fs"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// merged describes a cube that is made of several files.
type merged struct {
	fs.FileInfo
	version      vfs.Version
	size, stored int64
	newest       time.Time
}

// describe returns the description of cube c of a grid: below is nil if only the parts exist. Users who may not read
// one of the files are not allowed to read the cube.
func describe(g volume.Grid, c volume.Vec, below fs.FileInfo, parts cell) fs.FileInfo {
	m := &merged{}
	var version vfs.Version
	base := below
	if below == nil {
		base = parts[0].info
	} else {
		version = vfs.VersionOf(below)
		m.size, m.stored, m.newest = below.Size(), vfs.StoredOf(below), below.ModTime()
	}
	allowed := access.Unrestricted
	for _, p := range parts {
		allowed = allowed.And(access.Of(p.info))
		m.size += p.info.Size()
		m.stored += vfs.StoredOf(p.info)
		if p.info.ModTime().After(m.newest) {
			m.newest = p.info.ModTime()
		}
	}
	m.FileInfo, m.version = allowed.Restrict(base), parts.version(g, c, version)
	return m
}

func (m *merged) Size() int64        { return m.size }
func (m *merged) ModTime() time.Time { return m.newest }

func (m *merged) Details() vfs.Details {
	return vfs.Details{Version: func() vfs.Version { return m.version }, Stored: func() int64 { return m.stored }}
}
