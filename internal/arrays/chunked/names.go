package chunked

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// Key says how the files of chunks are named: the prefix, if there is one, and the indices of the chunk on all axes, with
// the separator between them.
type Key struct {
	Prefix    string // "c" or ""
	Separator string // "/" or "."
}

// name returns the path of a chunk below the directory of the array.
func (k Key) name(at []int) string {
	var b strings.Builder
	b.WriteString(k.Prefix)
	for i, n := range at {
		if i > 0 || k.Prefix != "" {
			b.WriteString(k.Separator)
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// parse returns the indices in the name of a chunk, or of a directory of chunks that has some of them.
func (k Key) parse(name string, rank int) ([]int, bool) {
	if k.Prefix != "" {
		var ok bool
		if name, ok = strings.CutPrefix(name, k.Prefix+k.Separator); !ok {
			return nil, false
		}
	}
	parts := strings.Split(name, k.Separator)
	if len(parts) != rank {
		return nil, false
	}
	at := make([]int, rank)
	for i, part := range parts {
		var ok bool
		if at[i], ok = volume.ParseIndex(part); !ok {
			return nil, false
		}
	}
	return at, true
}

// path returns the file of a chunk on the channel axis of cube c.
func (m *Mag) path(c volume.Vec, channel int) string {
	return path.Join(m.dir, m.array.Key.name(m.onOthers(m.position(len(m.array.Shape), c, channel), m.array.Chunk)))
}

// CubeFiles implements [volume.CubeNamer].
func (m *Mag) CubeFiles() (fsys fs.FS, dir, example string) {
	return m.fsys, m.dir, m.array.Key.name(make([]int, len(m.array.Shape)))
}

// CubeName implements [volume.CubeNamer]. Chunks of channels that are not shown count, too.
func (m *Mag) CubeName(name string) volume.CubeName {
	key, rank := m.array.Key, len(m.array.Shape)
	if key.Separator != "/" {
		if at, ok := key.parse(name, rank); ok && m.array.has(at) {
			return volume.FileName
		}
		return volume.OtherName
	}
	if name == key.Prefix {
		return volume.DirName
	}
	indices := 1 + strings.Count(name, "/")
	if key.Prefix != "" {
		indices--
	}
	switch at, ok := key.parse(name, indices); {
	case !ok || indices > rank || !m.array.has(at):
		return volume.OtherName
	case indices < rank:
		return volume.DirName
	}
	return volume.FileName
}

// has reports whether the array has a chunk with these indices on its first axes.
func (a *Array) has(at []int) bool {
	for axis, n := range at {
		if n > (a.Shape[axis]-1)/a.Chunk[axis] {
			return false
		}
	}
	return true
}
