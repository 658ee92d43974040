package store

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/access"
	"github.com/wkwfs/wkwfs/internal/small/ttl"
)

// guard finds out which users may reach a file: those who may search every directory on the way to it, also on the way
// of symbolic links. A process of root reaches all files, and must not show them to users who do not.
//
// A guard uses absolute paths.
type guard struct {
	// start is the directory where the way to a file starts. Names are relative to base, which is relative to start.
	// top is the directory above which permissions do not count, because the user who mounts allows access to all below
	// it; "" if all directories count.
	start, base, top string
	lstat            func(name string) (fs.FileInfo, error)
	readlink         func(name string) (string, error)
	pathOf           func(name string) string // a path of the file for system calls

	mu   sync.Mutex
	dirs map[string]way // by path without links; the access is that of search
	ways map[string]way // by name relative to start
}

// way is the way to a directory, and into it.
type way struct {
	access access.Access
	found  string // the path of the directory without links
	at     time.Time
}

const (
	maxWays  = 10_000 // entries of a map of a guard
	maxLinks = 40     // on one path, as in the kernel
)

// restrict returns info with permissions for users who may reach the file. info describes the file with a name relative
// to base. link says that the last element of the name is a symbolic link, which was followed.
func (g *guard) restrict(name string, info fs.FileInfo, link bool) (fs.FileInfo, error) {
	if name == "." {
		reach, found, err := g.walk(g.start, split(g.base))
		if err != nil {
			return nil, err
		}
		return reach.And(g.ofListed(found, info)).Restrict(info), nil
	}
	to, err := g.way(path.Dir(name))
	if err != nil {
		return nil, err
	}
	reach, found := to.access, path.Join(to.found, path.Base(name))
	if link {
		var beyond access.Access
		if beyond, found, err = g.walk(to.found, []string{path.Base(name)}); err != nil {
			return nil, err
		}
		reach = reach.And(beyond)
	}
	return reach.And(g.ofListed(found, info)).Restrict(info), nil
}

// way returns the way to the directory with a name relative to base.
func (g *guard) way(name string) (way, error) {
	if w, ok := recent(g, g.ways, name); ok {
		return w, nil
	}
	w := way{at: time.Now()}
	reach, found, err := g.walk(g.start, append(split(g.base), split(name)...))
	if err != nil {
		return way{}, err
	}
	search, err := g.search(found)
	if err != nil {
		return way{}, err
	}
	w.access, w.found = reach.And(search), found
	remember(g, g.ways, name, w)
	return w, nil
}

// ofListed returns the access of the owner alone if a file has an access control list, because its permission bits do
// not show which other users may read it. Without a list, it returns access without restrictions.
func (g *guard) ofListed(name string, info fs.FileInfo) access.Access {
	if !hasACL(g.pathOf(name)) {
		return access.Unrestricted
	}
	owner := access.Of(info)
	owner.Perm &= 0o400
	return owner
}

// search returns the access of users who may search a directory and the directories above it, up to top. dir has no
// links.
func (g *guard) search(dir string) (access.Access, error) {
	if w, ok := recent(g, g.dirs, dir); ok {
		return w.access, nil
	}
	w := way{at: time.Now()}
	info, err := g.lstat(dir)
	if err != nil {
		return access.Access{}, err
	}
	w.access = access.Of(info).And(g.ofListed(dir, info))
	if dir != g.top && dir != "/" {
		above, err := g.search(path.Dir(dir))
		if err != nil {
			return access.Access{}, err
		}
		w.access = above.And(w.access)
	}
	remember(g, g.dirs, dir, w)
	return w.access, nil
}

// recent returns what a map of the guard has for a name, if it counts. So a guard may notice a change of permissions
// ttl.Least later.
func recent(g *guard, m map[string]way, name string) (way, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w, ok := m[name]
	return w, ok && ttl.IsRecent(w.at)
}

// remember adds an entry to a map of the guard.
func remember(g *guard, m map[string]way, name string, w way) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(m) >= maxWays {
		clear(m)
	}
	m[name] = w
}

// walk returns the access of users who may reach a file from dir, and the absolute path of the file without links. rest
// has the elements of its path from dir.
func (g *guard) walk(dir string, rest []string) (reach access.Access, found string, err error) {
	reach = access.Unrestricted
	for links := 0; len(rest) > 0; {
		search, err := g.search(dir)
		if err != nil {
			return access.Access{}, "", err
		}
		reach = reach.And(search)
		next := path.Join(dir, rest[0])
		rest = rest[1:]
		info, err := g.lstat(next)
		if err != nil {
			return access.Access{}, "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			dir = next
			continue
		}
		if links++; links > maxLinks {
			return access.Access{}, "", &fs.PathError{Op: "stat", Path: next, Err: syscall.ELOOP}
		}
		target, err := g.readlink(next)
		if err != nil {
			return access.Access{}, "", err
		}
		if path.IsAbs(target) {
			dir = "/"
		}
		rest = append(split(target), rest...)
	}
	return reach, dir, nil
}

// guardBeneath returns a guard for the files in a directory that cannot be left.
func guardBeneath(b *beneath) *guard {
	inside := func(name string) string { return cmp.Or(strings.TrimPrefix(name, "/"), ".") }
	return &guard{
		start: "/", top: "/", dirs: map[string]way{}, ways: map[string]way{},
		lstat: func(name string) (fs.FileInfo, error) { return b.Lstat(inside(name)) },
		readlink: func(name string) (string, error) {
			target, err := b.Readlink(inside(name))
			if err == nil && path.IsAbs(target) {
				// changed since the link was followed
				err = &fs.PathError{Op: "readlink", Path: name, Err: syscall.EXDEV}
			}
			return target, err
		},
		pathOf: func(name string) string { return b.pathOf(inside(name)) },
	}
}

// guardAnywhere returns a guard for the files in a directory whose links lead anywhere. If whole, all directories on
// the way to the directory count, also those that links in its path lead through.
func guardAnywhere(dir string, whole bool) *guard {
	g := &guard{start: dir, top: dir, dirs: map[string]way{}, ways: map[string]way{}, readlink: os.Readlink,
		pathOf: func(name string) string { return name }}
	if whole {
		g.start, g.base, g.top = "/", dir, ""
	}
	g.lstat = func(name string) (fs.FileInfo, error) {
		if name == g.top {
			return os.Stat(name) // the path of a source may be a link
		}
		return os.Lstat(name)
	}
	return g
}

// split returns the elements of a path, which may be ".." in the target of a link.
func split(name string) []string {
	return strings.FieldsFunc(name, func(c rune) bool { return c == '/' })
}
