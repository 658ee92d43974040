package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/fsnode"
	"github.com/wkwfs/wkwfs/internal/host/mounts"
	"github.com/wkwfs/wkwfs/internal/serve/status"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/write/save"
)

// fuseMount is a mount of FUSE.
type fuseMount struct {
	*fsnode.Server
	watch *mounts.Watch
}

// Unmount removes the mount, and no other that has taken its place.
func (m fuseMount) Unmount() (removed bool, err error) { return m.watch.Remove() }

// Gone implements attached.
func (m fuseMount) Gone() <-chan struct{} { return m.watch.Gone() }

// descriptorMount is a mount that another program has made, and has to remove.
type descriptorMount struct{ *fsnode.Server }

// Unmount fails.
func (m descriptorMount) Unmount() (removed bool, err error) { return false, m.Server.Unmount() }

// Gone implements attached: only the other program knows.
func (descriptorMount) Gone() <-chan struct{} { return nil }

// errNotOurs is the error of unmounting what another program has mounted.
var errNotOurs = fsnode.ErrNotOurs

// adapt changes the settings that depend on the kind of the mountpoint.
func (s *mountSettings) adapt() error {
	if _, ok := fsnode.Descriptor(s.mountpoint); ok {
		s.foreground = true // who left the descriptor to this process knows it
		s.allowOther = true // the mount may let other users in
	}
	return nil
}

// prepareMountpoint returns the resolved mountpoint. It fails if nothing can be mounted there.
func (s *mountSettings) prepareMountpoint(logger *slog.Logger) (string, error) {
	if fd, ok := fsnode.Descriptor(s.mountpoint); ok {
		return s.mountpoint, mounts.CheckDescriptor(fd)
	}
	mountpoint, err := mounts.Prepare(s.mountpoint, s.source, logger)
	if err != nil {
		return "", err
	}
	return mountpoint, mounts.CheckFUSE(mountpoint, s.allowOther)
}

// attach mounts the tree.
func (s *mountSettings) attach(mountpoint string, tree fs.FS, saver *save.FS, meter *status.Meter,
	opened *dataset.Dataset, logger *slog.Logger) (attached, error) {
	o := s.fuseOptions(meter, opened.AnswersAtOnce, logger)
	if saver != nil {
		tree, o.Saver = saver, saver
	}
	server, err := fsnode.Mount(mountpoint, meter.Around(tree), o)
	if err != nil {
		return nil, mounts.Explain(mountpoint, err)
	}
	if _, ok := fsnode.Descriptor(mountpoint); ok {
		return descriptorMount{server}, nil
	}
	watch, err := mounts.NewWatch(mountpoint, logger)
	if err != nil {
		return nil, errors.Join(err, server.Unmount())
	}
	return fuseMount{server, watch}, nil
}

// whenGone returns a channel that is closed when the mount on the path is removed.
func whenGone(path string) (<-chan struct{}, error) {
	watch, err := mounts.NewWatch(path, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return watch.Gone(), nil
}

// fuseOptions returns the options of the FUSE server.
func (s *mountSettings) fuseOptions(observer fsnode.Observer, answersAtOnce func() bool,
	logger *slog.Logger) fsnode.Options {
	return fsnode.Options{
		Source:        cmp.Or(s.fsName, remote.Display(s.source)),
		AllowOther:    s.allowOther,
		ReadAhead:     int(s.readAhead),
		Log:           logger,
		Debug:         s.log.Debug,
		Observer:      observer,
		AnswersAtOnce: answersAtOnce,
		UID:           s.uid.ID,
		GID:           s.gid.ID,
		Umask:         s.umask.Bits,
		Kernel:        s.kernel,
		Writable:      len(s.edit) > 0,
	}
}

// checkMounted returns an error unless a new mount is on the path and answers.
func checkMounted(path string) error { return mounts.CheckNew(path) }

func unmount(path string, lazy bool) error { return mounts.Unmount(path, lazy) }

// findMount returns the mountpoint of the mount of wkwfs that contains the path.
func findMount(path string) (string, error) { return mounts.Find(path) }

// mountpoints returns the mountpoints of all mounts of wkwfs.
func mountpoints() ([]string, error) {
	table, err := mounts.ReadTable()
	if err != nil {
		return nil, err
	}
	var points []string
	for _, m := range table {
		if m.Type == fsnode.Type {
			points = append(points, m.Point)
		}
	}
	return points, nil
}

// fetchStatus returns the status of a mount as JSON. A mount that is dead or stuck is an error.
func fetchStatus(point string) ([]byte, error) {
	switch err := mounts.Ask(point, mounts.AnswerTimeout); {
	case errors.Is(err, unix.ENOTCONN):
		return nil, hint.Errorf("wkwfs umount "+point, "the mount on %s is dead: its server has ended", point)
	case errors.Is(err, mounts.ErrNoAnswer):
		return nil, fmt.Errorf("the server of %s does not answer: it may be stopped", point)
	case errors.Is(err, mounts.ErrNotFUSE):
		return nil, fmt.Errorf("%s is no longer mounted", point)
	case err != nil:
		return nil, statusError(point, err)
	}
	b, err := os.ReadFile(filepath.Join(point, status.StatusFile))
	if err != nil {
		return nil, statusError(point, err)
	}
	return b, nil
}

// statusError explains an error of reading a status.
func statusError(point string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return hint.Errorf("run it as the user who mounted", "the status of %s: %w", point, err)
	case errors.Is(err, fs.ErrNotExist):
		return hint.Errorf("it may be a mount of another version of wkwfs, or a part of a mount", "%s has no status",
			point)
	}
	return fmt.Errorf("the status of %s: %w", point, err)
}
