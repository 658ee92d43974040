package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/internal/status"
	"github.com/wkwfs/wkwfs/internal/store"
)

// directories are those that a source is read from. They know how it answers.
type directories struct {
	sourceFlags

	mu     sync.RWMutex
	opened map[string]*store.Scheduled // by path
	remote bool                        // one of them may be on another machine
}

// open opens a directory of the source.
func (d *directories) open(path string) (*store.Scheduled, error) {
	if d.followLinks {
		return d.follow(path)
	}
	dir, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	return d.schedule(path, dir), nil
}

// follow opens a directory and lets links lead out of it.
func (d *directories) follow(path string) (*store.Scheduled, error) {
	dir, err := store.OpenFollowing(path) // it holds nothing open
	if err != nil {
		return nil, err
	}
	return d.schedule(path, dir), nil
}

// schedule has the requests to a directory measured, and sent many at a time if it answers late. Formats open
// a directory outside each time that they look for a mag there: it is the same one then.
func (d *directories) schedule(path string, dir *store.Dir) *store.Scheduled {
	remote := d.followLinks || !isLocal(path) // links may lead anywhere
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.opened[path]
	if s == nil {
		s = store.Schedule(dir, store.Options{Depth: d.depth(), Local: !remote})
		if d.opened == nil {
			d.opened = map[string]*store.Scheduled{}
		}
		d.opened[path] = s
	}
	d.remote = d.remote || remote
	return s
}

// outside opens directories that lie outside of a dataset, where that is allowed.
func (d *directories) outside(dataset string) func(path string) (fs.FS, error) {
	if !d.followLinks {
		return nil
	}
	return func(path string) (fs.FS, error) {
		path = strings.TrimPrefix(path, "file://")
		if strings.Contains(path, "://") {
			return nil, fmt.Errorf("%s: only directories on this machine can be read", path)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dataset, path)
		}
		dir, err := d.follow(filepath.Clean(path))
		if err != nil {
			return nil, err // not a directory that is nil
		}
		return dir, nil
	}
}

// Late implements vfs.Later: it reports whether any of them answers late.
func (d *directories) Late() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, s := range d.opened {
		if s.Late() {
			return true
		}
	}
	return false
}

// prompt reports whether they are on disks of this machine, which answer at once.
func (d *directories) prompt() bool {
	d.mu.RLock()
	remote := d.remote
	d.mu.RUnlock()
	return !remote && !d.Late()
}

// status adds up what was asked of them. Of several, latencies are those of the slowest.
func (d *directories) status() status.SourceIO {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var sum status.SourceIO
	for _, dir := range d.opened {
		s := dir.Stats()
		sum.Reads += s.Reads.Count
		sum.ReadBytes += s.Bytes
		sum.Looks += s.Looks.Count
		sum.UnderWay += s.InFlight
		sum.MostUnderWay = max(sum.MostUnderWay, s.Most)
		sum.LongestWait = max(sum.LongestWait, s.Oldest.Seconds())
		sum.ReadLatency = slower(sum.ReadLatency, s.Reads)
		sum.LookLatency = slower(sum.LookLatency, s.Looks)
		sum.Late = sum.Late || s.Late
	}
	return sum
}

func slower(l status.Latency, a store.Answers) status.Latency {
	return status.Latency{P50: max(l.P50, a.P50.Seconds()), P99: max(l.P99, a.P99.Seconds())}
}
