package mosaic

import (
	"time"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Current reports whether the snapshot of a box, in absolute voxels of the mag, still matches the source. Changes of
// cubes outside of the box do not count. A new cube in the box counts, even outside of bounds that were computed from
// the cubes.
//
// If the box has few cubes and the source does not answer late, Current checks each of them. Else it compares the
// snapshot with the last valid survey.
func (m *Mosaic) Current(box volume.Box) bool {
	whole := box == m.bounds
	local := m.Local(box)
	cubes := local.Div(m.cube.Size)
	switch {
	case m.outdated.Load():
		return false
	case m.snapshot.hasFew(cubes) && !vfs.SpeedOf(m.mag).Late:
		return m.matchesSource(cubes, whole)
	}
	s := m.surveyor.valid()
	complete := m.snapshot.complete()
	return m.snapshot.survey.agrees(s, cubes, whole || !complete) &&
		(complete || m.snapshot.pinsMatch(cubes, s.Lifetime()))
}

// matchesSource compares the geometry, the bounding box and a few cubes with the source.
func (m *Mosaic) matchesSource(cubes volume.Box, whole bool) bool {
	g, err := m.mag.CubeGrid()
	if err != nil || g != m.cube {
		return false
	}
	if (whole || !m.snapshot.complete()) && !m.boundsMatch(whole) {
		return false
	}
	return m.snapshot.matches(cubes) && m.directoriesAllow(cubes)
}

// boundsMatch reports whether the bounding box is still the same. Some mags compute it from all cubes, so files of a
// part compare it only once per second.
func (m *Mosaic) boundsMatch(whole bool) bool {
	if now := time.Now().UnixNano(); !whole && now-m.boundsChecked.Load() < int64(time.Second) {
		return true
	}
	bounds, err := m.mag.Bounds()
	m.boundsChecked.Store(time.Now().UnixNano())
	return err == nil && bounds == m.bounds
}

// directoriesAllow reports whether the directories of the cubes still allow all users who may read the whole. Missing
// directories do not count: they have no cube to read.
func (m *Mosaic) directoriesAllow(cubes volume.Box) bool {
	if !m.surveyor.shared {
		return true
	}
	var dirs [][]int // z, or z and y
	zs, rows := map[int]bool{}, map[[2]int]bool{}
	for _, c := range m.snapshot.mayExist(cubes) {
		if z := c[2]; !zs[z] {
			zs[z] = true
			dirs = append(dirs, []int{z})
		}
		if row := [2]int{c[2], c[1]}; !rows[row] {
			rows[row] = true
			dirs = append(dirs, row[:])
		}
	}
	access := m.surveyor.last().access
	return all(dirs, func(dir []int) bool {
		info, err := m.mag.StatCubes(dir...)
		return err != nil || access.Within(info)
	})
}

// all reports whether ok is true for every item. It calls ok for many items at once.
func all[T any](items []T, ok func(T) bool) bool {
	for _, is := range parallel.Each(items, ok) {
		if !is {
			return false
		}
	}
	return true
}
