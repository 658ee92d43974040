package mosaic

import (
	"errors"
	"io/fs"
	"time"

	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// survey is what one look at all cubes of a mag found. It does not change any more.
type survey struct {
	err    error       // why there is no grid or no bounding box
	grid   volume.Grid // of a cube
	bounds volume.Box  // of the layer, in absolute voxels of the mag

	// cubes has the version of each cube. It is nil if there are more than maxComplete, or some are lost: then what is not known
	// may exist.
	cubes  *versions
	extent volume.Box // of the cubes
	lost   bool       // a directory could not be listed
	access access     // who may read all cubes and their directories
	stored int64      // bytes that the cubes take where they are stored
	newest time.Time  // when the last of them was changed

	taken time.Time
	took  time.Duration
}

// versions has the version of each cube that there is.
type versions map[volume.Vec]vfs.Version

// maxComplete is how many cubes a survey remembers. To take one takes some microseconds a cube.
const maxComplete = 20_000

// Versions of what has none.
var (
	absent     vfs.Version
	unreadable = vfs.Version{15: 1} // there, but nobody can tell what it is
)

// versionOf returns the version of a cube by what was said when it was looked at.
func versionOf(info fs.FileInfo, err error) vfs.Version {
	switch {
	case err == nil:
		return vfs.VersionOf(info)
	case errors.Is(err, fs.ErrNotExist):
		return absent
	}
	return unreadable
}

// takeSurvey looks at all cubes of a mag and, if others may read what is made of them, joins their access. It lists
// many directories at once.
func takeSurvey(mag volume.Mag, shared bool) *survey {
	s := &survey{access: everybody, cubes: &versions{}, taken: time.Now()}
	base, err := mag.Stat()
	if err == nil {
		s.newest = base.ModTime()
	}
	s.join(base, err, shared)
	var rows []volume.Vec // of which x is 0
	for z, ys := range parallel.Each(s.level(mag, shared), func(z int) level { return listLevel(mag, z) }) {
		for _, y := range s.add(ys, shared) {
			rows = append(rows, volume.Vec{1: y, 2: z})
		}
	}
	for row, xs := range parallel.Each(rows, func(r volume.Vec) level { return listLevel(mag, r[2], r[1]) }) {
		if xs.err != nil {
			s.lose()
		}
		for _, e := range xs.entries {
			s.addCube(row.Add(volume.Vec{e.N}), e, shared)
		}
	}
	if s.grid, s.err = mag.CubeGrid(); s.err == nil {
		s.bounds, s.err = s.boundsOf(mag)
	}
	s.took = time.Since(s.taken)
	return s
}

// boundsOf returns the bounding box of the layer, which may have to be found from the cubes.
func (s *survey) boundsOf(mag volume.Mag) (volume.Box, error) {
	if m, ok := mag.(volume.CubeBounder); ok && !s.lost {
		return m.BoundsOfCubes(s.extent)
	}
	return mag.Bounds()
}

// level is a directory of the index of cubes, or why it cannot be listed.
type level struct {
	entries []volume.CubeEntry
	err     error
}

func listLevel(mag volume.Mag, zy ...int) level {
	entries, err := volume.DescribeCubes(mag, zy...)
	return level{entries, err}
}

// level lists the directories at the top of the index.
func (s *survey) level(mag volume.Mag, shared bool) []int { return s.add(listLevel(mag), shared) }

// add adds a listing of directories, and returns their numbers.
func (s *survey) add(l level, shared bool) []int {
	if l.err != nil {
		s.lose()
	}
	numbers := make([]int, len(l.entries))
	for i, e := range l.entries {
		numbers[i] = e.N
		s.join(e.Info, e.Err, shared)
	}
	return numbers
}

// lose records that a directory could not be listed: the cubes in it must not pass for absent ones.
func (s *survey) lose() { s.cubes, s.lost = nil, true }

func (s *survey) addCube(c volume.Vec, e volume.CubeEntry, shared bool) {
	s.extent = s.extent.Union(volume.Box{Min: c, Max: c.Add(volume.Cube(1))})
	if s.cubes != nil {
		if (*s.cubes)[c] = versionOf(e.Info, e.Err); len(*s.cubes) > maxComplete {
			s.cubes = nil
		}
	}
	if e.Err != nil {
		return
	}
	s.join(e.Info, nil, shared)
	s.stored += vfs.StoredOf(e.Info)
	if e.Info.ModTime().After(s.newest) {
		s.newest = e.Info.ModTime()
	}
}

// join leaves out of the access who may not read a cube or a directory. What cannot be read by anybody does not count.
func (s *survey) join(info fs.FileInfo, err error, shared bool) {
	if err == nil && shared {
		s.access = s.access.and(accessOf(info))
	}
}

// agrees reports whether what is shown of some cubes by one survey is so in the other, too. The versions of cubes are not
// compared unless both are complete.
func (s *survey) agrees(o *survey, cubes volume.Box, whole bool) bool {
	switch {
	case s == o:
		return true
	case s.err != nil || o.err != nil || s.grid != o.grid || s.access != o.access || (s.cubes == nil) != (o.cubes == nil):
		return false
	case whole && s.bounds != o.bounds:
		return false
	}
	return s.cubes == o.cubes || s.cubes.same(*o.cubes, cubes)
}

// same reports whether the cubes in a box are the same, in the same versions.
func (v versions) same(o versions, box volume.Box) bool {
	if n := box.Size(); n[0] <= len(v) && n[1] <= len(v) && n[2] <= len(v) && n[0]*n[1]*n[2] <= len(v) {
		for c := range box.All() {
			if v[c] != o[c] {
				return false
			}
		}
		return true
	}
	return v.hasAll(o, box) && o.hasAll(v, box)
}

// hasAll reports whether v has all cubes of o that lie in a box, in the same versions.
func (v versions) hasAll(o versions, box volume.Box) bool {
	for c, version := range o {
		if v[c] != version && c.Sub(box.Min).In(box.Size()) {
			return false
		}
	}
	return true
}
