package mosaic

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// DurableVersion identifies what the Mosaic shows beyond the end of the process: a Mosaic of the same mag has the same
// durable version if all cubes and all metadata are the same, in this process or another.
//
// Where that cannot be known, it is Version: if there are more than 20,000 cubes, if one of them cannot be described,
// or if the metadata changed about when this process read them or later.
func (m *Mosaic) DurableVersion() vfs.Version {
	m.durableOnce.Do(func() {
		m.durable = m.version // also after a panic
		if v, ok := m.digest(settled); ok {
			m.durable = v
		}
	})
	return m.durable
}

// ContentVersion identifies what the Mosaic shows in this process: another Mosaic of the same mag has the same version
// if it shows the same, with the same permissions. It is Version if there are more than 20,000 cubes, or if one of them
// cannot be described.
func (m *Mosaic) ContentVersion() vfs.Version {
	m.contentOnce.Do(func() {
		m.content = m.version // also after a panic
		if v, ok := m.digest(func(fs.FileInfo) bool { return true }); ok {
			sum := sha256.Sum256(fmt.Appendf(v[:], "%v", m.snapshot.survey.access))
			m.content = vfs.Version(sum[:len(v)])
		}
	})
	return m.content
}

// digest returns a hash of all that determines the voxels. usable reports whether a file of metadata is what the
// process has read.
func (m *Mosaic) digest(usable func(fs.FileInfo) bool) (v vfs.Version, ok bool) {
	if !m.snapshot.complete() {
		return v, false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%v %v %v", m.cube, m.bounds, m.mag.About())
	for _, file := range volume.StatMetadata(m.mag) {
		if !usable(file) {
			return v, false
		}
		fmt.Fprintf(h, " %x", vfs.VersionOf(file))
	}
	cubes := *m.snapshot.survey.cubes
	for _, c := range slices.SortedFunc(maps.Keys(cubes),
		func(a, b volume.Vec) int { return slices.Compare(a[:], b[:]) }) {
		if cubes[c] == unreadable {
			return v, false
		}
		fmt.Fprintf(h, " %v %x", c, cubes[c])
	}
	return vfs.Version(h.Sum(nil)[:len(v)]), true
}

// settleTime is longer than the steps of clocks that files have.
const settleTime = 2 * time.Second

// settled reports whether a file has not changed since this process started, so that it is what the process has read.
func settled(file fs.FileInfo) bool {
	limit := time.Unix(0, started).Add(-settleTime)
	if st, ok := file.Sys().(*syscall.Stat_t); ok {
		if _, _, change := vfs.StatTimes(st); !time.Unix(change.Unix()).Before(limit) {
			return false
		}
	}
	return file.ModTime().Before(limit)
}
