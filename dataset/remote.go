package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/internal/files/filesource"
	"github.com/wkwfs/wkwfs/internal/files/hdfsource"
	"github.com/wkwfs/wkwfs/internal/files/knossos"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/stores/store"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// openRemote recognises what lies at a URL.
func (d *directories) openRemote(url string) (root volume.Root, err error) {
	if url, err = d.withoutLink(url); err != nil {
		return root, err
	}
	url = remote.Clean(url)
	d.root = url
	dir, name := url, "."
	if isFile(remote.Base(url)) || d.options.File.Type != "" {
		dir, name = remote.Dir(url), remote.Base(url)
	}
	fsys, err := d.openURL(dir)
	if err != nil {
		return root, err
	}
	if name == "." {
		d.fsys = fsys
	}
	if err := reach(fsys); err != nil {
		return root, err
	}
	if root, err = d.recogniseSource(fsys, url, name); err == nil {
		return d.compose(root, fsys, name, url)
	}
	if errors.Is(err, webknossos.ErrNotRecognised) {
		if reason := d.whyNothing(dir); reason != nil {
			return root, reason
		}
	}
	return root, d.explain(fsys, url, err)
}

// reach returns an error if a store does not answer. Without this, a directory of which nothing can be read would be
// taken for a source that is damaged. The answer is used again when the source is recognised.
func reach(fsys fs.FS) error {
	_, err := fs.Stat(fsys, "datasource-properties.json")
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err // it has the URL
	}
	return err
}

// whyNothing returns why nothing is recognised at a URL: there are no objects, or these credentials may not list them.
func (d *directories) whyNothing(url string) error {
	b, err := d.bucketAlone(url)
	if err != nil {
		return err
	}
	for objects, err := range b.List(d.life, "", "", "/") {
		switch {
		case errors.Is(err, object.ErrCannotList) && !errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", b.URL(), err)
		case len(objects) > 0:
			return nil
		}
	}
	return hint.Errorf("check the path in the bucket", "%s: there are no objects: %w", b.URL(), fs.ErrNotExist)
}

// diskCacheTTL is how long answers about objects are valid if a disk cache keeps their bytes. Programs that use one
// read the same data often.
const diskCacheTTL = time.Minute

// objects returns how the objects of a store become files.
func (o Options) objects() object.Options {
	if o.DiskCache == nil {
		return object.Options{}
	}
	return object.Options{TTL: diskCacheTTL}
}

// openURL opens a store at a URL, once.
func (d *directories) openURL(url string) (*store.Scheduled, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hangs = true
	if s := d.opened[url]; s != nil {
		return s, nil
	}
	b, err := d.bucket(url)
	if err != nil {
		return nil, err
	}
	s := store.Schedule(object.NewFS(b, d.options.objects()),
		store.Options{Depth: d.options.Depth, Remote: true, Doubled: d.options.DiskCache != nil})
	d.opened[url] = s
	return s, nil
}

// bucket returns the objects below a URL. The caller holds the lock.
func (d *directories) bucket(url string) (object.Bucket, error) {
	o := d.options
	if o.Allow != nil {
		if err := o.Allow(remote.Display(url)); err != nil {
			return nil, fmt.Errorf("%s: %w", remote.Display(url), err)
		}
	}
	b, err := remote.Open(url, remote.Options{
		Timeout: o.Timeout, Depth: o.Depth, Anonymous: o.Anonymous, Endpoint: o.Endpoint, Region: o.Region,
		UserAgent: o.UserAgent, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	if c, ok := b.(client); ok {
		d.clients = append(d.clients, c)
	}
	if o.DiskCache != nil {
		if b, err = o.DiskCache.bucket(b); err != nil {
			return nil, err
		}
	}
	return living{b, d.life}, nil
}

// bucketAlone is bucket for a caller that does not hold the lock.
func (d *directories) bucketAlone(url string) (object.Bucket, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bucket(url)
}

// openParent opens the directory that may have the metadata of a dataset.
func (d *directories) openParent(path string) (fs.FS, error) {
	if !paths.IsURL(path) {
		return store.Open(path)
	}
	if remote.IsTop(path) {
		return nil, fs.ErrNotExist
	}
	return d.openOutside(path)
}

// outsideURL returns a function that opens places that the metadata of a remote dataset name. A URL inside of the
// source, which some programs write there, needs no permission. No path of this machine is opened for a remote dataset.
func (d *directories) outsideURL(dataset string) func(string) (fs.FS, error) {
	return func(place string) (fs.FS, error) {
		url := place
		switch {
		case paths.IsURL(place):
			url = remote.Clean(place)
		case filepath.IsAbs(place) || paths.IsFileURL(place):
			return nil, fmt.Errorf("%s: a path of this machine in a remote dataset is not followed", place)
		default:
			url = remote.Join(dataset, place)
		}
		if remote.IsBelow(url, d.root) {
			url = remote.WithSecrets(url, d.root)
		} else if !d.options.FollowLinks {
			return nil, fmt.Errorf("%s leads out of the source; --follow-links follows it", remote.Display(url))
		}
		return d.openOutside(url)
	}
}

// openOutside is openURL with another result.
func (d *directories) openOutside(url string) (fs.FS, error) {
	fsys, err := d.openURL(url)
	if err != nil {
		return nil, err // fsys would be a nil pointer in an interface that is not nil
	}
	return fsys, nil
}

// baseOf, dirOf and join are those of package filepath, also for URLs.
func baseOf(path string) string {
	if paths.IsURL(path) {
		return remote.Base(path)
	}
	return filepath.Base(path)
}

func dirOf(path string) string {
	if paths.IsURL(path) {
		return remote.Dir(path)
	}
	return filepath.Dir(path)
}

func join(path, below string) string {
	if paths.IsURL(path) {
		return remote.Join(path, below)
	}
	return filepath.Join(path, below)
}

// isFile reports whether an object of a store is a source by its name. All others are taken for directories.
func isFile(name string) bool {
	return filepath.Ext(name) == ".wkw" || paths.IsArchive(name) || filesource.IsNamed(name) ||
		filesource.IsForeign(name) || hdfsource.IsNamed(name) || knossos.IsConfig(name) ||
		annotation.IsFile(name)
}
