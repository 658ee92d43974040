//go:build linux

package mounts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

const listHint = "grep " + fsnode.Type + " /proc/self/mounts lists the mounts of wkwfs"

// foreignType is the type of mounts that other programs make, and leave to us as a descriptor. It says nothing of who
// serves.
const foreignType = "fuse"

// mayBeOurs reports whether wkwfs may serve the mount.
func (m Mount) mayBeOurs() bool { return m.Type == fsnode.Type || m.Type == foreignType }

// reason returns an error without the name of a system call, and without the path.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Find returns the mountpoint of the wkwfs mount that contains the path. If the path needs no
// resolution, Find does not access the mount, which may be dead. The mount can be of another program, if its type is
// just fuse.
func Find(path string) (mountpoint string, err error) {
	table, err := ReadTable()
	if err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	m, ok := table.Containing(absolute)
	if !ok || !m.mayBeOurs() { // the path may contain links
		if absolute, err = table.Resolve(absolute); err != nil {
			return "", err
		}
		m, ok = table.Containing(absolute)
	}
	if ok && m.mayBeOurs() {
		return m.Point, nil
	}
	if _, err := os.Lstat(absolute); err != nil {
		return "", hint.Errorf(listHint, "%s: %w", absolute, reason(err))
	}
	return "", hint.Errorf(listHint, "%s is not in a mount of wkwfs", path)
}
