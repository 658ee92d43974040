package mosaic

import (
	"io/fs"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// surveying is a survey that is being taken. Many goroutines list directories and add what they find.
type surveying struct {
	mag    volume.Mag
	shared bool
	most   int // it keeps the versions of at most this many cubes: see limits

	mu sync.Mutex // guards the survey
	*survey
}

// takeSurvey lists all cubes of a mag, many directories at a time. It keeps the versions of all cubes if there are at most most of
// them. If shared, it also joins their access. It holds only some entries of the directories in memory.
func takeSurvey(mag volume.Mag, shared bool, most int) *survey {
	s := &surveying{mag: mag, shared: shared, most: most, survey: &survey{
		access: access.Unrestricted, cubes: &versions{}, taken: time.Now(), generation: vfs.GenerationOf(mag),
	}}
	base, err := s.statMag()
	if err == nil {
		s.newest = base.ModTime()
	}
	s.joinAccess(base, err)
	for range parallel.EachOf(s.rows, s.addRow) {
	}
	if s.grid, s.err = mag.CubeGrid(); s.err == nil {
		s.bounds, s.err = s.layerBounds()
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
		s.joinAccess(e.Info, e.Err)
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
		s.addCube(row.Add(volume.Vec{e.N}), e)
	}
}

// statMag is StatMag if others share the mag.
func (s *surveying) statMag() (fs.FileInfo, error) {
	if s.shared {
		return StatMag(s.mag)
	}
	return s.mag.Stat()
}

// layerBounds returns the bounding box of the layer. Some mags compute it from the cubes.
func (s *surveying) layerBounds() (volume.Box, error) {
	if m, ok := s.mag.(volume.CubeBounder); ok && !s.unlisted {
		return m.BoundsOfCubes(s.extent)
	}
	return s.mag.Bounds()
}

// setUnlisted records that a directory could not be listed. Its cubes must not be treated as absent.
func (s *surveying) setUnlisted() { s.cubes, s.unlisted = nil, true }

func (s *surveying) addCube(c volume.Vec, e volume.CubeEntry) {
	s.extent = s.extent.Union(c.BoxOfOne())
	if s.cubes != nil {
		if (*s.cubes)[c] = versionOf(e.Info, e.Err); len(*s.cubes) > s.most {
			s.cubes = nil
		}
	}
	if e.Err != nil {
		return
	}
	s.joinAccess(e.Info, nil)
	s.stored += vfs.StoredOf(e.Info)
	if e.Info.ModTime().After(s.newest) {
		s.newest = e.Info.ModTime()
	}
}

// joinAccess restricts the access to users who may read a cube, or search a directory. Entries that cannot be
// described do not count: reading them fails for every user.
func (s *surveying) joinAccess(info fs.FileInfo, err error) {
	if err == nil && s.shared {
		s.access = s.access.And(access.Of(info))
	}
}
