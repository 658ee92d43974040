package view

import (
	"fmt"
	"path"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// Fits returns an error if a block of a mag takes more memory while it is loaded than the cache has for that. A view
// does not show the volume of such a mag. name is the path of the mag in the tree. Fits opens no cube: of a mag without
// metadata of its own, it does not know.
func Fits(c *cache.Cache, mag volume.Mag, name string) error {
	if files := volume.StatMetadata(mag); len(files) == 0 || files[0].Name() == tree.Properties {
		return nil
	}
	g, err := mag.CubeGrid()
	if err != nil {
		return nil // what cannot be read is reported elsewhere
	}
	return fits(c, mag, g, mag, name)
}

// fits is Fits for the blocks of a source. mag is that of the source, or nil.
func fits(c *cache.Cache, source any, g volume.Grid, mag volume.Mag, name string) error {
	if c == noCache() {
		return nil
	}
	bytes, most := c.InFlight(source, g)
	if bytes <= most {
		return nil
	}
	if files := volume.StatMetadata(mag); len(files) > 0 {
		name = path.Join(name, files[len(files)-1].Name())
	}
	return &volume.UnsupportedError{
		File: name, Part: fmt.Sprintf("size of chunks, %v voxels", g.Block), Offset: -1,
		Expected: fmt.Sprintf("at most %d bytes while one is decoded (raise --cache-size)", most),
		Found:    fmt.Sprint(bytes),
	}
}
