package view

import (
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/names/omezarr"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// omeDir presents a layer as an OME-Zarr image: the metadata of a group, and a directory with an array for each mag.
type omeDir struct {
	l      layerDir
	name   string
	format *omezarr.Format
}

func (d omeDir) stat() (fs.FileInfo, error) { return statDir(d.name, d.l.l.Stat) }

// levels returns the levels that the image may have. They do not depend on the format.
func (d omeDir) levels() levels {
	return levels{d.l, []string{tree.OMEZarr, tree.OMEZarr3}, "OME-Zarr", omeReason}
}

// maxChunkBytes is the size of the largest chunk. Programs and c-blosc have limits of about 2 GiB.
const maxChunkBytes = 1 << 30

// omeReason returns why OME-Zarr cannot hold a mag of this name and geometry. It returns "" if it can.
func omeReason(name string, g volume.Grid) string {
	if slices.Contains(omezarr.V04.GroupFiles, name) || slices.Contains(omezarr.V05.GroupFiles, name) {
		return "its name is that of a file of OME-Zarr"
	}
	chunk := chunkOf(g)
	if int64(chunk[0])*int64(chunk[1])*int64(chunk[2]) > maxChunkBytes/int64(g.Type.Size()) {
		return "its chunks are larger than 1 GiB"
	}
	return ""
}

func (d omeDir) list(yield func(entry, error) bool) {
	names, err := d.l.l.Mags()
	if err != nil {
		yield(entry{}, err)
		return
	}
	for _, name := range d.format.GroupFiles {
		if !yield(entry{name, d.file(name)}, nil) {
			return
		}
	}
	for l := range d.levels().each(names) {
		if !yield(entry{l.key, omeLevel{l, d.format}}, nil) {
			return
		}
	}
}

func (d omeDir) child(name string) (node, error) {
	if slices.Contains(d.format.GroupFiles, name) {
		return d.file(name), nil
	}
	l, err := d.levels().find(name)
	if err != nil {
		return nil, err
	}
	return omeLevel{l, d.format}, nil
}

// file returns a file of metadata of the image.
func (d omeDir) file(name string) builtFile {
	return builtFile{name, d.l.l.Stat, func() ([]byte, error) {
		img, err := d.image()
		if err != nil {
			return nil, err
		}
		return d.format.Group(name, img)
	}}
}

// image describes the image. If it has no levels, the error is fs.ErrNotExist.
func (d omeDir) image() (omezarr.Image, error) {
	all, snaps, err := d.levels().all()
	if err != nil {
		return omezarr.Image{}, err
	}
	if len(all) == 0 {
		return omezarr.Image{}, fs.ErrNotExist
	}
	img := omezarr.Image{Name: path.Base(d.l.name), Labels: snaps[0].isLabels(), Window: snaps[0].About().Window}
	for i, l := range all {
		img.Levels = append(img.Levels, newOMEArray(snaps[i]).describe(l.key, snaps[i]))
	}
	return img, nil
}
