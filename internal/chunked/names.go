package chunked

import (
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

// parse returns the indices in the name of a file of a chunk, if the separator is not "/".
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
	return path.Join(m.dir, m.array.Key.name(m.position(len(m.array.Shape), c, channel)))
}
