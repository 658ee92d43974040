package chunked

import (
	"path"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// Key says how the files of chunks are named: the prefix, if there is one, and the indices of the chunk on all axes,
// with the separator between them.
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

// Tree names the files of chunks in directories: one for each axis, in the order of the array's Shape, and in the last
// one a file. Other files beside it are not read. A directory without the file is an absent chunk.
type Tree interface {
	// Dir returns the name of the directory of an index on an axis.
	Dir(axis, index int) string
	// Index returns the index that a directory has the name of.
	Index(axis int, name string) (index int, ok bool)
	// File returns the name of the file of a chunk in its last directory.
	File(at []int) string
	// Kind says what another file in this directory is.
	Kind(at []int, name string) volume.CubeName
}

// treePath returns the path of a chunk, or of a directory of chunks that has some of the indices.
func treePath(t Tree, at []int, rank int) string {
	var b strings.Builder
	for axis, n := range at {
		if axis > 0 {
			b.WriteByte('/')
		}
		b.WriteString(t.Dir(axis, n))
	}
	if len(at) == rank {
		b.WriteString("/" + t.File(at))
	}
	return b.String()
}

// fileOf returns the path of a chunk below the directory of the array.
func (a *Array) fileOf(at []int) string {
	if a.Tree != nil {
		return treePath(a.Tree, at, len(a.Shape))
	}
	return a.Key.name(at)
}

// path returns the file of a chunk on the channel axis of cube c.
func (m *Mag) path(c volume.Vec, channel int) string {
	return path.Join(m.dir, m.array.fileOf(m.onOthers(m.position(len(m.array.Shape), c, channel), m.array.Chunk)))
}

func (m *Mag) cubeFiles() volume.CubeFiles {
	return volume.CubeFiles{FS: m.fsys, Dir: m.dir, Example: m.array.fileOf(make([]int, len(m.array.Shape))),
		Kind: m.kindOfName}
}

// kindOfName says what a name below the directory of the array is. Chunks of channels that are not shown count, too.
func (m *Mag) kindOfName(name string) volume.CubeName {
	key, rank := m.array.Key, len(m.array.Shape)
	if m.array.Tree != nil {
		return m.array.nameInTree(name)
	}
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

// nameInTree says what a name below the directory of the array is.
func (a *Array) nameInTree(name string) volume.CubeName {
	parts := strings.Split(name, "/")
	var at []int
	for axis, part := range parts[:min(len(parts), len(a.Shape))] {
		n, ok := a.Tree.Index(axis, part)
		if !ok {
			return volume.OtherName
		}
		at = append(at, n)
	}
	switch {
	case !a.has(at):
		return volume.OtherName
	case len(parts) <= len(a.Shape):
		return volume.DirName
	case len(parts) > len(a.Shape)+1:
		return volume.OtherName
	}
	if file := parts[len(a.Shape)]; file != a.Tree.File(at) {
		return a.Tree.Kind(at, file)
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
