//go:build linux

package fsnode

import (
	"context"
	"path"
	"sync"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// nodePaths remembers the paths of nodes, the most recently used ones.
//
// The kernel forgets nodes when it needs memory. Programs may still have their handles: name_to_handle_at(2) makes
// them, and NFS servers give them to their clients. For the handle of a node that it has forgotten, the kernel sends
// the number of the node only.
type nodePaths struct {
	mu    sync.Mutex
	paths *lru.Cache[uint64, string] // by the number of the node
}

const (
	// nodePathsBudget bounds the memory of the paths, in bytes: about 80,000 of 50 bytes.
	nodePathsBudget = 16 << 20
	// nodePathOverhead is about the memory of one path without its bytes.
	nodePathOverhead = 160
)

// remember makes the path the most recently used one.
func (p *nodePaths) remember(id uint64, path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paths == nil {
		p.paths = lru.New[uint64, string](nodePathsBudget)
	}
	if _, ok := p.paths.Get(id); !ok {
		p.paths.Put(id, path, int64(len(path)+nodePathOverhead))
	}
}

// of returns the path of a node, if it is remembered.
func (p *nodePaths) of(id uint64) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paths == nil {
		return "", false
	}
	return p.paths.Get(id)
}

var (
	_ gofs.NodeOnForgetter    = (*node)(nil)
	_ gofs.NodeLookupNoder    = (*node)(nil)
	_ gofs.NodeLookupParenter = (*node)(nil)
)

// OnForget keeps the path of the node: a program may have its handle.
func (n *node) OnForget() {
	if n.path != "." {
		n.paths.remember(n.StableAttr().Ino, n.path)
	}
}

// LookupNode finds a node that the kernel has forgotten. It is called for the root. It returns ESTALE if the path is
// not remembered, or if the file has another version now.
func (n *node) LookupNode(ctx context.Context, id uint64, out *fuse.EntryOut) (_ *gofs.Inode, number syscall.Errno) {
	name, ok := n.paths.of(id)
	if !ok {
		return nil, syscall.ESTALE
	}
	defer n.log.boundary("lookup", name, &number)
	found := n.newNode(name)
	info, err := found.stat(ctx)
	if err != nil {
		return nil, n.log.errno("lookup", name, err)
	}
	if found.found(info); found.id() != id {
		return nil, syscall.ESTALE
	}
	found.setAttr(&out.Attr, info)
	return n.newChild(ctx, found), 0
}

// LookupParent finds the directory of the node, and returns the name of the node there. The kernel asks for it after
// LookupNode, to put the node into its tree of names.
func (n *node) LookupParent(ctx context.Context, out *fuse.EntryOut) (_ *gofs.Inode, _ string, number syscall.Errno) {
	defer n.log.boundary("lookup", path.Dir(n.path), &number)
	dir, name := n.newNode(path.Dir(n.path)), path.Base(n.path)
	info, err := dir.stat(ctx)
	switch {
	case err != nil:
		return nil, "", n.log.errno("lookup", dir.path, err)
	case !info.IsDir():
		return nil, "", syscall.ESTALE
	}
	dir.setAttr(&out.Attr, info)
	if dir.path == "." {
		return n.Root(), name, 0
	}
	dir.found(info)
	return n.newChild(ctx, dir), name, 0
}
