package mosaic

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// snapshot is which version of each cube of a mag belongs together. That of a mag of
// moderate size is complete: it was taken at once, and what it does not know is absent.
// Of a larger one it knows just the cubes that were needed, each since it was.
type snapshot struct {
	mag volume.Mag

	complete bool                       // while the snapshot is taken, that it may be
	all      map[volume.Vec]vfs.Version // of a complete one; it does not change any more
	pinned   sync.Map                   // of another one: volume.Vec → vfs.Version
}

// maxComplete is how many cubes a complete snapshot may have. To compare it with the
// source takes some microseconds a cube, whenever a file of the whole is opened.
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

// newSnapshot returns a snapshot that is to be told of all cubes.
func newSnapshot(mag volume.Mag) *snapshot {
	return &snapshot{mag: mag, complete: true, all: map[volume.Vec]vfs.Version{}}
}

// add tells of a cube, while the snapshot is taken. A nil snapshot does not listen.
func (s *snapshot) add(c volume.Vec, v vfs.Version) {
	if s == nil || !s.complete {
		return
	}
	if s.all[c] = v; len(s.all) > maxComplete {
		s.giveUp()
	}
}

// giveUp makes the snapshot one that knows only what is needed.
func (s *snapshot) giveUp() {
	if s != nil {
		s.complete = false
		clear(s.all)
	}
}

// version returns which version of the cube belongs to the snapshot; false where that
// is not decided yet. It takes no lock.
func (s *snapshot) version(c volume.Vec) (vfs.Version, bool) {
	if s.complete {
		return s.all[c], true
	}
	v, ok := s.pinned.Load(c)
	if !ok {
		return absent, false
	}
	return v.(vfs.Version), true
}

// pin decides the version of a cube, if that is not decided.
func (s *snapshot) pin(c volume.Vec, v vfs.Version) {
	if !s.complete {
		s.pinned.LoadOrStore(c, v)
	}
}

// few is up to how many positions are looked at one by one, without a listing.
const few = 64

// holds reports whether the source still has these versions of the cubes in the box.
func (s *snapshot) holds(cubes volume.Box) bool {
	if cubes.Empty() {
		return true
	}
	if n := cubes.Size(); n[0] <= few && n[1] <= few && n[2] <= few && n[0]*n[1]*n[2] <= few {
		for c := range cubes.All() {
			if v, ok := s.version(c); ok && s.now(c) != v && (v != absent || s.listed(c)) {
				return false
			}
		}
		return true
	}
	known := s.in(cubes)
	if !s.complete {
		return s.same(known)
	}
	for c, err := range volume.CubesIn(s.mag, cubes) {
		if _, ok := known[c]; err != nil || !ok {
			return false
		}
	}
	return s.same(known)
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

// same reports whether the source has these versions now.
func (s *snapshot) same(known map[volume.Vec]vfs.Version) bool {
	for c, v := range known {
		if s.now(c) != v {
			return false
		}
	}
	return true
}

// in returns what is decided of the cubes in the box.
func (s *snapshot) in(cubes volume.Box) map[volume.Vec]vfs.Version {
	found := map[volume.Vec]vfs.Version{}
	add := func(c, v any) bool {
		if c.(volume.Vec).Sub(cubes.Min).In(cubes.Size()) {
			found[c.(volume.Vec)] = v.(vfs.Version)
		}
		return true
	}
	for c, v := range s.all {
		add(c, v)
	}
	s.pinned.Range(add)
	return found
}
