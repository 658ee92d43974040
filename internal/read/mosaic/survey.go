package mosaic

import (
	"errors"
	"io/fs"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// survey is the state of all cubes of a mag at one time. It is immutable once it has been taken.
type survey struct {
	err    error       // why there is no grid or no bounding box
	grid   volume.Grid // of a cube
	bounds volume.Box  // of the layer, in absolute voxels of the mag

	// cubes has the version of each cube. It is nil if there are too many cubes, or if a directory could
	// not be listed. Then any other cube may exist.
	cubes    *versions
	extent   volume.Box    // of the cubes, in cubes
	unlisted bool          // a directory could not be listed
	access   access.Access // allows users who may read all cubes and search their directories
	stored   int64         // stored bytes of all cubes
	newest   time.Time     // time of the last change of a cube

	ttl.Answer // when it was taken

	generation uint64 // of the mag, when the survey was started
}

func (s *survey) counts() bool { return s != nil && s.Counts() }

// versions has the version of each cube that exists.
type versions map[volume.Vec]vfs.Version

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

// agrees reports whether two surveys found the same in a box of cubes. It compares bounding boxes if whole. It
// compares the versions of cubes if both surveys have them.
func (s *survey) agrees(o *survey, cubes volume.Box, whole bool) bool {
	switch {
	case s == o:
		return true
	case s.err != nil || o.err != nil || s.grid != o.grid || s.access != o.access ||
		(s.cubes == nil) != (o.cubes == nil):
		return false
	case whole && s.bounds != o.bounds:
		return false
	}
	return s.cubes == o.cubes || s.cubes.same(*o.cubes, cubes)
}

// same reports whether v and o have the same cubes in a box, in the same versions.
func (v versions) same(o versions, box volume.Box) bool {
	if hasAtMost(box, len(v)) {
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
