package mosaic

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// survey is what files that are made of many cubes have from all of them.
type survey struct {
	stored int64     // bytes that they take where they are stored
	newest time.Time // when the last of them was changed
	access access
}

// access says who may read something, in the terms of permission bits.
type access struct {
	uid, gid uint32
	perm     fs.FileMode // of 0o444
}

// accessOf returns who may read a file, or search a directory.
func accessOf(info fs.FileInfo) access {
	var a access
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		a.uid, a.gid = st.Uid, st.Gid
	}
	perm := info.Mode().Perm()
	if info.IsDir() {
		perm <<= 2 // to search is to read what is below
	}
	a.perm = perm & 0o444
	return monotone(a)
}

// monotone lets bits that forbid to the owner or the group what they allow to others
// forbid it to all: there is no other way to say so once owners are joined.
func monotone(a access) access {
	if a.perm&0o400 == 0 {
		a.perm &^= 0o040
	}
	if a.perm&0o040 == 0 {
		a.perm &^= 0o004
	}
	return a
}

// and returns who may read both: at most those, and not all of them where the owners
// or groups differ.
func (a access) and(b access) access {
	const everybody = 0o444
	switch {
	case b.perm == everybody:
		return a // whoever they belong to
	case a.perm == everybody:
		return b
	}
	c := access{a.uid, a.gid, a.perm & b.perm}
	if a.uid != b.uid {
		c.uid = 0
	}
	if a.gid != b.gid {
		c.gid = 0
		c.perm = c.perm&^0o040 | c.perm&0o004<<3
	}
	return c
}

// surveyor takes a survey of a mag, and another one now and then.
type surveyor struct {
	mag  volume.Mag
	last atomic.Pointer[dated]

	taking sync.Mutex // held while a survey is taken, and by those only that need a fresh one
}

// dated is a survey and when it was taken.
type dated struct {
	survey
	taken time.Time
	took  time.Duration
}

// A survey is believed for a second, or longer where there are so many cubes that to
// take one is work: then for as much as makes it a twentieth of the time.
const (
	surveyBelieved = time.Second
	surveyShare    = 20
)

func (d *dated) old() bool { return time.Since(d.taken) > max(surveyBelieved, surveyShare*d.took) }

// fresh returns what is known of all cubes of the mag, and the directories that they are in, as of about now.
func (s *surveyor) fresh() survey {
	if last := s.last.Load(); !last.old() {
		return last.survey
	}
	s.taking.Lock()
	defer s.taking.Unlock()
	if s.last.Load().old() {
		s.take(nil)
	}
	return s.latest()
}

// latest returns what the last survey found, without a look at the source.
func (s *surveyor) latest() survey { return s.last.Load().survey }

// take takes a survey and tells a snapshot of each cube that it meets.
func (s *surveyor) take(meet *snapshot) {
	start := time.Now()
	d := &dated{survey: takeSurvey(s.mag, meet)}
	d.taken = time.Now()
	d.took = d.taken.Sub(start)
	s.last.Store(d)
}

func takeSurvey(mag volume.Mag, meet *snapshot) survey {
	s := survey{access: access{perm: 0o444}}
	join := func(info fs.FileInfo, err error) {
		if err == nil { // else it cannot be read, by whomever
			s.access = s.access.and(accessOf(info))
		}
	}
	base, err := mag.Stat()
	join(base, err)
	if err == nil {
		s.newest = base.ModTime()
	}
	z, y := -1, -1
	for c, err := range volume.AllCubes(mag) {
		if err != nil {
			meet.giveUp() // its cubes would pass for absent ones
			continue
		}
		if c[2] != z {
			join(mag.StatCubes(c[2]))
		}
		if c[2] != z || c[1] != y {
			join(mag.StatCubes(c[2], c[1]))
		}
		z, y = c[2], c[1]
		info, err := mag.StatCubes(c[2], c[1], c[0])
		meet.add(c, versionOf(info, err))
		if err != nil {
			continue
		}
		join(info, nil)
		s.stored += vfs.StoredOf(info)
		if info.ModTime().After(s.newest) {
			s.newest = info.ModTime()
		}
	}
	return s
}

// covers reports whether the survey's access promises nobody more than a cube, or a
// directory, allows.
func (s survey) covers(info fs.FileInfo) bool { return s.access.and(accessOf(info)) == s.access }

// made describes what the files made of a mag's cubes have in common: the mag's
// directory, but with the access and time of the survey.
type made struct {
	fs.FileInfo
	s survey
}

// Info describes what files made of the mosaic are made of: the mag's directory, with the access that all cubes
// allow and the time of the newest one.
func (m *Mosaic) Info() (fs.FileInfo, error) {
	base, err := m.mag.Stat()
	if err != nil {
		return nil, err
	}
	return made{base, m.surveys.fresh()}, nil
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
	return int64(float64(m.surveys.latest().stored) * fraction)
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
	changed.Uid, changed.Gid = i.s.access.uid, i.s.access.gid
	changed.Mtim = syscall.NsecToTimespec(i.s.newest.UnixNano())
	return &changed
}
