package filesource

import (
	"fmt"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// As says what the header of a file does not say, or says otherwise. The zero value says nothing.
type As struct {
	Raw     *arrayfile.RawShape // the file has no header; nil: it has one
	Axes    string              // of a file whose header does not name them; empty: the usual ones
	Spacing [3]float64          // of voxels in nm; zero: that of the header
	Origin  *volume.Vec         // of the first voxel, in voxels; nil: that of the header
}

// RawShape describes the voxels of a file without a header.
type RawShape = arrayfile.RawShape

// open opens the files of a stack.
func (s *stack) open() (a *arrayfile.Array, err error) {
	as := s.as
	if as.Raw != nil {
		raw := *as.Raw
		raw.Axes = as.Axes
		a, err = arrayfile.OpenRawFS(s.fsys, s.name, raw)
	} else if a, err = arrayfile.OpenFS(s.fsys, s.name); err == nil && as.Axes != "" {
		if err = setAxes(a, as.Axes); err != nil {
			a.Close() // read-only: nothing can be lost
		}
	}
	if err != nil {
		return nil, err
	}
	if as.Spacing != ([3]float64{}) {
		a.Grid.Spacing = as.Spacing
	}
	if as.Origin != nil {
		a.Grid.Origin, a.Positioned, a.PositionErr = *as.Origin, true, nil
	}
	return a, nil
}

func setAxes(a *arrayfile.Array, axes string) error {
	if a.Layout.Axes == "" {
		return hint.Usagef("", "--axes is not for %s: its header says which axes are x, y and z", a.Name())
	}
	return a.SetAxes(axes)
}

// check fails if a folder is not one layer, and there is something to say about it.
func (as As) check(name string) error {
	if as.Raw == nil && as.Axes == "" && as.Spacing == ([3]float64{}) && as.Origin == nil {
		return nil
	}
	return fmt.Errorf("%s: a folder of several layers: name the file that the flags are for", name)
}
