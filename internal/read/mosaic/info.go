package mosaic

import (
	"io/fs"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// cubesInfo describes all cubes of a mag together: the directory of the mag, with the access and time of a survey.
type cubesInfo struct {
	fs.FileInfo
	survey *survey
	shared bool
}

// Info describes all cubes of the mosaic together, for files that are made of them. The result is the description of
// the mag's directory, but with the access that all cubes allow and the time of the newest cube.
func (m *Mosaic) Info() (fs.FileInfo, error) {
	base, err := m.mag.Stat()
	if err != nil {
		return nil, err
	}
	return cubesInfo{base, m.surveyor.valid(), m.surveyor.shared}, nil
}

// StatMag describes the directory of a mag, with permissions for users who may also read the metadata that its voxels
// depend on.
func StatMag(mag volume.Mag) (fs.FileInfo, error) {
	info, err := mag.Stat()
	if err != nil {
		return nil, err
	}
	for _, file := range volume.StatMetadata(mag) {
		info = access.Of(file).Restrict(info)
	}
	return info, nil
}

// Share estimates the stored bytes of a box, in absolute voxels of the mag: the stored bytes of all cubes, times the
// fraction of the bounding box that the box covers.
func (m *Mosaic) Share(box volume.Box) int64 {
	part := box.Intersect(m.bounds)
	if part.Empty() {
		return 0
	}
	fraction := 1.0
	for axis := range 3 {
		fraction *= float64(part.Size()[axis]) / float64(m.bounds.Size()[axis])
	}
	return int64(float64(m.surveyor.last().stored) * fraction)
}

func (i cubesInfo) Mode() fs.FileMode  { return i.survey.access.Perm }
func (i cubesInfo) ModTime() time.Time { return i.survey.newest }
func (i cubesInfo) IsDir() bool        { return false }

// Sys returns a copy of the directory's syscall.Stat_t with the same changes.
func (i cubesInfo) Sys() any {
	st, ok := i.FileInfo.Sys().(*syscall.Stat_t)
	if !ok {
		return i.FileInfo.Sys()
	}
	changed := *st
	if i.shared {
		changed.Uid, changed.Gid = i.survey.access.UID, i.survey.access.GID
	}
	_, modification, _ := vfs.StatTimes(&changed)
	*modification = syscall.NsecToTimespec(i.survey.newest.UnixNano())
	return &changed
}
