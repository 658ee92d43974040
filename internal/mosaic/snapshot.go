package mosaic

import (
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// snapshot is which version of each cube of a mag belongs together. If the survey that it was made of is complete, what that
// does not know is absent. Else the snapshot knows just the cubes that were needed, each since then.
type snapshot struct {
	mag    volume.Mag
	survey *survey
	pinned sync.Map // if the survey is not complete: volume.Vec → *pin
}

// pin is the version of a cube since it was first needed.
type pin struct {
	version vfs.Version

	mu     sync.Mutex
	looked time.Time // when the source was last seen to have this version
}

// complete reports whether the snapshot knows the versions of all cubes.
func (s *snapshot) complete() bool { return s.survey.cubes != nil }

// version returns which version of the cube belongs to the snapshot; false where that
// is not decided yet. It takes no lock.
func (s *snapshot) version(c volume.Vec) (vfs.Version, bool) {
	if s.complete() {
		return (*s.survey.cubes)[c], true
	}
	p, ok := s.pinned.Load(c)
	if !ok {
		return absent, false
	}
	return p.(*pin).version, true
}

// pin decides the version of a cube, if that is not decided.
func (s *snapshot) pin(c volume.Vec, v vfs.Version) {
	if !s.complete() {
		s.pinned.LoadOrStore(c, &pin{version: v, looked: time.Now()})
	}
}

// few is up to how many cubes are looked at one by one.
const few = 64

// isFew reports whether there are few positions in a box.
func isFew(cubes volume.Box) bool {
	n := cubes.Size()
	return n[0] <= few && n[1] <= few && n[2] <= few && n[0]*n[1]*n[2] <= few
}

// hasFew reports whether there are few cubes in a box.
func (s *snapshot) hasFew(cubes volume.Box) bool {
	if isFew(cubes) {
		return true
	}
	return s.complete() && len(s.few(cubes)) <= few
}

// few returns the cubes of a complete snapshot that lie in a box, but no more than few and one.
func (s *snapshot) few(cubes volume.Box) (found []volume.Vec) {
	for c := range *s.survey.cubes {
		if c.Sub(cubes.Min).In(cubes.Size()) {
			if found = append(found, c); len(found) > few {
				break
			}
		}
	}
	return found
}

// known returns the cubes of a box that has few, as far as they are known not to be absent.
func (s *snapshot) known(cubes volume.Box) (found []volume.Vec) {
	if !isFew(cubes) {
		return s.few(cubes)
	}
	for c := range cubes.All() {
		if v, decided := s.version(c); !decided || v != absent {
			found = append(found, c)
		}
	}
	return found
}

// holds looks at each of a few cubes, and reports whether the source still has the versions of the snapshot.
func (s *snapshot) holds(cubes volume.Box) bool {
	if !isFew(cubes) {
		return s.holdsAmongMany(cubes)
	}
	for _, same := range parallel.Each(slices.Collect(cubes.All()), func(c volume.Vec) bool {
		v, ok := s.version(c)
		return !ok || s.now(c) == v || v == absent && !s.listed(c)
	}) {
		if !same {
			return false
		}
	}
	return true
}

// holdsAmongMany is holds for many positions with few cubes: these are listed.
func (s *snapshot) holdsAmongMany(cubes volume.Box) bool {
	for c, err := range volume.CubesIn(s.mag, cubes) {
		if v, _ := s.version(c); err != nil || v == absent {
			return false
		}
	}
	for _, same := range parallel.Each(s.few(cubes), func(c volume.Vec) bool {
		v, _ := s.version(c)
		return s.now(c) == v
	}) {
		if !same {
			return false
		}
	}
	return true
}

// pinsHold looks at all cubes in the box that were pinned, but for those that were looked at no longer than some time ago, and
// reports whether the source still has their versions.
func (s *snapshot) pinsHold(cubes volume.Box, believed time.Duration) bool {
	var pins []volume.Vec
	s.pinned.Range(func(c, _ any) bool {
		if c.(volume.Vec).Sub(cubes.Min).In(cubes.Size()) {
			pins = append(pins, c.(volume.Vec))
		}
		return true
	})
	for _, same := range parallel.Each(pins, func(c volume.Vec) bool { return s.pinHolds(c, believed) }) {
		if !same {
			return false
		}
	}
	return true
}

func (s *snapshot) pinHolds(c volume.Vec, believed time.Duration) bool {
	found, _ := s.pinned.Load(c)
	p := found.(*pin)
	p.mu.Lock()
	defer p.mu.Unlock()
	start := time.Now()
	if start.Sub(p.looked) <= believed {
		return true
	}
	if s.now(c) != p.version {
		return false
	}
	p.looked = start
	return true
}

// listed reports whether the cube is one of those that the mag lists. Some sources
// find cubes by name that they do not list: those were never met.
func (s *snapshot) listed(c volume.Vec) bool {
	for range volume.CubesIn(s.mag, volume.Box{Min: c, Max: c.Add(volume.Cube(1))}) {
		return true
	}
	return false
}

// now returns the version that the source has of the cube.
func (s *snapshot) now(c volume.Vec) vfs.Version {
	return versionOf(s.mag.StatCubes(c[2], c[1], c[0]))
}
