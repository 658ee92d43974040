package hdf5

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// The kinds of links.
const (
	linkHard     = 0
	linkSoft     = 1
	linkExternal = 64
)

// link is a link of a group.
type link struct {
	name   string
	kind   uint8
	addr   uint64 // hard
	target string // soft: a path; external: a file and a path, for people
}

// Group is a group of links to objects.
type Group struct {
	object

	once  sync.Mutex
	links map[string]link
}

// Names returns the names of all links, sorted by their bytes. They may have any bytes but a slash and a zero.
// Links that lead to nothing have a name, too. A group of more than some hundred thousand links is a
// [*NotSupportedError].
func (g *Group) Names() ([]string, error) {
	links, err := g.load()
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(links))
	for name := range links {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// Lookup returns the object of a path that starts at the group, or at the root if it begins with a slash. It
// follows soft links. A path without an object is a [*NotFoundError].
func (g *Group) Lookup(path string) (Object, error) {
	return g.file.lookup(g, path)
}

// load reads the links.
func (g *Group) load() (map[string]link, error) {
	g.once.Lock()
	defer g.once.Unlock()
	if g.links != nil {
		return g.links, nil
	}
	all, err := g.file.readLinks(g.header)
	if err != nil {
		return nil, named(g.path, err)
	}
	links := make(map[string]link, len(all))
	for _, l := range all {
		if l.name == "" || l.name == "." || strings.ContainsAny(l.name, "/\x00") {
			return nil, &FormatError{Path: g.path, Address: g.header.addr, Field: "name of a link",
				Expected: "a name without a slash", Found: fmt.Sprintf("%q", l.name)}
		}
		if _, twice := links[l.name]; twice {
			return nil, &FormatError{Path: g.path, Address: g.header.addr, Field: "name of a link",
				Expected: "a name that is not yet used",
				Found:    fmt.Sprintf("%q", l.name)}
		}
		links[l.name] = l
	}
	g.links = links
	return links, nil
}

// readLinks reads the links of a group, however they are stored.
func (f *File) readLinks(h *header) ([]link, error) {
	var links []link
	for _, m := range h.messages {
		if m.kind != msgLink && m.kind != msgLinkInfo && m.kind != msgSymbolTable {
			continue
		}
		m, err := f.resolve(m)
		if err != nil {
			return nil, err
		}
		var more []link
		switch m.kind {
		case msgLink:
			var l link
			l, err = f.readLink(m)
			more = []link{l}
		case msgLinkInfo:
			more, err = f.denseLinks(m)
		case msgSymbolTable:
			more, err = f.symbolTable(m)
		}
		if err != nil {
			return nil, err
		}
		if links = append(links, more...); len(links) > f.limit.names {
			return nil, f.tooMany()
		}
	}
	return links, nil
}

func (f *File) tooMany() error {
	return notSupported("a group of more than %d links or %d bytes of names", f.limit.names, f.limit.nameBytes)
}

// readLink reads a link message (IV.A.2.g).
func (f *File) readLink(m message) (link, error) {
	c := f.body(m, "link")
	l := link{}
	c.expect("version", 1)
	flags := c.u8("flags")
	if flags&(1<<3) != 0 {
		l.kind = c.u8("type")
	}
	if flags&(1<<2) != 0 {
		c.skip(8) // order of creation
	}
	if flags&(1<<4) != 0 {
		c.skip(1) // character set
	}
	n := c.uint(1<<(flags&3), "length of the name")
	if n > uint64(c.left()) {
		c.bad("length of the name", fmt.Sprintf("at most %d", c.left()), n)
	}
	l.name = string(c.take(int(n), "name"))
	switch l.kind {
	case linkHard:
		l.addr = c.address("object header")
	case linkSoft:
		l.target = string(c.take(int(c.u16("length of the path")), "path"))
	case linkExternal:
		b := c.take(int(c.u16("length of the value")), "value")
		if c.err == nil && len(b) > 0 {
			l.target = strings.Join(strings.FieldsFunc(string(b[1:]), func(r rune) bool { return r == 0 }), ":")
		}
	}
	return l, c.err
}

// denseLinks reads the links in a fractal heap (IV.A.2.c).
func (f *File) denseLinks(m message) ([]link, error) {
	c := f.body(m, "link info")
	c.expect("version", 0)
	if c.u8("flags")&1 != 0 {
		c.skip(8) // greatest order of creation
	}
	at, names := c.address("fractal heap"), c.address("index of names")
	if c.err != nil || at == undefined {
		return nil, c.err
	}
	heap, err := f.fractalHeap(at)
	if err != nil {
		return nil, err
	}
	t, err := f.tree2("B-tree of links", names, 5)
	if err != nil {
		return nil, err
	}
	var links []link
	bytes := 0
	err = t.each(func(c *cursor) error {
		c.u32("hash")
		id := c.take(min(heap.idBytes, c.left()), "heap ID")
		if c.err != nil {
			return c.err
		}
		b, err := heap.object(id)
		if err != nil {
			return err
		}
		if bytes += len(b); len(links) >= f.limit.names || bytes > f.limit.nameBytes {
			return f.tooMany()
		}
		l, err := f.readLink(message{body: b, addr: at})
		links = append(links, l)
		return err
	}, stop)
	return links, err
}
