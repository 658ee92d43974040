package mosaic

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/access"
	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// survey is the state of all cubes of a mag at one time. It is immutable once it has been taken.
type survey struct {
	err    error       // why there is no grid or no bounding box
	grid   volume.Grid // of a cube
	bounds volume.Box  // of the layer, in absolute voxels of the mag

	// cubes has the version of each cube. It is nil if there are more than maxComplete cubes, or if a directory could
	// not be listed. Then any other cube may exist.
	cubes    *versions
	extent   volume.Box    // of the cubes, in cubes
	unlisted bool          // a directory could not be listed
	access   access.Access // allows users who may read all cubes and search their directories
	stored   int64         // stored bytes of all cubes
	newest   time.Time     // time of the last change of a cube

	taken time.Time     // start
	took  time.Duration // from start to end
}

// versions has the version of each cube that exists.
type versions map[volume.Vec]vfs.Version

// maxComplete is the largest number of cubes of which a survey keeps the versions. A survey takes some microseconds per cube.
const maxComplete = 20_000

// Versions that no cube file has.
var (
	absent     vfs.Version
	unreadable = vfs.Version{15: 1} // the cube exists but its version cannot be read
)

// versionOf returns the version of a cube from the result of its stat.
func versionOf(info fs.FileInfo, err error) vfs.Version {
	switch {
	case err == nil:
		return vfs.VersionOf(info)
	case errors.Is(err, fs.ErrNotExist):
		return absent
	}
	return unreadable
}

// surveying is a survey that is being taken. Many goroutines list directories and add what they find.
type surveying struct {
	mag    volume.Mag
	shared bool

	mu sync.Mutex // guards the survey
	*survey
}

// takeSurvey lists all cubes of a mag, many directories at a time. If shared, it also joins their access. It holds only
// some entries of the directories in memory.
func takeSurvey(mag volume.Mag, shared bool) *survey {
	s := &surveying{mag: mag, shared: shared, survey: &survey{access: access.Unrestricted, cubes: &versions{}, taken: time.Now()}}
	base, err := statMag(mag, shared)
	if err == nil {
		s.newest = base.ModTime()
	}
	s.joinAccess(base, err, shared)
	for range parallel.EachOf(s.rows, s.addRow) {
	}
	if s.grid, s.err = mag.CubeGrid(); s.err == nil {
		s.bounds, s.err = s.boundsOf(mag)
	}
	s.took = time.Since(s.taken)
	return s.survey
}

// planes yields each z that has cubes.
func (s *surveying) planes(yield func(z int) bool) {
	s.eachDir(level{more: true}, yield)
}

// rows yields each z and y that has cubes. x is 0.
func (s *surveying) rows(yield func(volume.Vec) bool) {
	for z, ys := range parallel.EachOf(s.planes, func(z int) level { return s.addDirs(z) }) {
		if !s.eachDir(ys, func(y int) bool { return yield(volume.Vec{1: y, 2: z}) }, z) {
			return
		}
	}
}

// level is the start of a directory of the index of cubes.
type level struct {
	numbers []int // the first piece
	more    bool  // there are other pieces
}

// addDirs adds the first piece of a directory of directories.
func (s *surveying) addDirs(zy ...int) (l level) {
	first := true
	for entries, err := range volume.DescribeCubes(s.mag, zy...) {
		if !first {
			l.more = true
			break
		}
		l.numbers, first = s.addEntries(entries, err), false
	}
	return l
}

// eachDir yields the numbers of a directory of directories. If l has only a part, it adds all pieces again, which does
// not change what the survey has of the first one. It returns false if yield does.
func (s *surveying) eachDir(l level, yield func(int) bool, zy ...int) bool {
	pieces := func(yield func([]int) bool) { yield(l.numbers) }
	if l.more {
		pieces = func(yield func([]int) bool) {
			for entries, err := range volume.DescribeCubes(s.mag, zy...) {
				if !yield(s.addEntries(entries, err)) {
					return
				}
			}
		}
	}
	for numbers := range pieces {
		for _, n := range numbers {
			if !yield(n) {
				return false
			}
		}
	}
	return true
}

// addEntries adds directories of the index and returns their numbers.
func (s *surveying) addEntries(entries []volume.CubeEntry, err error) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.setUnlisted()
	}
	numbers := make([]int, len(entries))
	for i, e := range entries {
		numbers[i] = e.N
		s.joinAccess(e.Info, e.Err, s.shared)
	}
	return numbers
}

// addRow adds the cubes of a directory z, y.
func (s *surveying) addRow(row volume.Vec) struct{} {
	for entries, err := range volume.DescribeCubes(s.mag, row[2], row[1]) {
		s.addCubes(row, entries, err)
	}
	return struct{}{}
}

// addCubes adds cube files of a directory z, y.
func (s *surveying) addCubes(row volume.Vec, entries []volume.CubeEntry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.setUnlisted()
	}
	for _, e := range entries {
		s.addCube(row.Add(volume.Vec{e.N}), e, s.shared)
	}
}

// statMag is StatMag if others share the mag.
func statMag(mag volume.Mag, shared bool) (fs.FileInfo, error) {
	if shared {
		return StatMag(mag)
	}
	return mag.Stat()
}

// StatMag describes the directory of a mag, with permissions for users who may also read the metadata that its voxels depend
// on.
func StatMag(mag volume.Mag) (fs.FileInfo, error) {
	info, err := mag.Stat()
	m, ok := mag.(volume.MetadataStater)
	if err != nil || !ok {
		return info, err
	}
	for _, file := range m.StatMetadata() {
		info = access.Of(file).Restrict(info)
	}
	return info, nil
}

// boundsOf returns the bounding box of the layer. Some mags compute it from the cubes.
func (s *survey) boundsOf(mag volume.Mag) (volume.Box, error) {
	if m, ok := mag.(volume.CubeBounder); ok && !s.unlisted {
		return m.BoundsOfCubes(s.extent)
	}
	return mag.Bounds()
}

// setUnlisted records that a directory could not be listed. Its cubes must not be treated as absent.
func (s *survey) setUnlisted() { s.cubes, s.unlisted = nil, true }

func (s *survey) addCube(c volume.Vec, e volume.CubeEntry, shared bool) {
	s.extent = s.extent.Union(c.Box())
	if s.cubes != nil {
		if (*s.cubes)[c] = versionOf(e.Info, e.Err); len(*s.cubes) > maxComplete {
			s.cubes = nil
		}
	}
	if e.Err != nil {
		return
	}
	s.joinAccess(e.Info, nil, shared)
	s.stored += vfs.StoredOf(e.Info)
	if e.Info.ModTime().After(s.newest) {
		s.newest = e.Info.ModTime()
	}
}

// joinAccess restricts the access to users who may read a cube, or search a directory. Entries that cannot be
// described do not count: reading them fails for every user.
func (s *survey) joinAccess(info fs.FileInfo, err error, shared bool) {
	if err == nil && shared {
		s.access = s.access.And(access.Of(info))
	}
}

// agrees reports whether two surveys found the same in a box of cubes. It compares bounding boxes if whole. It
// compares the versions of cubes if both surveys have them.
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

// same reports whether v and o have the same cubes in a box, in the same versions.
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
		if v[c] != version && box.Contains(c) {
			return false
		}
	}
	return true
}
