package view

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/names/omezarr"
	"github.com/wkwfs/wkwfs/internal/names/tree"
)

// omeTimes presents the times of a layer, NAME/t0000 and so on, as one OME-Zarr image with the axes t, c, z, y, x. What
// the first time has holds for all.
type omeTimes struct {
	s      seriesDir
	name   string
	n      int // times
	first  omeDir
	format *omezarr.Format
}

// formatOf returns the version of OME-Zarr of an entry of a layer, or nil.
func formatOf(name string) *omezarr.Format {
	switch name {
	case tree.OMEZarr:
		return omezarr.V04
	case tree.OMEZarr3:
		return omezarr.V05
	}
	return nil
}

// timeName returns the name of a time in a series.
func timeName(t int) string { return fmt.Sprintf("t%04d", t) }

// times returns the image of the times in a directory of layers. If there are less than two, or if one is missing, the
// error is fs.ErrNotExist.
func (d seriesDir) times(name string) (omeTimes, error) {
	format := formatOf(name)
	if format == nil {
		return omeTimes{}, fs.ErrNotExist
	}
	names, err := d.names()
	if err != nil {
		return omeTimes{}, err
	}
	return d.timesOf(names, name, format)
}

// timesOf is times for a directory with known names.
func (d seriesDir) timesOf(names []string, name string, format *omezarr.Format) (t omeTimes, err error) {
	t = omeTimes{s: d, name: name, n: timesIn(names), format: format}
	if t.n > 0 {
		t.first, err = t.at(0)
	}
	if t.n == 0 || errors.Is(err, fs.ErrNotExist) { // it is a directory of other axes
		return omeTimes{}, fs.ErrNotExist
	}
	return t, err
}

// yieldTimes yields the images of the times, and the mags at all times, if there are any in the names of the directory.
// It omits mags whose names are taken. It returns false if yield does.
func (d seriesDir) yieldTimes(names, taken []string, yield func(entry, error) bool) bool {
	return d.yieldImages(names, yield) && d.yieldMags(names, taken, yield)
}

// yieldImages yields the images of the times. It returns false if yield does.
func (d seriesDir) yieldImages(names []string, yield func(entry, error) bool) bool {
	for _, name := range []string{tree.OMEZarr, tree.OMEZarr3} {
		t, err := d.timesOf(names, name, formatOf(name))
		if err != nil {
			return true
		}
		mags, err := t.first.l.l.Mags()
		if err != nil || !t.first.levels().exist(mags) {
			return true
		}
		if !yield(entry{name, t}, nil) {
			return false
		}
	}
	return true
}

// at returns a time as an image of its own.
func (d omeTimes) at(t int) (omeDir, error) {
	full := path.Join(d.s.name, timeName(t))
	l, err := d.s.d.Layer(full)
	return omeDir{layerDir{d.s.fsys, full, l, d.s.d}, d.name, d.format}, err
}

func (d omeTimes) stat() (fs.FileInfo, error) { return statDir(d.name, d.s.stat) }

func (d omeTimes) list(yield func(entry, error) bool) {
	mags, err := d.first.l.l.Mags()
	if err != nil {
		yield(entry{}, err)
		return
	}
	for _, name := range d.format.GroupFiles {
		if !yield(entry{name, d.file(name)}, nil) {
			return
		}
	}
	for l := range d.first.levels().each(mags) {
		if !yield(entry{l.key, omeTimesLevel{omeLevel{l, d.format}, d}}, nil) {
			return
		}
	}
}

func (d omeTimes) child(name string) (node, error) {
	if slices.Contains(d.format.GroupFiles, name) {
		return d.file(name), nil
	}
	l, err := d.first.levels().find(name)
	if err != nil {
		return nil, err
	}
	return omeTimesLevel{omeLevel{l, d.format}, d}, nil
}

// file returns a file of metadata of the image.
func (d omeTimes) file(name string) builtFile {
	return builtFile{name, d.first.l.l.Stat, func() ([]byte, error) {
		img, err := d.first.image()
		if err != nil {
			return nil, err
		}
		img.Name = path.Base(d.s.name)
		for i := range img.Levels {
			img.Levels[i].Times = d.n
		}
		return d.format.Group(name, img)
	}}
}
