package arrayfile

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// RawShape describes the voxels of a file without a header.
type RawShape struct {
	Size      volume.Vec
	Type      volume.Type
	Channels  int
	BigEndian bool
	// of the file, slowest first, as numpy's tofile writes them; empty: zyx, or zyxc with several channels
	Axes string
}

// OpenRaw opens a file of voxels without a header. The size of the file must match.
func OpenRaw(path string, s RawShape) (*Array, error) {
	return openWith(s.open, parent(path), filepath.Base(path))
}

// OpenRawFS is [OpenRaw] for a file of a file system, with a slash-separated name.
func OpenRawFS(fsys fs.FS, name string, s RawShape) (*Array, error) {
	dir := path.Dir(name)
	return openWith(s.open, directory{fsys, dir, dir}, path.Base(name))
}

func (s RawShape) open(a *Array, name string) error {
	f, err := a.open(name)
	if err != nil {
		return err
	}
	a.Grid.Size, a.Grid.Type, a.Grid.Channels = s.Size, s.Type, s.Channels
	a.bigEndian = s.BigEndian
	if err := a.setVoxels(section{file: f, exact: true}); err != nil {
		return err
	}
	return a.setRawAxes(s.Axes)
}

// setRawAxes sets the layout of a file without a header. Unlike that of other files, its shape follows from the names
// of the axes.
func (a *Array) setRawAxes(axes string) error {
	size, usual := a.Grid.Size, "zyx"
	a.Layout = Layout{Shape: []int{size[2], size[1], size[0]}, Axes: usual, named: true, channels: 1}
	if n := a.Grid.Channels; n > 1 {
		a.Layout.Shape, a.Layout.Axes, a.Layout.channels = append(a.Layout.Shape, n), usual+"c", 0
	}
	if axes == "" {
		return nil
	}
	if err := a.Layout.check(axes); err != nil {
		return fmt.Errorf("%s: %w", a.Name(), err)
	}
	for i := range axes {
		if axis := strings.IndexByte("xyz", axes[i]); axis >= 0 {
			a.Layout.Shape[i] = size[axis]
		} else {
			a.Layout.Shape[i] = a.Grid.Channels
		}
	}
	return a.SetAxes(axes)
}

// RawGuess is a size and types that the voxels of a file without a header may have.
type RawGuess struct {
	Size  volume.Vec
	Types []volume.Type
}

// GuessRaw returns what a file of n bytes without a header may have. A size of nil means any cube, and no types mean
// all.
func GuessRaw(n int64, size *volume.Vec, types []volume.Type, channels int) (all []RawGuess) {
	if types == nil {
		types = volume.Types()
	}
	for _, t := range types {
		guess := volume.Cube(int(math.Round(math.Cbrt(float64(n) / float64(t.Size()*max(1, channels))))))
		if size != nil {
			guess = *size
		}
		g := volume.Grid{Size: guess, Block: volume.Cube(1), Type: t, Channels: channels}
		if g.Validate() != nil || g.Bytes() != n {
			continue
		}
		i := slices.IndexFunc(all, func(known RawGuess) bool { return known.Size == guess })
		if i < 0 {
			i = len(all)
			all = append(all, RawGuess{Size: guess})
		}
		all[i].Types = append(all[i].Types, t)
	}
	return all
}
