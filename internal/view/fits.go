package view

import (
	"fmt"
	"path"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/volume"
)

// fits returns an error if a block takes more memory while it is loaded than the cache has for that. mag is that of the source, or nil, and
// name its path in the tree.
func fits(c *cache.Cache, s *cache.Source, mag volume.Mag, name string) error {
	if c == noCache() || s.Memory() <= c.MostInFlight() {
		return nil
	}
	if m, ok := mag.(volume.MetadataStater); ok {
		if files := m.StatMetadata(); len(files) > 0 {
			name = path.Join(name, files[len(files)-1].Name())
		}
	}
	g := s.Grid()
	return &volume.UnsupportedError{
		File: name, Part: fmt.Sprintf("size of chunks, %v voxels", g.Block), Offset: -1,
		Expected: fmt.Sprintf("at most %d bytes while one is decoded (raise --cache-size)", c.MostInFlight()), Found: fmt.Sprint(s.Memory()),
	}
}
