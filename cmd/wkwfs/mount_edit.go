//go:build linux

package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/compose/overlay"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/write/edit"
	"github.com/wkwfs/wkwfs/internal/write/save"
	"github.com/wkwfs/wkwfs/volume"
)

// editShare is the part of the cache that is used for written blocks, for all layers: a quarter.
const editShare = 4

// edits are the layers of a mount that can be written.
type edits struct {
	log    *slog.Logger
	closed []func() error
}

// memoryOfEdits returns how many bytes of the cache are for written blocks.
func (s *mountSettings) memoryOfEdits() int64 {
	if len(s.edit) == 0 {
		return 0
	}
	return int64(s.cacheSize) / editShare
}

// openEdits puts layers that can be written into the place of those that are edited.
func (s *mountSettings) openEdits(root *volume.Root, blocks *cache.Cache, log *slog.Logger) (*edits, error) {
	e := &edits{log: log}
	var added []overlay.Added
	for _, one := range s.edit {
		name, dir, _ := strings.Cut(one, "=")
		l, err := s.openEdit(e, *root, name, dir, blocks)
		if err != nil {
			e.close()
			return nil, err
		}
		added = append(added, overlay.Added{Name: name, Layer: l})
	}
	if len(added) > 0 {
		root.Dataset = overlay.Add(root.Dataset, added, nil)
	}
	return e, nil
}

// openEdit opens the edits of one layer. If another process writes into the directory, the layer shows what that does.
func (s *mountSettings) openEdit(e *edits, root volume.Root, name, dir string, blocks *cache.Cache) (volume.Layer,
	error) {
	if err := s.checkEdit(root, dir); err != nil {
		return nil, err
	}
	below, err := root.Dataset.Layer(name)
	if errors.Is(err, fs.ErrNotExist) {
		names, _ := root.Dataset.Layers()
		return nil, hint.Usagef("the layers are "+hint.List(names), "--edit %s: there is no such layer", name)
	}
	if err != nil {
		return nil, err
	}
	l, err := edit.Open(context.Background(), dir, below, edit.Options{
		Dataset: filepath.Base(remote.Display(s.source)), Layer: name, Cache: blocks,
		Memory: s.memoryOfEdits() / int64(len(s.edit)), Log: e.log,
	})
	if errors.Is(err, edit.ErrBusy) {
		e.log.Warn("another process writes the edits: this mount shows them and cannot write", "layer", name, "dir",
			dir)
		followed, closed, err := edit.Follow(dir, name, below, e.log)
		if err != nil {
			return nil, err
		}
		e.closed = append(e.closed, closed)
		return followed, nil
	}
	if errors.Is(err, edit.ErrCategory) {
		return nil, hint.Errorf("wkwfs import --update replaces a box of an image", "%w", err)
	}
	if err != nil {
		return nil, err
	}
	e.closed = append(e.closed, l.Close)
	return l, nil
}

// checkEdit returns why a source cannot be edited into a directory.
func (s *mountSettings) checkEdit(root volume.Root, dir string) error {
	if root.Dataset == nil {
		return hint.Usagef("mount the dataset that has the layer", "--edit: %s is not a dataset with layers",
			remote.Display(s.source))
	}
	if paths.IsURL(dir) {
		return hint.Usagef("name a directory of this machine", "--edit: %s is a URL", remote.Display(dir))
	}
	if inside, err := filepath.Rel(s.source, dir); !paths.IsURL(s.source) && err == nil && filepath.IsLocal(inside) {
		return hint.Usagef("name a directory beside it", "--edit: %s lies in SOURCE, which is never written", dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil // it is made
	}
	// The server of root gives up the right to write everywhere.
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && st.Uid != 0 {
		return hint.Errorf("mount as that user", "--edit: %s belongs to user %d, and the server to root", dir, st.Uid)
	}
	return nil
}

// newSaver returns the tree with what programs save, or nil if nothing is edited. It is collected beside the first of
// the edits.
func (s *mountSettings) newSaver(tree fs.FS, log *slog.Logger) *save.FS {
	if len(s.edit) == 0 {
		return nil
	}
	_, dir, _ := strings.Cut(s.edit[0], "=")
	return save.New(tree, dir, log)
}

// close makes durable what was written.
func (e *edits) close() {
	for _, closed := range e.closed {
		if err := closed(); err != nil {
			e.log.Error("what was written last is lost", "err", err)
		}
	}
}
