// Package gaps finds voxels that may be missing from a source although nothing in it is damaged. Such voxels read as zeros:
// those of an import that is not finished, those of mags that have no cube file, and those in files that have names like cube files and
// that no mag reads.
//
// It reads names, and no file.
package gaps

import (
	"errors"
	"fmt"
	"iter"
	"path"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/volume"
)

// Gap is a reason why voxels may be missing.
type Gap struct {
	Layer, Mag string // names; empty if the source is below a dataset or a layer, or if the gap is that of a whole layer
	Err        error
	Fault      bool // voxels are certainly missing
}

// Place returns the path of the layer or the mag in the source.
func (g Gap) Place() string { return path.Join(".", g.Layer, g.Mag) }

// Options say how much of a source is looked at. The zero value is all of it.
type Options struct {
	// Unfinished has the names of the layers whose import is not finished. The name is "" if the source is below a dataset.
	Unfinished []string
	// Names limits how many names of a directory are looked at, and in few directories. Mags limits the mags. 0 means all.
	Names, Mags int
	// Refuse returns why the volume of a mag is not shown, or nil. It may be nil.
	Refuse func(m volume.Mag, path string) error
}

// Sample are options for commands that must not wait for a source to be listed.
var Sample = Options{Names: 1000, Mags: 64}

// ErrUnfinished is the error of a layer whose import is not finished.
var ErrUnfinished = errors.New("it has the file .import.json: an import of this layer is not finished, and what it has not written reads as zeros; the same wkwfs import continues it, and --finish completes one in parts")

// ErrEmpty is the error of a mag without a cube file.
var ErrEmpty = errors.New("it has no file with voxels: all of them read as zeros, or as the fill value")

// UnreadError is the error of files that have names like cube files, and that the mag does not read.
type UnreadError struct {
	File     string // one of them
	Files    int    // how many there are
	More     bool   // there may be more
	Expected string // the name of a cube file that the mag reads
}

func (e *UnreadError) Error() string {
	others := ""
	switch {
	case e.Files == 2:
		others = ", and another file like it"
	case e.Files > 2:
		others = fmt.Sprintf(", and %d other files like it", e.Files-1)
	}
	if e.More {
		others += ", and maybe more"
	}
	return fmt.Sprintf("%s%s: not read, because the metadata name no such file: expected names like %s", e.File, others, e.Expected)
}

// Find yields the gaps of a source. It leaves out what cannot be listed: other functions report that.
func Find(root volume.Root, o Options) iter.Seq[Gap] {
	return func(yield func(Gap) bool) {
		for _, layer := range o.Unfinished {
			if !yield(Gap{Layer: layer, Err: ErrUnfinished, Fault: true}) {
				return
			}
		}
		for found := range parallel.InOrder(mags(root, o.Mags), atOnce, func(m namedMag) []Gap { return m.gaps(o) }) {
			for _, g := range found {
				if !yield(g) {
					return
				}
			}
		}
	}
}

// atOnce is the number of mags that are searched at once.
const atOnce = 8

// namedMag is a mag with the name of its layer and its own.
type namedMag struct {
	layer, name string
	volume.Mag
}

// mags yields the first mags that can be opened, up to limit; all of them if that is 0.
func mags(root volume.Root, limit int) iter.Seq[namedMag] {
	return func(yield func(namedMag) bool) {
		n := 0
		of := func(name string, l volume.Layer) bool {
			names, _ := l.Mags()
			for _, mag := range names {
				m, err := l.Mag(mag)
				if err != nil {
					continue
				}
				if n++; limit > 0 && n > limit || !yield(namedMag{name, mag, m}) {
					return false
				}
			}
			return true
		}
		switch {
		case root.Mag != nil:
			yield(namedMag{Mag: root.Mag})
		case root.Layer != nil:
			of("", root.Layer)
		case root.Dataset != nil:
			for name := range volume.EachLayer(root.Dataset) {
				if l, err := root.Dataset.Layer(name); err == nil && !of(name, l) {
					return
				}
			}
		}
	}
}

// gaps returns the gaps of a mag.
func (m namedMag) gaps(o Options) (found []Gap) {
	if o.Refuse != nil {
		if err := o.Refuse(m.Mag, path.Join(".", m.layer, m.name)); err != nil {
			found = append(found, Gap{Layer: m.layer, Mag: m.name, Err: err, Fault: true})
		}
	}
	namer, ok := m.Mag.(volume.CubeNamer)
	if !ok {
		return found
	}
	s := newSearch(namer, o.Names)
	s.run()
	empty := !s.cubes && !s.partial
	if s.unread.Files > 0 {
		found = append(found, Gap{Layer: m.layer, Mag: m.name, Err: &s.unread, Fault: empty})
	}
	if empty {
		found = append(found, Gap{Layer: m.layer, Mag: m.name, Err: ErrEmpty})
	}
	return found
}
