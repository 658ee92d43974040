package precomputed

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// positions reads the indexes of all shards, and reads them again when a shard has
// changed. Of what cannot be read, all chunks are listed that could be in it: they are
// errors and not absent. Where these would be too many, there is an error and what
// was found.
func (s *shards) positions(fresh bool) (positions, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !fresh && time.Since(s.checked) < recheck {
		return s.found, s.err
	}
	files, err := s.files()
	if err != nil {
		return positions{lattice: s.scale.lattice}, err
	}
	state := stateOf(files)
	if s.checked.IsZero() || state != s.state {
		s.found, s.err = s.list(files)
		s.state = state
	}
	s.checked = time.Now()
	return s.found, s.err
}

// shardFile is the file of a shard that was found in the directory.
type shardFile struct {
	shard   uint64
	version vfs.Version
	err     error // why it cannot be opened
}

// files lists the shards in the directory.
func (s *shards) files() ([]shardFile, error) {
	entries, err := fs.ReadDir(s.fsys, s.dir)
	if err = absent(s.fsys, s.dir, err); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []shardFile
	for _, e := range entries {
		stem, isShard := strings.CutSuffix(e.Name(), shardSuffix)
		if !isShard {
			stem, isShard = strings.CutSuffix(e.Name(), obsoleteSuffix)
		}
		n, ok := s.spec.parseStem(stem)
		if !isShard || !ok {
			continue
		}
		file := shardFile{shard: n}
		if info, err := fs.Stat(s.fsys, s.path(n)); err != nil {
			file.err = s.missing(n, err)
		} else {
			file.version = vfs.VersionOf(info)
		}
		found = append(found, file)
	}
	return found, nil
}

func stateOf(files []shardFile) [sha256.Size]byte {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%x %x %v\n", f.shard, f.version, f.err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// list reads the indexes of the shards.
func (s *shards) list(files []shardFile) (positions, error) {
	l := s.scale.lattice
	var found []uint64
	var lost lost
	for _, file := range files {
		err := file.err
		if err == nil {
			err = s.listShard(file.shard, func(at place, index minishardIndex, err error) {
				if err != nil {
					lost.minishard(at, err)
				}
				for _, e := range index {
					// What is elsewhere than it should be is not found by anybody.
					if c, ok := l.unmorton(e.id); ok && s.spec.locate(e.id) == at {
						found = append(found, l.raster(c))
					}
				}
			})
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have gone by now
			lost.shard(file.shard, err)
		}
	}
	if lost.err == nil {
		return newPositions(l, found), nil
	}
	if l.cells() > maxSuspects {
		return newPositions(l, found), lost.err
	}
	for c := range (volume.Box{Max: l.size}).All() {
		if lost.has(s.spec.locate(l.morton(c))) {
			found = append(found, l.raster(c))
		}
	}
	return newPositions(l, found), nil
}

// maxSuspects is the size, in chunks, of the largest scale that is searched for the
// chunks that may be in what cannot be read.
const maxSuspects = 1 << 22

func (s *shards) listShard(n uint64, found func(at place, index minishardIndex, err error)) error {
	f, err := openShard(s.fsys, s.path(n), s.spec)
	if err != nil {
		return err
	}
	defer f.close()
	return f.minishards(func(m uint64, index minishardIndex, err error) { found(place{n, m}, index, err) })
}

// lost is what cannot be read of the shards of a scale.
type lost struct {
	shards     map[uint64]bool
	minishards map[place]bool
	err        error // the first one
}

func (l *lost) shard(n uint64, err error) {
	if l.shards == nil {
		l.shards = map[uint64]bool{}
	}
	l.shards[n] = true
	l.err = cmp.Or(l.err, err)
}

func (l *lost) minishard(at place, err error) {
	if l.minishards == nil {
		l.minishards = map[place]bool{}
	}
	l.minishards[at] = true
	l.err = cmp.Or(l.err, err)
}

func (l *lost) has(at place) bool { return l.shards[at.shard] || l.minishards[at] }
