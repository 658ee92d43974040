package knossos

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// ErrNotRecognised is the error of what is no dataset of KNOSSOS.
var ErrNotRecognised = errors.New("not a KNOSSOS dataset")

// maxNames is the number of entries of a folder among which a configuration is searched.
const maxNames = 10_000

// Recognise opens a folder with a configuration, or the configuration itself. A dataset of one layer is a Layer, and a
// Dataset has several. Mags are named by their factors. What cannot be shown is omitted. log gets what was assumed.
//
// Recognise returns [ErrNotRecognised] if there is no configuration, and another error if nothing that it describes
// can be read.
func Recognise(fsys fs.FS, name string, log *slog.Logger) (root volume.Root, err error) {
	file := name
	if info, err := fs.Stat(fsys, name); err == nil && info.IsDir() {
		if file, err = findConfig(fsys, name); err != nil {
			return root, err
		}
	} else if err != nil || !IsConfig(name) {
		return root, ErrNotRecognised
	}
	layers, faults, err := readConfig(fsys, file)
	if err != nil {
		return root, err
	}
	d := &chunked.Dataset{FS: fsys, Dir: path.Dir(file)}
	for i, c := range layers {
		fault := faults[i]
		if fault == nil {
			fault = c.addTo(d, log)
		}
		switch {
		case fault == nil:
		case len(layers) == 1:
			return root, fault
		default:
			d.Omit(cmp.Or(c.name, fmt.Sprintf("layer %d", i+1)), fault)
		}
	}
	return d.Root(file)
}

// findConfig returns the configuration of a folder: of the first kind that it has, by name, else that of the finest
// mag.
func findConfig(fsys fs.FS, dir string) (string, error) {
	var names, mags []string
	seen := 0
	for entries, err := range vfs.List(fsys, dir) {
		if err != nil {
			return "", ErrNotRecognised // as for other formats: the error of the first one counts
		}
		for _, e := range entries {
			switch {
			case magOf(e.Name()) > 0 && !e.Type().IsRegular():
				mags = append(mags, e.Name())
			case IsConfig(e.Name()) && !e.IsDir():
				names = append(names, e.Name())
			}
		}
		if seen += len(entries); seen > maxNames {
			break
		}
	}
	slices.Sort(names)
	for _, suffix := range configSuffixes {
		for _, name := range names {
			if strings.HasSuffix(name, suffix) {
				return path.Join(dir, name), nil
			}
		}
	}
	slices.SortFunc(mags, func(a, b string) int { return cmp.Or(cmp.Compare(magOf(a), magOf(b)), cmp.Compare(a, b)) })
	for _, mag := range mags[:min(len(mags), 2)] {
		file := path.Join(dir, mag, confFile)
		if _, err := fs.Stat(fsys, file); !errors.Is(err, fs.ErrNotExist) {
			return file, nil
		}
	}
	return "", ErrNotRecognised
}

// mag is the folder of a mag.
type mag struct {
	dir    string
	number int
}

// mags returns the folders of mags, finest first. Where folders cannot be listed, such as those of many web servers, a
// numbered mag is there for each voxel size.
func (c config) mags(fsys fs.FS) (mags []mag, err error) {
	for entries, listErr := range vfs.ListDir(fsys, c.dir) {
		for _, e := range entries {
			m := magFolder.FindStringSubmatch(e.Name())
			if m == nil || e.Type().IsRegular() || m[1] != "" && m[1] != c.base {
				continue
			}
			mags = append(mags, mag{path.Join(c.dir, e.Name()), magOf(e.Name())})
		}
		err = listErr
	}
	if vfs.CannotList(err) && c.ordinal {
		for i := range c.spacing {
			mags = append(mags, mag{path.Join(c.dir, fmt.Sprintf("mag%d", i+1)), i + 1})
		}
		return mags, nil
	}
	slices.SortFunc(mags,
		func(a, b mag) int { return cmp.Or(cmp.Compare(a.number, b.number), -cmp.Compare(a.dir, b.dir)) })
	mags = slices.CompactFunc(mags, func(a, b mag) bool { return a.number == b.number })
	if len(mags) == 0 && err == nil {
		err = &volume.FormatError{
			File: c.dir, Part: "folder", Offset: -1,
			Expected: "a folder for each mag, such as mag1", Found: "none",
		}
	}
	return mags, err
}

// addTo adds the layers of a configuration: one for each kind of its cubes.
func (c config) addTo(d *chunked.Dataset, log *slog.Logger) error {
	mags, err := c.mags(d.FS)
	if err != nil {
		return err
	}
	var s sample
	for _, m := range slices.Compact([]mag{mags[0], mags[len(mags)-1]}) {
		s.look(d.FS, m.dir, tree{c.base, m.number, ""}, nil)
	}
	chosen, err := s.choose(c)
	if err != nil {
		return err
	}
	left := s.left(chosen)
	if left != nil {
		d.Omit(chunked.Join(c.name, image), left)
	}
	for _, k := range chosen {
		l, err := c.layer(d.FS, mags, k)
		if err != nil {
			return err
		}
		name := c.name
		if len(chosen) > 1 || left != nil {
			name = chunked.Join(name, k.category)
		}
		d.Add(name, l)
		if c.suffixes == nil {
			log.Info("the configuration does not say how cubes are stored: assumed from some of them", "file", c.file,
				"suffix", k.suffix)
		}
	}
	return nil
}

// layer returns the cubes of a kind as a layer.
func (c config) layer(fsys fs.FS, mags []mag, k kind) (*chunked.Layer, error) {
	l := &chunked.Layer{FS: fsys, Dir: c.dir}
	for _, m := range mags {
		opened, name, err := c.open(fsys, m, k)
		if _, other := l.Mag(name); err == nil && other == nil {
			err = errors.New("another mag has the factor " + name)
		}
		if err != nil {
			l.Left = append(l.Left, volume.Omission{Name: path.Base(m.dir), Reason: err.Error()})
			continue
		}
		l.List = append(l.List, chunked.NamedMag{Name: name, Mag: opened})
	}
	if len(l.List) == 0 {
		return nil, errors.New(path.Join(c.dir, l.Left[0].Name) + ": " + l.Left[0].Reason)
	}
	return l, nil
}

// open opens a mag. Its name is that of its factor, or that of its folder if that is no whole number.
func (c config) open(fsys fs.FS, m mag, k kind) (volume.Mag, string, error) {
	a := &chunked.Array{
		Shape: make([]int, 3), Chunk: c.cube[:], Type: k.typ, XFirst: true, Names: []string{"x", "y", "z"},
		Order: []int{2, 1, 0},
		Tree:  tree{c.base, m.number, k.suffix}, Codecs: k.codecs, Compression: k.name,
	}
	o := chunked.Options{Category: k.category, StatMetadata: chunked.StatFiles(nil, fsys, c.file)}
	name := path.Base(m.dir)
	scale, err := c.coarseness(m.number)
	if err != nil {
		return nil, name, err
	}
	isWhole := true
	for axis, n := range scale {
		a.Shape[axis] = max(1, int(math.Ceil(float64(c.size[axis])/n-1e-6)))
		o.Spacing[axis] = c.spacing[0][axis] * n
		o.Factor[axis] = int(math.Round(n))
		isWhole = isWhole && n >= 1 && math.Abs(n-math.Round(n)) < 0.02
	}
	if !isWhole {
		o.Factor = volume.Factor{}
	} else {
		name = o.Factor.String()
	}
	opened, err := chunked.New(fsys, m.dir, a, o)
	return opened, name, chunked.InFile(c.file, err)
}

// minCoarseness limits how much larger than mag 1 a mag may be.
const minCoarseness = 1.0 / 1024

// coarseness returns the size of a voxel of a mag in voxels of mag 1.
func (c config) coarseness(number int) (n [3]float64, err error) {
	if !c.ordinal {
		f := float64(number)
		return [3]float64{f, f, f}, nil
	}
	if number > len(c.spacing) {
		return n, fault("voxel size", fmt.Sprintf("one for mag%d", number),
			fmt.Sprintf("those of %d mags", len(c.spacing)))
	}
	for axis := range n {
		n[axis] = c.spacing[number-1][axis] / c.spacing[0][axis]
		if !(n[axis] >= minCoarseness && n[axis] <= maxExtent) {
			return n, fault("voxel size", "one that is at most 1024 times as fine as that of mag1", c.spacing[number-1])
		}
	}
	return n, nil
}
