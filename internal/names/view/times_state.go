package view

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// timesState is what the files of a mag at all times are made of. It has no snapshots: those of thousands of times may
// take more memory than the tree has for snapshots.
type timesState struct {
	array    header.Array
	storage  header.Storage // of the first time
	versions []vfs.Version
	version  vfs.Version // of all times
	info     fs.FileInfo // of all times together
	stored   int64
	unlike   error // why the times cannot be one array; nil: they can

	taken time.Time
	took  time.Duration
}

// lifetime is how long a state is valid, as of a survey: a second, or the time of 20, but at most a minute.
func (s *timesState) lifetime() time.Duration {
	return min(max(time.Second, 20*s.took), time.Minute)
}

// timesCache has the last states. The budget is a number of times.
type timesCache struct {
	mu   sync.Mutex
	last *lru.Cache[string, *timesState]
}

func (c *timesCache) get(path string) *timesState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, _ := c.last.Get(path)
	return s
}

func (c *timesCache) put(path string, s *timesState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.Put(path, s, int64(len(s.versions)))
}

// state returns the last state, or a new one if that has expired. If a file is opened, a state of few times is always
// new, and its snapshots match the source.
func (d timesDir) state(open bool) (*timesState, error) {
	c, many := &d.s.fsys.times, d.n > d.s.fsys.limits.fewTimes
	s := c.get(d.path())
	valid := s != nil && len(s.versions) == d.n && time.Since(s.taken) < s.lifetime()
	if valid && (many || !open) {
		return s, nil
	}
	// If a state of many times were renewed without comparing, no open would see a change.
	s, err := d.take(open || many)
	if err == nil {
		c.put(d.path(), s)
	}
	return s, err
}

// take describes all times, many at once. If current, their snapshots match the source.
func (d timesDir) take(current bool) (*timesState, error) {
	start := time.Now()
	var first timeOf
	var infos []fs.FileInfo
	s := &timesState{taken: start}
	sum := sha256.New()
	all := make([]int, d.n)
	for t := range all {
		all[t] = t
	}
	for t, at := range parallel.Each(all, func(t int) timeOf { return d.describe(t, current) }) {
		if at.err != nil {
			return nil, fmt.Errorf("%s: mag %s: %w", timeName(t), d.mag, at.err)
		}
		if t == 0 {
			first = at
		}
		if err := at.unlike(first, timeName(t)); err != nil && s.unlike == nil {
			s.unlike = err
		}
		version := at.snap.ContentVersion()
		s.versions = append(s.versions, version)
		if d.s.fsys.snapshots.durable {
			version = at.snap.DurableVersion()
		}
		sum.Write(version[:])
		s.stored += at.snap.Share(at.snap.Bounds())
		infos = append(infos, at.info)
	}
	s.array = first.snap.header(d.path(), first.snap.Bounds())
	s.array.Times = d.n
	s.storage, s.info = first.snap.storage(), vfs.JoinInfos(infos)
	fmt.Fprintf(sum, "%d %s", d.n, s.array.Unit)
	s.version, s.took = vfs.Version(sum.Sum(nil)[:len(s.version)]), time.Since(start)
	return s, nil
}

// describe returns a time.
func (d timesDir) describe(t int, current bool) (at timeOf) {
	m, err := d.at(t)
	if err != nil {
		return timeOf{err: err}
	}
	if current {
		at.snap, at.err = m.currentSnapshot(nil)
	} else {
		at.snap, at.err = m.snapshot()
	}
	if at.err == nil {
		at.info, at.err = at.snap.Info()
	}
	return at
}

// snapshotOf returns a snapshot of a time that shows what the state says. Else the error is vfs.ErrChanged.
func (d timesDir) snapshotOf(s *timesState, t int) (*snapshot, error) {
	m, err := d.at(t)
	if err != nil {
		return nil, notAbsent(err)
	}
	current := func() (*snapshot, error) { return m.currentSnapshot(nil) }
	for _, get := range []func() (*snapshot, error){m.snapshot, current} {
		snap, err := get()
		if err != nil {
			return nil, notAbsent(err)
		}
		if snap.ContentVersion() == s.versions[t] {
			return snap, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", m.path, vfs.ErrChanged)
}
