//go:build linux

// Package mounts handles the mounts of this machine. It prepares mountpoints, checks whether
// mounts answer, and unmounts those of wkwfs.
//
// A mount may be dead, because its server was killed, or stuck, because its server waits for a
// store. Every access to a stuck mount hangs. So the package reads the table of mounts and
// procfs where they are enough, and otherwise waits for a mount only for a bounded time.
package mounts

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// tablePath is the table of mounts of this process.
const tablePath = "/proc/self/mountinfo"

// Mount is an entry of the table of mounts.
type Mount struct {
	ID     int // unique while the mount exists, and then of another mount
	Point  string
	Type   string
	Source string
	User   string // the number of the user who mounted, for FUSE; else ""
}

// Table lists mounts, the oldest first.
type Table []Mount

// ReadTable returns the mounts that this process sees. It accesses no mount, so it cannot hang
// on a dead one.
func ReadTable() (Table, error) {
	f, err := os.Open(tablePath)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseTable(f)
}

// parseTable parses the format of /proc/self/mountinfo, proc(5).
func parseTable(r io.Reader) (Table, error) {
	infos, err := mountinfo.GetMountsFromReader(r, nil)
	if err != nil {
		return nil, err
	}
	table := make(Table, 0, len(infos))
	for _, i := range infos {
		table = append(table, Mount{i.ID, i.Mountpoint, i.FSType, i.Source, userOf(i.VFSOptions)})
	}
	return table, nil
}

// userOf returns the value of user_id in the options of a file system.
func userOf(options string) string {
	for option := range strings.SplitSeq(options, ",") {
		if user, ok := strings.CutPrefix(option, "user_id="); ok {
			return user
		}
	}
	return ""
}

// At returns the mount on the path. Of several mounts there, it returns the last, which hides
// the others.
func (t Table) At(path string) (m Mount, ok bool) {
	for i := len(t) - 1; i >= 0; i-- {
		if t[i].Point == path {
			return t[i], true
		}
	}
	return Mount{}, false
}

// Containing returns the mount that contains the path, which must be absolute and free of links.
func (t Table) Containing(path string) (m Mount, ok bool) {
	for {
		if m, ok := t.At(path); ok {
			return m, true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return Mount{}, false
		}
		path = parent
	}
}

// has reports whether a mount still exists. Its ID is not enough: the kernel gives the ID to the next mount.
func (t Table) has(m Mount) bool { return slices.Contains(t, m) }

// At reads the table and returns the mount on the path.
func At(path string) (m Mount, ok bool, err error) {
	table, err := ReadTable()
	if err != nil {
		return Mount{}, false, err
	}
	m, ok = table.At(path)
	return m, ok, nil
}
