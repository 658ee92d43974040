//go:build linux

package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/hint"
	"github.com/wkwfs/wkwfs/internal/paths"
)

// Prepare returns the resolved path of a directory to mount on. It unmounts dead mounts of
// wkwfs there. It fails if the directory cannot be mounted on, if a live mount of wkwfs is
// there, or if the server would read its own mount. The source must be resolved already.
func Prepare(path, source string, log *slog.Logger) (string, error) {
	table, err := ReadTable()
	if err != nil {
		return "", err
	}
	path, err = table.resolve(path)
	if err != nil {
		return "", mountpointError(path, err)
	}
	if err := clearDead(path, log); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", mountpointError(path, err)
	case !info.IsDir():
		return "", fmt.Errorf("mountpoint %s is not a directory", path)
	}
	return path, checkApart(path, source)
}

// mountpointError adds the mountpoint to an error, and a hint where there is one.
func mountpointError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hint.Errorf("mkdir -p "+path, "mountpoint %s does not exist", path)
	case errors.Is(err, unix.ENOTCONN):
		return hint.Errorf("unmount the dead mount that contains it", "mountpoint %s: %w", path, err)
	}
	return fmt.Errorf("mountpoint %s: %w", path, err)
}

// clearDead unmounts dead mounts of wkwfs on the path, until another file system is visible
// there. A live mount of wkwfs is an error.
func clearDead(path string, log *slog.Logger) error {
	for {
		m, ok, err := At(path)
		if err != nil || !ok {
			return err
		}
		dead := IsDead(path)
		switch {
		case dead && m.Type != fsnode.Type:
			return hint.Errorf("umount "+path, "mountpoint %s is a dead mount of type %s (%s)", path, m.Type, m.Source)
		case dead:
			if err := detach(m, true); err != nil {
				return fmt.Errorf("clearing a dead mount: %w", err)
			}
			log.Info("cleared a dead mount", "mountpoint", path, "source", m.Source)
			if err := awaitGone(m, goneTimeout); err != nil {
				return fmt.Errorf("clearing a dead mount at %s: %w", path, err)
			}
		case m.Type == fsnode.Type:
			return hint.Errorf("wkwfs umount "+path, "already mounted: %s on %s", m.Source, path)
		default:
			return nil // directories of other file systems can be mounted on
		}
	}
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
		return hint.Errorf(advice, "mountpoint %s is inside the source %s: the server would read its own mount", mountpoint, source)
	}
	return nil
}
