//go:build linux

package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
)

// CheckPoint returns an error if the path is no directory, or if a server of the source would read its own mount there.
// Both paths must be resolved already.
func CheckPoint(path, source string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return PointError(path, err)
	case !info.IsDir():
		return hint.Errorf("mount on a directory", "mountpoint %s is not a directory", path)
	}
	return checkApart(path, source)
}

// PointError adds the mountpoint to an error, and a hint where there is one.
func PointError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hint.Errorf("mkdir -p "+path, "mountpoint %s does not exist", path)
	case errors.Is(err, syscall.ENOTCONN):
		return hint.Errorf("unmount the dead mount that contains it", "mountpoint %s: %w", path, err)
	}
	return fmt.Errorf("mountpoint %s: %w", path, err)
}

// checkApart returns an error if the mount would hide the source or lie in it. The server
// would then read its own mount, and wait for itself.
func checkApart(mountpoint, source string) error {
	const advice = "choose another mountpoint"
	hides, err := paths.Contains(mountpoint, source)
	switch {
	case err != nil:
		return err
	case hides:
		return hint.Errorf(advice, "the mount on %s would hide the source %s from its own server", mountpoint, source)
	}
	inside, err := paths.Contains(source, mountpoint)
	switch {
	case err != nil:
		return err
	case inside:
		return hint.Errorf(advice, "mountpoint %s is inside the source %s: the server would read its own mount",
			mountpoint, source)
	}
	return nil
}
