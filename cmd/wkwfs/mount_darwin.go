package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/internal/hint"
	"github.com/wkwfs/wkwfs/internal/nfs"
	"github.com/wkwfs/wkwfs/internal/nfsmount"
	"github.com/wkwfs/wkwfs/internal/status"
)

// Mounts on macOS are those of its NFS client, and this process is the server.

// hideBlocks leaves the directories of blocks out of listings: the Finder lists whole trees.
const hideBlocks = true

// errNotOurs is the error of unmounting what another program has mounted. All mounts on macOS are ours.
var errNotOurs = errors.New("mounted by another program")

// adapt refuses settings that cannot be followed.
func (s *mountSettings) adapt() error {
	if flag := s.onlyFUSE(); flag != "" {
		return hint.Usagef("leave it out", "%s: mounts on macOS are NFS, which cannot do that", flag)
	}
	if os.Geteuid() == 0 && !s.allowOther {
		return hint.Usagef("mount as the user who will read it, or add --allow-other", "a mount by root cannot be read on macOS")
	}
	return nil
}

// prepareMountpoint returns the resolved mountpoint. It fails if nothing can be mounted there.
func (s *mountSettings) prepareMountpoint(*slog.Logger) (string, error) {
	return nfsmount.MacOS.Prepare(s.mountpoint, s.source)
}

// attach mounts the tree.
func (s *mountSettings) attach(mountpoint string, tree fs.FS, meter *status.Meter, _ *dataset.Dataset, logger *slog.Logger) (attached, error) {
	o := nfs.Options{FSID: fsid(s.source), Observer: meter, Log: logger}
	if !s.allowOther {
		uid := uint32(os.Geteuid())
		o.Only = &uid
	}
	server, err := nfsmount.MacOS.Mount(mountpoint, tree, o)
	if err != nil {
		return nil, err
	}
	stop, err := nfsmount.ServeStatus(mountpoint, meter, logger)
	if err != nil {
		logger.Warn("wkwfs status is not available for this mount", "err", err)
		stop = func() {}
	}
	return withSocket{server, stop}, nil
}

// withSocket is a mount whose status is served at a socket.
type withSocket struct {
	*nfsmount.Server
	stop func()
}

func (w withSocket) Wait() {
	w.Server.Wait()
	w.stop() // removes the socket
}

// Unmount removes the mount. Programs that use it get errors.
func (w withSocket) Unmount() (removed bool, err error) { return true, w.Server.Unmount() }

// Gone implements attached: nobody can use a mount that is removed.
func (withSocket) Gone() <-chan struct{} { return nil }

// whenGone returns nil: the server ends with the mount.
func whenGone(string) (<-chan struct{}, error) { return nil, nil }

// checkMounted returns an error unless a new mount is on the path.
func checkMounted(path string) error { return nfsmount.MacOS.CheckNew(path) }

func unmount(path string, lazy bool) error { return nfsmount.MacOS.Unmount(path, lazy) }

// findMount returns the mountpoint of the mount of wkwfs that contains the path.
func findMount(path string) (string, error) { return nfsmount.MacOS.Find(path) }

// mountpoints returns the mountpoints of all mounts of wkwfs.
func mountpoints() ([]string, error) { return nfsmount.MacOS.Mountpoints() }

// fetchStatus returns the status of a mount as JSON.
func fetchStatus(point string) ([]byte, error) { return nfsmount.FetchStatus(point) }
