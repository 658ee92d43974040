package nfsmount

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/hint"
	"github.com/wkwfs/wkwfs/internal/mounts"
)

// System is what the package uses of the operating system.
type System struct {
	// MountProgram and UnmountProgram are the paths of mount_nfs(8) and umount(8).
	MountProgram, UnmountProgram string
	// ReadTable returns the table of mounts. It must access none of them.
	ReadTable func() (mounts.Table, error)
	// Poll is the time between two looks at the table.
	Poll time.Duration
}

// MacOS is this system, if it is macOS.
var MacOS = System{"/sbin/mount_nfs", "/sbin/umount", mounts.ReadTable, time.Second}

const (
	// programTime is how long a program may take.
	programTime = time.Minute
	// goneTime is how long a mount may stay in the table after it was unmounted.
	goneTime = 10 * time.Second

	listHint = "mount -t nfs lists the mounts; those of wkwfs are of " + source
)

// isOurs reports whether wkwfs may have made the mount. Another server of NFS on this machine may also have made it.
func isOurs(m mounts.Mount) bool { return m.Type == "nfs" && m.Source == source }

// dataVolume is where macOS mounts the volume with the files of users. Its directories also have names without it, such as /Users. The
// table may have either name.
const dataVolume = "/System/Volumes/Data"

// table reads the table of mounts. Mountpoints of wkwfs have their short names.
func (s *System) table() (mounts.Table, error) {
	table, err := s.ReadTable()
	for i, m := range table {
		if short, ok := strings.CutPrefix(m.Point, dataVolume+"/"); ok && isOurs(m) {
			table[i].Point = "/" + short
		}
	}
	return table, err
}

// Mountpoints returns the mountpoints of all mounts of wkwfs.
func (s *System) Mountpoints() ([]string, error) {
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	var points []string
	for _, m := range table {
		if isOurs(m) {
			points = append(points, m.Point)
		}
	}
	return points, nil
}

// Find returns the mountpoint of the mount of wkwfs that contains the path.
func (s *System) Find(path string) (mountpoint string, err error) {
	table, err := s.table()
	if err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	m, ok := table.Containing(absolute)
	if !ok || !isOurs(m) { // the path may contain links
		if absolute, err = table.Resolve(absolute); err != nil {
			return "", err
		}
		m, ok = table.Containing(absolute)
	}
	if !ok || !isOurs(m) {
		return "", hint.Errorf(listHint, "%s is not in a mount of wkwfs", path)
	}
	return m.Point, nil
}

// Prepare returns the resolved path of a directory to mount on. It fails if the directory cannot be mounted on, if a mount of wkwfs is
// there, or if the server would read its own mount. The source must be resolved already.
func (s *System) Prepare(path, source string) (string, error) {
	table, err := s.table()
	if err != nil {
		return "", err
	}
	if path, err = table.Resolve(path); err != nil {
		return "", mounts.PointError(path, err)
	}
	if m, ok := table.At(path); ok && isOurs(m) {
		return "", hint.Errorf("wkwfs umount "+hint.Quote(path), "already mounted: %s", path)
	}
	return path, mounts.CheckPoint(path, source)
}

// CheckNew returns an error unless a mount of wkwfs is on the path.
func (s *System) CheckNew(path string) error {
	_, err := s.at(path)
	return err
}

// at returns the mount of wkwfs on a resolved path.
func (s *System) at(path string) (mounts.Mount, error) {
	table, err := s.table()
	if err != nil {
		return mounts.Mount{}, err
	}
	m, ok := table.At(path)
	switch {
	case !ok:
		return m, hint.Errorf(listHint, "%s is not a mount", path)
	case !isOurs(m):
		return m, hint.Errorf("umount "+hint.Quote(path), "%s is a mount of type %s of %s, not of wkwfs", path, m.Type, m.Source)
	}
	return m, nil
}

// Unmount unmounts a mount of wkwfs and returns when it is gone. It fails if the mount is in use. If force is set, it does not fail then, and
// programs that use the mount get errors.
func (s *System) Unmount(path string, force bool) error {
	table, err := s.table()
	if err != nil {
		return err
	}
	if path, err = table.Resolve(path); err != nil {
		return err
	}
	m, err := s.at(path)
	if err != nil {
		return err
	}
	if err := s.detach(m, force); err != nil {
		if force {
			return err
		}
		return hint.Errorf("if it is in use: wkwfs umount --lazy "+hint.Quote(path), "%w", err)
	}
	return s.awaitGone(m)
}

// detach calls umount(8).
func (s *System) detach(m mounts.Mount, force bool) error {
	args := []string{m.Point}
	if force {
		args = []string{"-f", m.Point}
	}
	return run(s.UnmountProgram, args)
}

// awaitGone waits until the table does not have the mount.
func (s *System) awaitGone(m mounts.Mount) error {
	for deadline := time.Now().Add(goneTime); ; time.Sleep(min(s.Poll, 50*time.Millisecond)) {
		table, err := s.table()
		switch {
		case err != nil:
			return err
		case !table.Has(m):
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%s is still mounted after %v", m.Point, goneTime)
		}
	}
}

// run runs a program. Its output is part of the error.
func run(program string, args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), programTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	switch output = bytes.TrimSpace(output); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: no end after %v", program, programTime)
	case len(output) == 0:
		return fmt.Errorf("%s: %w", program, err)
	}
	return fmt.Errorf("%s: %s (%w)", program, output, err)
}
