package mosaic

import (
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// snapshot is the versions of the cubes of a mag that belong together. If its survey is complete, all other cubes are
// absent. Else the snapshot pins the version of each cube when the cube is first needed.
type snapshot struct {
	mag    volume.Mag
	survey *survey
	most   int      // cubes that are few: see limits
	pinned sync.Map // volume.Vec → *pin; empty if the survey is complete
}

// pin is the version of a cube since it was first needed.
type pin struct {
	version vfs.Version

	mu      sync.Mutex
	checked time.Time // when the source last had this version
}

// complete reports whether the snapshot knows the versions of all cubes.
func (s *snapshot) complete() bool { return s.survey.cubes != nil }

// version returns the version of a cube. known is false if it is not pinned yet. version takes no lock.
func (s *snapshot) version(c volume.Vec) (v vfs.Version, known bool) {
	if s.complete() {
		return (*s.survey.cubes)[c], true
	}
	p, ok := s.pinned.Load(c)
	if !ok {
		return absent, false
	}
	return p.(*pin).version, true
}

// pin sets the version of a cube, unless it is known.
func (s *snapshot) pin(c volume.Vec, v vfs.Version) {
	if !s.complete() {
		s.pinned.LoadOrStore(c, &pin{version: v, checked: time.Now()})
	}
}

// isFew reports whether a box has few positions.
func (s *snapshot) isFew(cubes volume.Box) bool { return hasAtMost(cubes, s.most) }

// hasAtMost reports whether a box has at most n positions. The product of its sides may overflow.
func hasAtMost(b volume.Box, n int) bool {
	s := b.Size()
	return s[0] <= n && s[1] <= n && s[2] <= n && s[0]*s[1]*s[2] <= n
}

// hasFew reports whether a box has few cubes.
func (s *snapshot) hasFew(cubes volume.Box) bool {
	return s.isFew(cubes) || s.complete() && len(s.few(cubes)) <= s.most
}

// few returns the cubes of a complete snapshot in a box, up to one more than are few.
func (s *snapshot) few(cubes volume.Box) (found []volume.Vec) {
	for c := range *s.survey.cubes {
		if cubes.Contains(c) {
			if found = append(found, c); len(found) > s.most {
				break
			}
		}
	}
	return found
}

// mayExist returns the positions in a box that has few cubes, without those of cubes known to be absent.
func (s *snapshot) mayExist(cubes volume.Box) (found []volume.Vec) {
	if !s.isFew(cubes) {
		return s.few(cubes)
	}
	for c := range cubes.All() {
		if v, known := s.version(c); !known || v != absent {
			found = append(found, c)
		}
	}
	return found
}

// matches reports whether the source still has the same versions of the cubes in a box that has few.
func (s *snapshot) matches(cubes volume.Box) bool {
	if !s.isFew(cubes) {
		return s.matchesListing(cubes)
	}
	return all(slices.Collect(cubes.All()), func(c volume.Vec) bool {
		v, known := s.version(c)
		return !known || s.sourceVersion(c) == v || v == absent && !s.isListed(c)
	})
}

// matchesListing is matches for a box of many positions with few cubes: it lists the cubes.
func (s *snapshot) matchesListing(cubes volume.Box) bool {
	for c, err := range volume.CubesIn(s.mag, cubes) {
		if v, _ := s.version(c); err != nil || v == absent {
			return false
		}
	}
	return all(s.few(cubes), func(c volume.Vec) bool {
		v, _ := s.version(c)
		return s.sourceVersion(c) == v
	})
}

// pinsMatch reports whether the source still has the pinned versions of the cubes in a box. It does not check pins that
// were checked less than maxAge ago.
func (s *snapshot) pinsMatch(cubes volume.Box, maxAge time.Duration) bool {
	var pins []volume.Vec
	s.pinned.Range(func(c, _ any) bool {
		if cubes.Contains(c.(volume.Vec)) {
			pins = append(pins, c.(volume.Vec))
		}
		return true
	})
	return all(pins, func(c volume.Vec) bool { return s.pinMatches(c, maxAge) })
}

func (s *snapshot) pinMatches(c volume.Vec, maxAge time.Duration) bool {
	found, _ := s.pinned.Load(c)
	p := found.(*pin)
	p.mu.Lock()
	defer p.mu.Unlock()
	start := time.Now()
	if start.Sub(p.checked) <= maxAge {
		return true
	}
	if s.sourceVersion(c) != p.version {
		return false
	}
	p.checked = start
	return true
}

// isListed reports whether the mag lists the cube. Some sources find cubes by name that they do not list. No survey has
// those.
func (s *snapshot) isListed(c volume.Vec) bool {
	for range volume.CubesIn(s.mag, c.BoxOfOne()) {
		return true
	}
	return false
}

// sourceVersion returns the version that the source has of a cube now.
func (s *snapshot) sourceVersion(c volume.Vec) vfs.Version {
	return versionOf(s.mag.StatCubes(c[2], c[1], c[0]))
}
