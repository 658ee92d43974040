package nfs

import (
	"io/fs"
	"iter"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// nobody is the user and the group of callers that have none: AUTH_NONE, and root of another machine. It is also the
// group of others there who claim that of root.
const nobody = 65534

// caller is the user whom a request counts as.
type caller struct {
	claim
	root bool // may read and search everything
}

// callerOf returns whom a claim counts as on a connection of peer.
func callerOf(c claim, peer peer) caller {
	switch {
	case peer.known && peer.uid != 0: // a user's process
		return caller{claim: peer.claim}
	case peer.known: // root, who can read the source anyway, and may act for others
		return caller{claim: c, root: c.uid == 0}
	case c.uid == 0:
		return caller{claim: claim{uid: nobody, gid: nobody}}
	}
	return caller{claim: c.withoutRoot()}
}

// withoutRoot returns the claim without the group of root.
func (c claim) withoutRoot() claim {
	if c.gid == 0 {
		c.gid = nobody
	}
	c.groups = slices.DeleteFunc(slices.Clone(c.groups), func(gid uint32) bool { return gid == 0 })
	return c
}

// may reports whether the caller has the permissions want, of 0o7, for an entry. As in the kernel, only the first class
// that the caller belongs to counts: owner, group, others.
func (c caller) may(info fs.FileInfo, want fs.FileMode) bool {
	if c.root {
		return true
	}
	perm := info.Mode().Perm()
	uid, gid := owner(info)
	switch {
	case c.uid == uid:
		perm >>= 6
	case c.gid == gid, slices.Contains(c.groups, gid):
		perm >>= 3
	}
	return perm&want == want
}

const (
	mayRead   fs.FileMode = 4
	maySearch fs.FileMode = 1
)

// owner returns the owner and the group of an entry, 0 if it has none.
func owner(info fs.FileInfo) (uid, gid uint32) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid, st.Gid
	}
	return 0, 0
}

// directories remembers descriptions of directories for a short time. Each request needs those of all directories above
// its entry.
type directories struct {
	fsys fs.FS

	mu    sync.Mutex
	known *lru.Cache[string, knownDir]
}

type knownDir struct {
	info fs.FileInfo
	at   time.Time
}

const (
	// directoryTTL is how long a description of a directory counts. The kernel trusts attributes in a mount as long.
	directoryTTL = time.Second
	// maxDirectories bounds the descriptions.
	maxDirectories = 4096
)

func newDirectories(fsys fs.FS) *directories {
	return &directories{fsys: fsys, known: lru.New[string, knownDir](maxDirectories)}
}

// get returns the last description of a directory.
func (d *directories) get(name string) (knownDir, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known.Get(name)
}

// stat describes a directory.
func (d *directories) stat(name string) (fs.FileInfo, error) {
	known, ok := d.get(name)
	if ok && time.Since(known.at) < directoryTTL {
		return known.info, nil
	}
	at := time.Now()
	info, err := fs.Stat(d.fsys, name)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known.Put(name, knownDir{info, at}, 1)
	return info, nil
}

// search fails with statusAccess unless the caller may search all directories above an entry. It looks at none below
// the first that the caller may not search, so its error does not tell what exists there.
func (d *directories) search(c caller, name string) error {
	for dir := range above(name) {
		info, err := d.stat(dir)
		switch {
		case err != nil:
			return ofHandle(err)
		case !info.IsDir():
			return statusStale
		case !c.may(info, maySearch):
			return statusAccess
		}
	}
	return nil
}

// above yields the directories above an entry, from the root on.
func above(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if name == "." || !yield(".") {
			return
		}
		for i := range len(name) {
			if name[i] == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}
