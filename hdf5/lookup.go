package hdf5

import (
	"fmt"
	"strings"
	"sync"
)

// rootGroup is the root group, once it was read.
type rootGroup struct {
	mu sync.Mutex
	g  *Group
}

// Root returns the root group.
func (f *File) Root() (*Group, error) {
	f.root.mu.Lock()
	defer f.root.mu.Unlock()
	if f.root.g == nil {
		g, err := f.readRoot()
		if err != nil {
			return nil, err
		}
		f.root.g = g
	}
	return f.root.g, nil
}

func (f *File) readRoot() (*Group, error) {
	o, err := f.AtAddress(f.super.root, "/")
	if err != nil {
		return nil, err
	}
	g, ok := o.(*Group)
	if !ok {
		return nil, &FormatError{Path: "/", Address: f.super.root, Field: "object header", Expected: "a group",
			Found: kindOf(o)}
	}
	return g, nil
}

// Lookup returns the object of a path. It follows soft links.
func (f *File) Lookup(path string) (Object, error) {
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	return root.Lookup(path)
}

// lookup finds a path from a group.
func (f *File) lookup(from *Group, path string) (Object, error) {
	w := walk{f: f, path: path}
	return w.from(from, path)
}

// walk is the search for one path.
type walk struct {
	f     *File
	path  string
	links int // soft ones on the way
	steps int
}

func (w *walk) from(at Object, path string) (Object, error) {
	if strings.HasPrefix(path, "/") {
		root, err := w.f.Root()
		if err != nil {
			return nil, err
		}
		at = root
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." {
			continue
		}
		if w.steps++; w.steps > w.f.limit.depth {
			return nil, &FormatError{Path: shorten(w.path), Address: at.Address(), Field: "path",
				Expected: fmt.Sprintf("at most %d groups in each other", w.f.limit.depth), Found: "more"}
		}
		g, ok := at.(*Group)
		if !ok {
			return nil, &NotFoundError{Path: w.path}
		}
		var err error
		if at, err = w.step(g, name); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// step returns the object of a link.
func (w *walk) step(g *Group, name string) (Object, error) {
	links, err := g.load()
	if err != nil {
		return nil, err
	}
	l, ok := links[name]
	path := strings.TrimSuffix(g.path, "/") + "/" + name
	switch {
	case !ok:
		return nil, &NotFoundError{Path: w.path}
	case l.kind == linkHard:
		return w.f.AtAddress(l.addr, path)
	case l.kind == linkSoft:
		if w.links++; w.links > w.f.limit.links {
			return nil, &FormatError{Path: path, Address: g.header.addr, Field: "soft link",
				Expected: fmt.Sprintf("at most %d on the way to an object", w.f.limit.links), Found: "a loop"}
		}
		return w.from(g, l.target)
	case l.kind == linkExternal:
		return nil, &NotSupportedError{Path: path, What: fmt.Sprintf("an external link to %q", l.target)}
	}
	return nil, &NotSupportedError{Path: path, What: fmt.Sprintf("a link of type %d", l.kind)}
}

// shorten returns the start of a long path, for messages.
func shorten(path string) string {
	if len(path) > 200 {
		return path[:200] + "…"
	}
	return path
}
