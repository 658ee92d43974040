package main

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// choice says which of the forms that voxels are shown in are copied with a folder.
// The cubes always are.
type choice struct {
	all    bool // with the volume.* and the slices of a mag, and a layer as Precomputed
	blocks bool // with the blocks of a cube
}

// entries leaves out what was not chosen of a folder.
func (c choice) entries(_ string, entries []fs.DirEntry) []fs.DirEntry {
	mag, layer := isMag(entries), isLayer(entries)
	return slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool {
		switch name := e.Name(); {
		case e.IsDir() && path.Ext(name) == ".blocks":
			return !c.blocks
		case mag && isForm(name), layer && name == "precomputed":
			return !c.all
		}
		return false
	})
}

// isMag reports whether these are the entries of a mag.
func isMag(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "volume.json" && !e.IsDir() }) &&
		slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "slices" && e.IsDir() })
}

// isLayer reports whether these are the entries of a layer: mags, and the layer as
// Precomputed.
func isLayer(entries []fs.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() || e.Name() != "precomputed" && (e.Name()[0] < '0' || e.Name()[0] > '9')
	})
}

// isForm reports whether an entry of a mag shows voxels that its cubes show too.
func isForm(name string) bool {
	return name == "slices" || name == "box" || strings.HasPrefix(name, "volume.") && name != "volume.json"
}
