package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/webknossos"
)

// Locks are files in the directory of the dataset. A process holds that of a layer while it writes the layer, and that
// of the metadata while it replaces them. It takes that of the metadata last.

// lockPath returns the path of the lock of a file or directory in a dataset.
func lockPath(dataset, name string) string { return filepath.Join(dataset, "."+name+".lock") }

// maxName is the most bytes of the name of a layer: that of its lock is longer.
const maxName = 240

const forever = math.MaxInt64

// lock takes the lock of the layer. If a process was killed that had it, lock removes the temporary files in dirs.
func (l *layer) lock(ctx context.Context, o lockfile.Options, dirs ...string) (*lockfile.Lock, error) {
	o.Waits = l.Waits
	lock, err := lockfile.Take(ctx, lockPath(l.dataset(), cmp.Or(l.locked, l.Layer)), o)
	if err != nil && !errors.Is(err, lockfile.ErrBusy) {
		err = fmt.Errorf("locking the layer: %w", err)
	}
	if err != nil || o.Shared || !lock.Orphaned() {
		return lock, err
	}
	for _, dir := range dirs {
		err = errors.Join(err, removeLeftovers(dir))
	}
	if err != nil {
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// owner returns the layer of a dataset that a directory belongs to: the name of the directory in the dataset that has
// it, whatever links lead there. Layers may share mags, by their paths in the metadata or by links. It returns "" for a
// directory outside of the dataset.
func owner(dataset, dir string) string {
	dataset, err := filepath.EvalSymlinks(dataset)
	if err != nil {
		return ""
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return ""
	}
	below, err := filepath.Rel(dataset, dir)
	if err != nil || !filepath.IsLocal(below) || below == "." {
		return ""
	}
	first, _, _ := strings.Cut(below, string(filepath.Separator))
	return first
}

// dataset returns the directory of the dataset.
func (l *layer) dataset() string { return filepath.Dir(l.dir) }

// lockMetadata takes the lock of the metadata of a dataset, and removes the temporary files of processes that were
// killed.
func lockMetadata(ctx context.Context, dataset string, waits func()) (*lockfile.Lock, error) {
	lock, err := lockfile.Take(ctx, lockPath(dataset, webknossos.PropertiesFile),
		lockfile.Options{Wait: forever, Waits: waits})
	if err != nil || !lock.Orphaned() {
		return lock, err
	}
	entries, err := os.ReadDir(dataset)
	for _, e := range entries {
		if atomicfile.IsTemp(e.Name()) && strings.HasPrefix(e.Name(), "."+webknossos.PropertiesFile) {
			err = errors.Join(err, os.Remove(filepath.Join(dataset, e.Name())))
		}
	}
	if err != nil {
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// removeLeftovers removes the temporary files below a directory, of processes that were killed.
func removeLeftovers(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err == nil && !d.IsDir() && atomicfile.IsTemp(d.Name()) {
			return os.Remove(path)
		}
		return err
	})
}
