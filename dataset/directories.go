package dataset

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
	"github.com/wkwfs/wkwfs/internal/stores/store"
)

// directories are the directories and stores that a dataset is read from.
type directories struct {
	options Options
	root    string   // the URL of the dataset; "": it is a path
	inside  []string // paths in the archive that is opened, as of [paths.CutArchive]
	fsys    fs.FS    // of the dataset, if it is a directory; else nil

	volumes map[string]string // see [Dataset.Volumes]

	life context.Context // of requests to URLs
	end  context.CancelCauseFunc

	mu      sync.RWMutex
	opened  map[string]*store.Scheduled // by path or URL
	hangs   bool                        // some of their files may be on another machine
	clients []client                    // of the object stores
	closers []func() error              // of what is open besides
}

// client sends the requests to an object store.
type client interface {
	Requests() (sent, repeated uint64)
	CloseIdleConnections()
}

func (d *directories) init(o Options) {
	o.Depth = cmp.Or(o.Depth, store.DefaultDepth)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d.options, d.opened = o, map[string]*store.Scheduled{}
	d.life, d.end = context.WithCancelCause(context.Background())
}

// Close ends the requests to URLs that have no context of their own, and closes directories, archives and connections.
// Each cube and each [Reader] of the dataset should be closed before: what is used later fails. Close does not close
// the disk cache.
func (d *directories) Close() error {
	d.end(fs.ErrClosed)
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []error
	for _, c := range d.closers {
		all = append(all, c())
	}
	for _, s := range d.opened {
		all = append(all, s.Close())
	}
	for _, c := range d.clients {
		c.CloseIdleConnections()
	}
	d.closers, d.clients = nil, nil
	d.opened = map[string]*store.Scheduled{}
	return errors.Join(all...)
}

// onClose lets Close call a function.
func (d *directories) onClose(f func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closers = append(d.closers, f)
}

// open opens a directory of the source.
func (d *directories) open(path string) (*store.Scheduled, error) {
	if d.options.FollowLinks {
		return d.openFollowing(path, false)
	}
	dir, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	if d.options.Shared {
		dir.Guard(false)
	}
	return d.schedule(path, dir), nil
}

// openFollowing opens a directory. Links may lead out of it. outside says that it lies outside of the source: then a
// user needs permission for all of its path.
func (d *directories) openFollowing(path string, outside bool) (*store.Scheduled, error) {
	dir, err := store.OpenFollowing(path)
	if err != nil {
		return nil, err
	}
	if d.options.Shared {
		dir.Guard(outside)
	}
	return d.schedule(path, dir), nil
}

// schedule returns the directory as a store that measures its requests, and sends many at once
// while it is late. Formats open a directory outside each time they search it for a mag; they
// get the same store for the same path. A directory that is dropped for it holds nothing open.
func (d *directories) schedule(path string, dir *store.Dir) *store.Scheduled {
	remote := d.options.FollowLinks || !isLocal(path) // links may lead anywhere
	hangs := remote || mayHang(path)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hangs = d.hangs || hangs
	s := d.opened[path]
	if s == nil {
		s = store.Schedule(dir, store.Options{Depth: d.options.Depth, Local: !remote, Hangs: hangs})
		d.opened[path] = s
	}
	return s
}

// outside returns a function that opens directories outside of a dataset, which has a path or a URL. It returns nil if
// links out are not followed.
func (d *directories) outside(dataset string) func(path string) (fs.FS, error) {
	switch {
	case paths.IsURL(dataset):
		return d.outsideURL(dataset)
	case !d.options.FollowLinks:
		return nil
	}
	return func(path string) (fs.FS, error) {
		if paths.IsURL(path) {
			return d.openOutside(remote.Clean(path))
		}
		path = strings.TrimPrefix(path, "file://")
		if !filepath.IsAbs(path) {
			path = filepath.Join(dataset, path)
		}
		dir, err := d.openFollowing(filepath.Clean(path), true)
		if err != nil {
			return nil, err // dir would be a nil pointer in an interface that is not nil
		}
		return dir, nil
	}
}

// Late reports whether the source answers late: a program should have many requests in flight then. Object stores
// always do, and file servers often.
func (d *directories) Late() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, s := range d.opened {
		if s.Speed().Late {
			return true
		}
	}
	return false
}

// mayHang reports whether a request may never be answered.
func (d *directories) mayHang() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.hangs
}

// AnswersAtOnce reports whether all of the source is on disks of this machine, and is not late.
func (d *directories) AnswersAtOnce() bool {
	return !d.mayHang() && !d.Late()
}

// Stats counts requests to a dataset and its answers.
type Stats = store.Stats

// Stats returns how the source answers. Counts are sums over its directories. Latencies, the
// longest wait and the largest number in flight are those of the directory with the largest.
func (d *directories) Stats() Stats {
	d.mu.RLock()
	defer d.mu.RUnlock()
	sum := store.Stats{Depth: d.options.Depth}
	for _, dir := range d.opened {
		s := dir.Stats()
		sum.Reads = add(sum.Reads, s.Reads)
		sum.Lookups = add(sum.Lookups, s.Lookups)
		sum.Bytes += s.Bytes
		sum.InFlight += s.InFlight
		sum.MostInFlight = max(sum.MostInFlight, s.MostInFlight)
		sum.LongestWait = max(sum.LongestWait, s.LongestWait)
		sum.Late = sum.Late || s.Late
	}
	for _, c := range d.clients {
		sent, repeated := c.Requests()
		sum.Requests, sum.Repeated = sum.Requests+sent, sum.Repeated+repeated
	}
	return sum
}

func add(a, b store.Answers) store.Answers {
	return store.Answers{Count: a.Count + b.Count, P50: max(a.P50, b.P50), P99: max(a.P99, b.P99)}
}
