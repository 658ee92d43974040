package mounts

import (
	"fmt"
	"log/slog"

	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// Prepare returns the resolved path of a directory to mount on. It unmounts dead mounts of
// wkwfs there. It fails if the directory cannot be mounted on, if a live mount of wkwfs is
// there, or if the server would read its own mount. The source must be resolved already.
func Prepare(path, source string, log *slog.Logger) (string, error) {
	table, err := ReadTable()
	if err != nil {
		return "", err
	}
	path, err = table.Resolve(path)
	if err != nil {
		return "", PointError(path, err)
	}
	if err := clearDead(path, log); err != nil {
		return "", err
	}
	return path, CheckPoint(path, source)
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
