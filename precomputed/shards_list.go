package precomputed

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Positions implements [lattice.Store]. It lists the chunks in all shards. It reads the indexes again if a shard has
// changed, or if a read has failed for another reason than damage. If an index cannot be read, it lists all chunks that
// may be in the index: reads of them are errors, and must not return zeros. In a scale of more than maxSearchedChunks
// chunks it returns an error instead, and the chunks that it found.
func (s *shards) Positions(fresh bool) (lattice.Positions, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !fresh && ttl.IsRecent(s.checked) {
		return s.found, s.err
	}
	files, err := s.files()
	if err != nil {
		return lattice.Positions{Lattice: s.scale.lattice}, err
	}
	state := stateOf(files)
	if s.checked.IsZero() || state != s.state || s.passing || lattice.HasPassed(s.err) {
		s.found.Release()
		s.found = lattice.Positions{}
		s.found, s.passing, s.err = s.list(files)
		s.state = state
	}
	s.checked = time.Now()
	return s.found, s.err
}

// shardFile is a shard in the directory.
type shardFile struct {
	shard   uint64
	version vfs.Version
	err     error // of the stat; version is not valid
}

// files lists the shards in the directory.
func (s *shards) files() ([]shardFile, error) {
	var found []shardFile
	for entries, err := range vfs.ListDir(s.fsys, s.dir) {
		if err = vfs.CheckAbsent(s.fsys, ".", s.dir, err); err != nil && !vfs.NothingListed(err) {
			return nil, err
		}
		if found = s.addFiles(found, entries); len(found) > maxShards {
			return nil, fmt.Errorf("%s: expected at most %d shards, found more", s.dir, maxShards)
		}
	}
	return found, nil
}

// maxShards limits the shards of a scale. No real volume reaches it.
const maxShards = 1 << 20

// addFiles appends the shards among the entries of the directory.
func (s *shards) addFiles(found []shardFile, entries []fs.DirEntry) []shardFile {
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
	return found
}

// stateOf returns a hash of the shard files and their versions.
func stateOf(files []shardFile) [sha256.Size]byte {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%x %x %v\n", f.shard, f.version, f.err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// list returns the chunks in the indexes of the shards. Its error says why the result may be incomplete. passing is
// true if an index could not be read for another reason than damage: the next list may find more.
func (s *shards) list(files []shardFile) (_ lattice.Positions, passing bool, err error) {
	l := s.scale.lattice
	none, found := lattice.Positions{Lattice: l}, s.all.Collect(l, s.limit)
	var tooMany error
	var lost unreadable
	entries := 0 // of all indexes
	for _, file := range files {
		err := file.err
		if err == nil {
			err = s.listShard(file.shard, func(at minishardID, index minishardIndex, err error) bool {
				if err != nil {
					lost.addMinishard(at, err)
				}
				for c := range s.chunksOf(at, index) {
					if tooMany = found.Add(c); tooMany != nil {
						return false
					}
				}
				entries += len(index)
				return entries <= s.limit
			})
		}
		if tooMany == nil && entries > s.limit {
			found.Drop()
			tooMany = lattice.TooManyError{Limit: s.limit}
		}
		if tooMany != nil {
			return none, false, tooMany
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the file may be gone by now
			lost.addShard(file.shard, err)
		}
	}
	if lost.err != nil && l.Chunks() > maxSearchedChunks {
		return found.Positions(), lost.passing, lost.err
	}
	if lost.err == nil {
		return found.Positions(), false, nil
	}
	for c := range (volume.Box{Max: l.Size}).All() {
		if lost.has(s.spec.locate(l.Morton(c))) {
			if err := found.Add(c); err != nil {
				return none, false, err
			}
		}
	}
	return found.Positions(), lost.passing, nil
}

// chunksOf yields the chunks in the index of a minishard. Readers do not find a chunk in another minishard than that of
// its ID, so chunksOf skips such chunks.
func (s *shards) chunksOf(at minishardID, index minishardIndex) iter.Seq[volume.Vec] {
	return func(yield func(volume.Vec) bool) {
		for _, e := range index {
			if c, ok := s.scale.lattice.Unmorton(e.id); ok && s.spec.locate(e.id) == at && !yield(c) {
				return
			}
		}
	}
}

// Walk implements [lattice.Store].
func (s *shards) Walk(yield func(volume.Vec, error) bool) {
	files, err := s.files()
	if err != nil {
		yield(volume.Vec{}, err)
		return
	}
	for _, file := range files {
		more := true
		err := file.err
		if err == nil {
			err = s.listShard(file.shard, func(at minishardID, index minishardIndex, err error) bool {
				if err != nil {
					more = yield(volume.Vec{}, err)
				}
				for c := range s.chunksOf(at, index) {
					if more = more && yield(c, nil); !more {
						break
					}
				}
				return more
			})
		}
		if !more || err != nil && !errors.Is(err, fs.ErrNotExist) && !yield(volume.Vec{}, err) {
			return
		}
	}
}

// maxSearchedChunks is the number of chunks of the largest scale in which list searches for chunks that may be in an
// unreadable index.
const maxSearchedChunks = 1 << 22

// listShard calls found for the minishards of shard n, as shard.minishards does.
func (s *shards) listShard(n uint64, found func(at minishardID, index minishardIndex, err error) bool) error {
	f, err := openShard(s.fsys, s.path(n), s.spec)
	if err != nil {
		return err
	}
	defer f.Close() // read-only: nothing can be lost
	return f.minishards(func(m uint64, index minishardIndex, err error) bool {
		return found(minishardID{n, m}, index, err)
	})
}

// maxUnreadable limits how many unreadable minishards are remembered. After that, a shard with another one counts as
// unreadable as a whole.
const maxUnreadable = 1 << 16

// unreadable is the set of shards and minishards of a scale that cannot be read.
type unreadable struct {
	shards     map[uint64]bool
	minishards map[minishardID]bool
	err        error // the first one
	passing    bool  // one of them is no damage, and so may be gone later
}

func (l *unreadable) addShard(n uint64, err error) {
	if l.shards == nil {
		l.shards = map[uint64]bool{}
	}
	l.shards[n] = true
	l.addError(err)
}

func (l *unreadable) addMinishard(at minishardID, err error) {
	if l.minishards == nil {
		l.minishards = map[minishardID]bool{}
	}
	if len(l.minishards) == maxUnreadable {
		l.addShard(at.shard, err)
		return
	}
	l.minishards[at] = true
	l.addError(err)
}

func (l *unreadable) addError(err error) {
	l.err = cmp.Or(l.err, err)
	l.passing = l.passing || !errors.As(err, new(*volume.FormatError))
}

func (l *unreadable) has(at minishardID) bool { return l.shards[at.shard] || l.minishards[at] }
