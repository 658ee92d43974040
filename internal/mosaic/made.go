package mosaic

import (
	"io/fs"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// made describes what the files made of a mag's cubes have in common: the mag's
// directory, but with the access and time of the survey.
type made struct {
	fs.FileInfo
	s      *survey
	shared bool
}

// Info describes what files made of the mosaic are made of: the mag's directory, with the access that all cubes
// allow and the time of the newest one.
func (m *Mosaic) Info() (fs.FileInfo, error) {
	base, err := m.mag.Stat()
	if err != nil {
		return nil, err
	}
	return made{base, m.watch.fresh(), m.watch.shared}, nil
}

// Share returns how many bytes the voxels of the box, in absolute voxels of the mag, take where they are stored: of what
// all cubes take, the part that the box is of the whole.
func (m *Mosaic) Share(box volume.Box) int64 {
	part, whole := box.Intersect(m.bounds).Size(), m.bounds.Size()
	if box.Intersect(m.bounds).Empty() {
		return 0
	}
	fraction := 1.0
	for axis := range 3 {
		fraction *= float64(part[axis]) / float64(whole[axis])
	}
	return int64(float64(m.watch.latest().stored) * fraction)
}

func (i made) Mode() fs.FileMode  { return i.s.access.perm }
func (i made) ModTime() time.Time { return i.s.newest }
func (i made) IsDir() bool        { return false }

// Sys returns the operating system's description of the directory, changed likewise.
func (i made) Sys() any {
	st, ok := i.FileInfo.Sys().(*syscall.Stat_t)
	if !ok {
		return i.FileInfo.Sys()
	}
	changed := *st
	if i.shared {
		changed.Uid, changed.Gid = i.s.access.uid, i.s.access.gid
	}
	changed.Mtim = syscall.NsecToTimespec(i.s.newest.UnixNano())
	return &changed
}
