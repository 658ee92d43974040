package integration

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// faulty is a directory as a file system that does what failing disks and file servers
// do. It is served by this process, so nobody here may look at it: the program does.
type faulty struct {
	dir string // where it is mounted

	mu    sync.Mutex
	fault fault
	epoch int // files that were opened in an earlier one are stale
}

// fault decides how an operation on bytes off … end of the path ends; 0: well.
type fault func(ctx context.Context, op, path string, off, end int64) syscall.Errno

// The operations that a fault is asked about.
const (
	opOpen = "open"
	opRead = "read"
	opStat = "stat" // of what is known by its name already
	opLook = "look" // of a name
	opList = "list"
)

// serveFaulty mounts the directory until the end of the test. Nothing of it stays in
// the kernel: every question of the program comes here.
func serveFaulty(t *testing.T, source string) *faulty {
	t.Helper()
	requireFUSE(t)
	f := &faulty{dir: tempDir(t)}
	root := &gofs.LoopbackRoot{Path: source}
	root.NewNode = func(_ *gofs.LoopbackRoot, _ *gofs.Inode, _ string, _ *syscall.Stat_t) gofs.InodeEmbedder {
		return &faultyNode{gofs.LoopbackNode{RootData: root}, f}
	}
	node := &faultyNode{gofs.LoopbackNode{RootData: root}, f}
	root.RootNode = node
	server, err := gofs.Mount(f.dir, node, &gofs.Options{MountOptions: fuse.MountOptions{
		Name: "faulty", DirectMount: os.Geteuid() == 0, DisableSplice: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("unmounting the source: %v", err)
		}
	})
	return f
}

// set changes how operations end; nil: all end well.
func (f *faulty) set(fault fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// restart makes all open files stale, as a file server does that has forgotten them.
func (f *faulty) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epoch++
}

func (f *faulty) ask(ctx context.Context, op, path string, off, end int64) (syscall.Errno, int) {
	f.mu.Lock()
	fault, epoch := f.fault, f.epoch
	f.mu.Unlock()
	if fault == nil {
		return 0, epoch
	}
	return fault(ctx, op, path, off, end), epoch
}

// faultyNode is a file or directory of a faulty source.
type faultyNode struct {
	gofs.LoopbackNode
	faulty *faulty
}

var (
	_ gofs.NodeOpener         = (*faultyNode)(nil)
	_ gofs.NodeGetattrer      = (*faultyNode)(nil)
	_ gofs.NodeLookuper       = (*faultyNode)(nil)
	_ gofs.NodeOpendirHandler = (*faultyNode)(nil)
)

func (n *faultyNode) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	path := n.Path(n.Root())
	number, epoch := n.faulty.ask(ctx, opOpen, path, 0, 0)
	if number != 0 {
		return nil, 0, number
	}
	below, fuseFlags, number := n.LoopbackNode.Open(ctx, flags)
	if number != 0 {
		return nil, 0, number
	}
	return &faultyFile{n, below.(loopbackFile), path, epoch}, fuseFlags | fuse.FOPEN_DIRECT_IO, 0
}

func (n *faultyNode) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if number, _ := n.faulty.ask(ctx, opStat, n.Path(n.Root()), 0, 0); number != 0 {
		return number
	}
	return n.LoopbackNode.Getattr(ctx, nil, out)
}

func (n *faultyNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if number, _ := n.faulty.ask(ctx, opLook, filepath.Join(n.Path(n.Root()), name), 0, 0); number != 0 {
		return nil, number
	}
	return n.LoopbackNode.Lookup(ctx, name, out)
}

func (n *faultyNode) OpendirHandle(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if number, _ := n.faulty.ask(ctx, opList, n.Path(n.Root()), 0, 0); number != 0 {
		return nil, 0, number
	}
	return n.LoopbackNode.OpendirHandle(ctx, flags)
}

// loopbackFile is what is used of a file that go-fuse opened.
type loopbackFile interface {
	gofs.FileReader
	gofs.FileReleaser
}

// faultyFile is an open file of a faulty source.
type faultyFile struct {
	node  *faultyNode
	below loopbackFile
	path  string
	epoch int
}

func (f *faultyFile) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	number, epoch := f.node.faulty.ask(ctx, opRead, f.path, off, off+int64(len(dest)))
	switch {
	case number != 0:
		return nil, number
	case epoch != f.epoch:
		return nil, syscall.ESTALE
	}
	return f.below.Read(ctx, dest, off)
}

func (f *faultyFile) Release(ctx context.Context) syscall.Errno { return f.below.Release(ctx) }
