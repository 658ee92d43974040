package view

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// timesDir has a mag at all times of a layer, NAME/t0000 and so on, as single files: NAME/MAG/volume.nii. What the
// first time has holds for all.
type timesDir struct {
	s   seriesDir
	mag string
	n   int // times
}

// timesIn returns the number of times in a directory of layers. It is 0 if there are less than two, or if one is
// missing.
func timesIn(names []string) int {
	listed := map[string]bool{}
	for _, name := range names {
		if tree.IsPoint(name) && name[0] == 't' && name[1] <= '9' {
			listed[name] = true
		}
	}
	for t := range len(listed) {
		if len(listed) < 2 || !listed[timeName(t)] {
			return 0
		}
	}
	return len(listed)
}

// timesOfMag returns the directory of a mag at all times. If there are no times, or if the first has no such mag, the
// error is fs.ErrNotExist.
func (d seriesDir) timesOfMag(mag string) (node, error) {
	names, err := d.names()
	if err != nil {
		return nil, err
	}
	t := timesDir{d, mag, timesIn(names)}
	if t.n == 0 {
		return nil, fs.ErrNotExist
	}
	_, err = t.at(0)
	return t, err
}

// yieldMags yields the directories of the mags at all times, if names has times. It omits names that are taken. It
// returns false if yield does.
func (d seriesDir) yieldMags(names, taken []string, yield func(entry, error) bool) bool {
	n := timesIn(names)
	if n == 0 {
		return true
	}
	first, err := d.d.Layer(path.Join(d.name, timeName(0)))
	if err != nil {
		return true // of other axes, or removed since it was listed
	}
	mags, err := first.Mags()
	for _, mag := range mags {
		if !slices.Contains(taken, mag) && !yield(entry{mag, timesDir{d, mag, n}}, nil) {
			return false
		}
	}
	return err == nil || yield(entry{}, err)
}

// at returns the mag at a time.
func (d timesDir) at(t int) (magDir, error) {
	name := path.Join(d.s.name, timeName(t))
	l, err := d.s.d.Layer(name)
	if err != nil {
		return magDir{}, err
	}
	m, err := l.Mag(d.mag)
	return magDir{d.s.fsys, path.Join(name, d.mag), m}, err
}

// path returns the path of the directory in the tree.
func (d timesDir) path() string { return path.Join(d.s.name, d.mag) }

func (d timesDir) stat() (fs.FileInfo, error) { return statDir(d.mag, d.s.stat) }

func (d timesDir) list(yield func(entry, error) bool) {
	state, err := d.state(false)
	if err != nil {
		d.s.fsys.log.Warn("times shown without their volume", "mag", d.path(), "err", err)
		return
	}
	for _, f := range d.files() {
		if _, err := f.layout(state); err == nil && !yield(entry{f.name, f}, nil) {
			return
		}
	}
}

// files returns the files in all formats that have an axis of time, and volume.json and volume.raw.
func (d timesDir) files() []timesFile {
	files := []timesFile{d.file(tree.JSON), d.file(tree.Raw)}
	for _, f := range header.Formats() {
		if f.HasTimes {
			files = append(files, d.file(f.Suffix))
		}
	}
	return files
}

func (d timesDir) file(suffix string) timesFile {
	return timesFile{d, tree.VolumeStem + suffix, suffix}
}

func (d timesDir) child(name string) (node, error) {
	files := d.files()
	if i := slices.IndexFunc(files, func(f timesFile) bool { return f.name == name }); i >= 0 {
		return files[i], nil
	}
	return nil, fs.ErrNotExist
}

// timesFile presents a mag at all times as a file: a head, the volumes of the times, one after the other, and a tail.
type timesFile struct {
	d      timesDir
	name   string
	suffix string // of the format
}

// layout fails with fs.ErrNotExist if the format cannot hold the volumes.
func (f timesFile) layout(s *timesState) (header.Layout, error) {
	if f.suffix == tree.JSON || s.unlike == nil {
		return makeLayout(f.suffix, s.array, s.storage, s.unlike)
	}
	return header.Layout{}, fmt.Errorf("%w: %w", fs.ErrNotExist, s.unlike)
}

func (f timesFile) info(s *timesState, layout header.Layout) info {
	size := int64(len(layout.Head)) + layout.TailSize
	i := fileInfo(f.name, size, s.info)
	i.version, i.stored = s.version, size
	if f.suffix == tree.JSON {
		return i
	}
	i.size += s.array.Bytes()
	i.stored = s.stored
	for _, format := range header.Formats() {
		if format.Suffix == f.suffix {
			i.unit = format.UnitOf(s.array)
		}
	}
	g := s.array.Grid
	i.array, i.times = &g, s.array.Times
	return i
}

func (f timesFile) stat() (fs.FileInfo, error) {
	s, err := f.d.state(false)
	if err != nil {
		return nil, notAbsent(err)
	}
	layout, err := f.layout(s)
	if err != nil {
		return nil, err
	}
	return f.info(s, layout), nil
}

func (f timesFile) open() (fs.File, error) {
	s, err := f.d.state(true)
	if err != nil {
		return nil, notAbsent(err)
	}
	layout, err := f.layout(s)
	if err != nil {
		return nil, err
	}
	i := f.info(s, layout)
	if f.suffix == tree.JSON {
		return newFile(i, layout, nil, noClose), nil
	}
	return newFile(i, layout, newTimesReader(f.d, s, int64(len(layout.Head))), noClose), nil
}

// notAbsent returns an error that is not fs.ErrNotExist: a time that is absent must not make a file that is listed
// absent.
func notAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New(strings.TrimSpace(err.Error()))
	}
	return err
}

// timeOf returns what a file says about a time.
type timeOf struct {
	snap *snapshot
	info fs.FileInfo
	err  error
}

// unlike returns why a time cannot follow the first one in a file, or nil.
func (o timeOf) unlike(first timeOf, name string) error {
	a, b := o.snap.grid(), first.snap.grid()
	if a == b {
		return nil
	}
	return fmt.Errorf("%s: expected %s, as in %s, found %s", name, describeGrid(b), timeName(0), describeGrid(a))
}

// grid returns the geometry of the volume, without that of blocks.
func (s *snapshot) grid() volume.Grid {
	g := s.Grid()
	g.Size, g.Origin, g.Block = s.Bounds().Size(), s.Bounds().Min, volume.Cube(1)
	return g
}

func describeGrid(g volume.Grid) string {
	return fmt.Sprintf("%d × %v, %v voxels from %v of %v nm", g.Channels, g.Type, g.Size, g.Origin, g.Spacing)
}
