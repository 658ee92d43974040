// Package gaps finds voxels that may be missing from a source although nothing in it is damaged. Such voxels read as
// zeros: those of an import that is not finished, those of mags that have no cube file, and those in files that have
// names like cube files and that no mag reads.
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
	// names; empty if the source is below a dataset or a layer, or if the gap is that of a whole layer
	Layer, Mag string
	Err        error
	Fault      bool // voxels are certainly missing
	Other      bool // files that nothing reads, and whose names show no voxels
}

// Place returns the path of the layer or the mag in the source.
func (g Gap) Place() string { return path.Join(".", g.Layer, g.Mag) }

// Options say how much of a source is looked at. The zero value is all of it.
type Options struct {
	// Unfinished has the names of the layers whose import is not finished. The name is "" if the source is below a
	// dataset.
	Unfinished []string
	// Names limits how many names of a directory are looked at, and in few directories. Mags limits the mags, and
	// MagsOfLayer those of a layer. 0 means all.
	Names, Mags, MagsOfLayer int
	// Others says that all files in the directory of a mag that nothing reads are listed, not only those like cube
	// files.
	Others bool
	// Refuse returns why the volume of a mag is not shown, or nil. It may be nil.
	Refuse func(m volume.Mag, path string) error
}

// Sample are options for commands that must not wait for a source to be listed.
var Sample = Options{Names: 1000, Mags: 64}

// Remote are options for sources of which each directory is a request.
var Remote = Options{Names: 1000, Mags: 8, MagsOfLayer: 1}

// ErrUnfinished is the error of a layer whose import is not finished.
var ErrUnfinished = errors.New(
	"it has the file .import.json: an import of this layer is not finished, and what it has not written reads as zeros; the same wkwfs import continues it, and --finish completes one in parts")

// ErrEmpty is the error of a mag without a cube file.
var ErrEmpty = errors.New("it has no file with voxels: all of them read as zeros, or as the fill value")

// UnreadError is the error of files that the mag does not read, although they have names like cube files or nothing
// else reads them.
type UnreadError struct {
	Part     string // of the mag that has the file, if it is made of several, such as "the annotation"
	File     string // one of them
	Files    int    // how many there are
	More     bool   // there may be more
	Expected string // the name of a cube file that the mag reads; empty if the files have no names like cube files
}

func (e *UnreadError) Error() string {
	others := e.others()
	part := ""
	if e.Part != "" {
		part = "in " + e.Part + ": "
	}
	if e.Expected == "" {
		return part + e.File + others + ": nothing reads it"
	}
	return fmt.Sprintf("%s%s%s: not read, because the metadata name no such file: expected names like %s", part, e.File,
		others, e.Expected)
}

// others tells of the other files.
func (e *UnreadError) others() (others string) {
	switch {
	case e.Files == 2:
		others = ", and another file like it"
	case e.Files > 2:
		others = fmt.Sprintf(", and %d other files like it", e.Files-1)
	}
	if e.More {
		others += ", and maybe more"
	}
	return others
}

// Find yields the gaps of a source. It leaves out what cannot be listed: other functions report that.
func Find(root volume.Root, o Options) iter.Seq[Gap] {
	return func(yield func(Gap) bool) {
		for _, layer := range o.Unfinished {
			if !yield(Gap{Layer: layer, Err: ErrUnfinished, Fault: true}) {
				return
			}
		}
		for found := range parallel.InOrder(o.mags(root), atOnce, func(m namedMag) []Gap { return m.gaps(o) }) {
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

// mags yields the first mags that can be opened, up to the limits.
func (o Options) mags(root volume.Root) iter.Seq[namedMag] {
	return func(yield func(namedMag) bool) {
		n := 0
		of := func(name string, l volume.Layer) bool {
			names, _ := l.Mags()
			opened := 0
			for _, mag := range names {
				m, err := l.Mag(mag)
				if err != nil {
					continue
				}
				if n++; o.Mags > 0 && n > o.Mags || !yield(namedMag{name, mag, m}) {
					return false
				}
				if opened++; opened == o.MagsOfLayer {
					return true
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
	parts := partsOf(volume.MagPart{Mag: m.Mag}, 0)
	empty := len(parts) > 0
	for _, p := range parts {
		files := volume.IndexOf(p.Mag).Files
		if files == nil {
			empty = false
			continue
		}
		s := &search{CubeFiles: files(), names: o.Names}
		s.run()
		if s.unread.Files > 0 {
			s.unread.Part = p.Name
			found = append(found, Gap{Layer: m.layer, Mag: m.name, Err: &s.unread, Fault: s.isEmpty()})
		}
		if o.Others && s.others.Files > 0 {
			s.others.Part = p.Name
			found = append(found, Gap{Layer: m.layer, Mag: m.name, Err: &s.others, Other: true})
		}
		empty = empty && s.isEmpty()
	}
	if empty {
		found = append(found, Gap{Layer: m.layer, Mag: m.name, Err: ErrEmpty})
	}
	return found
}

// maxNested limits how deep mags may be made of others.
const maxNested = 8

// partsOf returns the mags with files that a mag is made of: itself, in most cases.
func partsOf(m volume.MagPart, depth int) (all []volume.MagPart) {
	parts := volume.IndexOf(m.Mag).Parts
	if len(parts) == 0 || depth == maxNested {
		return []volume.MagPart{m}
	}
	for _, p := range parts {
		all = append(all, partsOf(p, depth+1)...)
	}
	return all
}
