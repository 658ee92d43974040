package mosaic

import (
	"io/fs"
	"iter"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
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

// takeSurvey lists all cubes of a mag, many directories at a time. It keeps the versions of all cubes if there are at
// most most of them. If shared, it also joins their access. It holds only some entries of the directories in memory.
func takeSurvey(mag volume.Mag, shared bool, most int) *survey {
	s := &surveying{mag: mag, shared: shared, most: most, survey: &survey{
		access: access.Unrestricted, cubes: &versions{}, Answer: ttl.Ask(), generation: vfs.GenerationOf(mag),
	}}
	base, err := s.statMag()
	if err == nil {
		s.newest = base.ModTime()
	}
	s.joinAccess(base, err)
	for range volume.Walk(s.list, volume.Everywhere()) {
	}
	if s.grid, s.err = mag.CubeGrid(); s.err == nil {
		s.bounds, s.err = s.layerBounds()
	}
	s.End()
	return s.survey
}

// list adds a level of the index of cubes, and yields the numbers of its directories. If it adds directories again,
// that does not change the survey.
func (s *surveying) list(zy ...int) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		for entries, err := range volume.DescribeCubes(s.mag, zy...) {
			if len(zy) == 2 {
				s.addCubes(volume.Vec{1: zy[1], 2: zy[0]}, entries, err)
			} else if !yield(s.addEntries(entries, err), nil) {
				return
			}
		}
	}
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
	if bounds := volume.IndexOf(s.mag).Bounds; bounds != nil && !s.unlisted {
		return bounds(s.extent)
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
