package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/fsnode"
)

// prepareMountpoint returns the resolved path of a directory that can be mounted
// on: it clears dead mounts of ours, and refuses what cannot work. The source
// must be resolved already.
func prepareMountpoint(path, source string, log *slog.Logger) (string, error) {
	table, err := mountTable()
	if err != nil {
		return "", err
	}
	path, err = resolveMountpoint(path, table)
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

// mountpointError is err with a hint where there is an obvious one.
func mountpointError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hinted("mkdir -p "+path, "mountpoint %s does not exist", path)
	case errors.Is(err, unix.ENOTCONN):
		return hinted("unmount the dead mount that holds it", "mountpoint %s: %w", path, err)
	}
	return fmt.Errorf("mountpoint %s: %w", path, err)
}

// clearDead unmounts the mounts of ours at the path whose server is gone, until
// something else is to be seen there. A live one is an error.
func clearDead(path string, log *slog.Logger) error {
	for {
		m, ok, err := mountAt(path)
		if err != nil || !ok {
			return err
		}
		dead := isDead(path)
		switch {
		case dead && m.Type != fsnode.Type:
			return hinted("umount "+path, "mountpoint %s is a dead mount of type %s (%s)", path, m.Type, m.Source)
		case dead:
			if err := unmount(path, true); err != nil {
				return fmt.Errorf("clearing a dead mount: %w", err)
			}
			log.Info("cleared a dead mount", "mountpoint", path, "source", m.Source)
			if err := awaitGone(m.ID, goneTimeout); err != nil {
				return fmt.Errorf("clearing a dead mount at %s: %w", path, err)
			}
		case m.Type == fsnode.Type:
			return hinted("wkwfs umount "+path, "already mounted: %s on %s", m.Source, path)
		default:
			return nil // somebody's file system: as good a place as any
		}
	}
}

// checkApart refuses a mount whose server would read the mount itself, and so
// wait for itself: the mount may not cover the source or a part of it.
func checkApart(mountpoint, source string) error {
	const hint = "choose a mountpoint elsewhere"
	covers, err := contains(mountpoint, source)
	switch {
	case err != nil:
		return err
	case covers:
		return hinted(hint, "the mount on %s would hide the source %s from its own server", mountpoint, source)
	}
	covered, err := contains(source, mountpoint)
	switch {
	case err != nil:
		return err
	case covered:
		return hinted(hint, "mountpoint %s is inside the source %s: the server would read its own mount", mountpoint, source)
	}
	return nil
}

// contains reports whether the path is the directory or below it. It compares
// files rather than names, which sees through bind mounts. Both must be free of
// symbolic links.
func contains(dir, path string) (bool, error) {
	want, err := os.Stat(dir)
	if err != nil {
		return false, err
	}
	for {
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		if os.SameFile(info, want) {
			return true, nil
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false, nil
		}
		path = parent
	}
}
