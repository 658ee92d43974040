package view

import (
	"io/fs"
	"iter"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/lru"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/volume"
)

// level is a mag as a part of a view of its layer in another format.
type level struct {
	d   magDir
	key string // the name of the mag
}

func (l level) stat() (fs.FileInfo, error) { return statDir(l.key, l.d.m.Stat) }

// levels are the mags that a view of a layer in another format has. It omits mags that cannot be read, and those whose
// voxels have another type than those of the finest mag.
type levels struct {
	l      layerDir
	names  []string // of the directories of the views with these levels
	format string   // for people
	// why the format cannot have a mag of this name and geometry; empty: it can
	reason func(name string, g volume.Grid) string
}

// all returns all levels, finest first, and their snapshots.
func (v levels) all() (all []level, snaps []*snapshot, err error) {
	names, err := v.l.l.Mags()
	for l, snap := range v.each(names) {
		all, snaps = append(all, l), append(snaps, snap)
	}
	return all, snaps, err
}

// exist reports whether one of the named mags is a level.
func (v levels) exist(mags []string) bool {
	for range v.each(mags) {
		return true
	}
	return false
}

// each yields the levels of the named mags.
func (v levels) each(mags []string) iter.Seq2[level, *snapshot] {
	return func(yield func(level, *snapshot) bool) {
		var first level
		var cube volume.Grid // of first
		for _, name := range mags {
			mag, err := v.l.l.Mag(name)
			if err != nil {
				continue // removed since it was listed
			}
			found := level{magDir{v.l.fsys, path.Join(v.l.name, name), mag}, name}
			snap, err := found.d.snapshot()
			reason := ""
			switch {
			case err != nil:
				reason = err.Error()
			case v.reason(name, snap.Cube()) != "":
				reason = v.reason(name, snap.Cube())
			case first.d.m == nil:
				first, cube = found, snap.Cube()
			case snap.Cube().Type != cube.Type || snap.Cube().Channels != cube.Channels:
				reason = "not of the same type as " + first.d.path
			}
			switch {
			case reason != "":
				v.l.fsys.log.Info("mag not shown as "+v.format, "mag", found.d.path, "because", reason)
			case !yield(found, snap):
				return
			}
		}
	}
}

// levelKey names a level: the format of the view and the path of the mag.
type levelKey struct{ format, path string }

// foundLevel is a level, and when its search started.
type foundLevel struct {
	level
	at time.Time
}

// levelCache has the levels that were found last. The budget is a number of levels.
type levelCache struct {
	mu   sync.Mutex
	last *lru.Cache[levelKey, foundLevel]
}

func (c *levelCache) get(key levelKey) (foundLevel, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.Get(key)
}

func (c *levelCache) put(key levelKey, l foundLevel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.Put(key, l, 1)
}

// find returns the level of a mag, as it was at most ttl.Least ago: programs look up one chunk after another, and a
// search lists the layer. If there is none, the error is fs.ErrNotExist.
func (v levels) find(name string) (level, error) {
	cache, key, now := &v.l.fsys.levels, levelKey{v.format, path.Join(v.l.name, name)}, time.Now()
	found, ok := cache.get(key)
	if ok && ttl.IsRecent(found.at) {
		return found.level, nil
	}
	l, err := v.search(name)
	if err == nil {
		cache.put(key, foundLevel{l, now})
	}
	return l, err
}

// search finds the level of a mag. If there is none, the error is fs.ErrNotExist.
func (v levels) search(name string) (level, error) {
	names, err := v.l.l.Mags()
	if err != nil {
		return level{}, err
	}
	if !slices.Contains(names, name) {
		return level{}, fs.ErrNotExist
	}
	for first := range v.each(names) {
		if first.key == name {
			return first, nil
		}
		// The first level decides on the others, so the mags between need not be read.
		for l := range v.each([]string{first.key, name}) {
			if l.key == name {
				return l, nil
			}
		}
		break
	}
	return level{}, fs.ErrNotExist
}
