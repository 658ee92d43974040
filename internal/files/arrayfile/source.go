package arrayfile

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/fileformat/tiff"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Unit returns the size of the smallest box that is read without decoding, or passing over, voxels beside it: a row of
// a flat file, a strip or a tile of a TIFF, a whole picture.
func (a *Array) Unit() volume.Vec {
	switch v := a.voxels.(type) {
	case *planes:
		width, rows := v.all[0].unit()
		return volume.Vec{width, rows, 1}.Min(a.Grid.Size)
	case flat:
		return volume.Vec{a.Grid.Size[0], 1, 1}
	}
	return volume.Cube(1)
}

func (p *picture) unit() (width, rows int) { return p.grid.Size[0], p.grid.Size[1] }

func (p *tiffPage) unit() (width, rows int) {
	if p.compression == tiff.Uncompressed && !p.tiled && !p.packed {
		return p.grid.Size[0], 1
	}
	return p.width, p.rows
}

func (p *picture) storedAs() string { return strings.ToLower(p.format) }

func (p *tiffPage) storedAs() string {
	if name, ok := compressions[p.compression]; ok {
		return name
	}
	return "raw"
}

// compressions has the names of the compressions of TIFF.
var compressions = map[uint64]string{
	tiff.LZW: "lzw", tiff.Deflate: "deflate", tiff.OldDeflate: "deflate", tiff.PackBits: "packbits", tiff.Zstd: "zstd",
}

func (c channelPlane) storedAs() string { return c[0].storedAs() }

func (c channelPlane) unit() (width, rows int) { return c[0].unit() }

func (p *picture) sources() []*file  { return []*file{p.file} }
func (p *tiffPage) sources() []*file { return []*file{p.f} }

func (c channelPlane) sources() (all []*file) {
	for _, p := range c {
		all = append(all, p.sources()...)
	}
	return all
}

// maxHeld is the number of files of an array that stay open between reads.
const maxHeld = 4

// Hold keeps the files open until Drop, unless they are many. It fails if one has changed.
func (a *Array) Hold() error {
	if len(a.files) > maxHeld {
		return nil
	}
	for i, f := range a.files {
		if err := f.hold(); err != nil {
			for _, held := range a.files[:i] {
				held.drop() // read-only: nothing can be lost
			}
			return err
		}
	}
	return nil
}

// Drop ends a Hold.
func (a *Array) Drop() (err error) {
	if len(a.files) > maxHeld {
		return nil
	}
	for _, f := range a.files {
		if failed := f.drop(); err == nil {
			err = failed
		}
	}
	return err
}

// CheckUnchanged fails with [vfs.ErrChanged] if a file that has voxels of a box has changed since it was opened.
func (a *Array) CheckUnchanged(box volume.Box) error {
	files := a.files
	if p, ok := a.voxels.(*planes); ok {
		files = nil
		for _, each := range p.all[box.Min[2]:box.Max[2]] {
			for _, f := range each.sources() {
				if !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
	}
	for _, f := range files {
		if err := f.checkRead(); err != nil {
			return err
		}
	}
	return nil
}

// checkRead fails if the file has changed since it was opened. A held file may have lost its name.
func (f *file) checkRead() error {
	held := f.held()
	if held == nil {
		return f.unchanged()
	}
	if vfs.Unchanged(held, f.info) != nil {
		return f.changed()
	}
	return nil
}

// Names returns the names of the files in their file system.
func (a *Array) Names() []string {
	names := make([]string, len(a.files))
	for i, f := range a.files {
		names[i] = f.at
	}
	return names
}

// Infos describes the files as they were when they were opened.
func (a *Array) Infos() []fs.FileInfo {
	infos := make([]fs.FileInfo, len(a.files))
	for i, f := range a.files {
		infos[i] = f.info
	}
	return infos
}

// StoredAs names how voxels are stored, such as "raw" or "gzip", for people.
func (a *Array) StoredAs() string {
	switch v := a.voxels.(type) {
	case *planes:
		return v.all[0].storedAs()
	case flat:
		if v.packed != nil {
			return v.packed.encoding.String()
		}
	}
	return "raw"
}
