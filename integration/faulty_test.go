package integration

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// faulty is a file system that fails as disks and file servers do. This process serves it, so only the program
// may read it: a read by this process could deadlock.
type faulty struct {
	dir string // the mountpoint

	mu    sync.Mutex
	fault fault
	epoch int // files that were opened in an earlier epoch are stale
}

// fault returns the error of an operation on bytes start to end of the path. 0 is success.
type fault func(ctx context.Context, op, path string, start, end int64) syscall.Errno

// The operations that a fault can let fail.
const (
	opOpen   = "open"
	opRead   = "read"
	opStat   = "stat"   // of a file whose name was looked up before
	opLookup = "lookup" // of a name
	opList   = "list"
)

// serveFaulty mounts the directory until the end of the test. The kernel caches nothing of it, so every request
// of the program gets here.
func serveFaulty(t testing.TB, source string) *faulty {
	t.Helper()
	requireFUSE(t)
	f := &faulty{dir: tempDir(t)}
	root := &gofs.LoopbackRoot{Path: source}
	node := &faultyNode{&gofs.LoopbackNode{RootData: root}, f}
	root.RootNode = node
	server, err := gofs.Mount(f.dir, node, &gofs.Options{MountOptions: fuse.MountOptions{
		Name: "faulty", DirectMount: os.Geteuid() == 0, DisableSplice: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// On a busy machine, the kernel closes the files of a process a moment after its end.
		err := server.Unmount()
		for end := time.Now().Add(deadline); err != nil && time.Now().Before(end); err = server.Unmount() {
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			t.Errorf("unmount the source: %v", err)
		}
	})
	return f
}

// set sets the fault of all later operations. With nil, all succeed.
func (f *faulty) set(fault fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// makeHandlesStale makes all open files stale, as when a file server has lost them.
func (f *faulty) makeHandlesStale() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epoch++
}

// inject returns the error of an operation, and the current epoch.
func (f *faulty) inject(ctx context.Context, op, path string, start, end int64) (syscall.Errno, int) {
	f.mu.Lock()
	fault, epoch := f.fault, f.epoch
	f.mu.Unlock()
	if fault == nil {
		return 0, epoch
	}
	return fault(ctx, op, path, start, end), epoch
}

// faultyNode is a file or directory of a faulty file system.
type faultyNode struct {
	*gofs.LoopbackNode
	faulty *faulty
}

var (
	_ gofs.NodeOpener         = (*faultyNode)(nil)
	_ gofs.NodeGetattrer      = (*faultyNode)(nil)
	_ gofs.NodeLookuper       = (*faultyNode)(nil)
	_ gofs.NodeOpendirHandler = (*faultyNode)(nil)
	_ gofs.NodeWrapChilder    = (*faultyNode)(nil)
)

func (n *faultyNode) WrapChild(_ context.Context, child gofs.InodeEmbedder) gofs.InodeEmbedder {
	return &faultyNode{child.(*gofs.LoopbackNode), n.faulty}
}

func (n *faultyNode) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	path := n.Path(n.Root())
	number, epoch := n.faulty.inject(ctx, opOpen, path, 0, 0)
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
	if number, _ := n.faulty.inject(ctx, opStat, n.Path(n.Root()), 0, 0); number != 0 {
		return number
	}
	return n.LoopbackNode.Getattr(ctx, nil, out)
}

func (n *faultyNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if number, _ := n.faulty.inject(ctx, opLookup, filepath.Join(n.Path(n.Root()), name), 0, 0); number != 0 {
		return nil, number
	}
	return n.LoopbackNode.Lookup(ctx, name, out)
}

func (n *faultyNode) OpendirHandle(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if number, _ := n.faulty.inject(ctx, opList, n.Path(n.Root()), 0, 0); number != 0 {
		return nil, 0, number
	}
	return n.LoopbackNode.OpendirHandle(ctx, flags)
}

// loopbackFile has the methods of go-fuse's open files that faultyFile uses.
type loopbackFile interface {
	gofs.FileReader
	gofs.FileReleaser
}

// faultyFile is an open file of a faulty file system.
type faultyFile struct {
	node  *faultyNode
	below loopbackFile
	path  string
	epoch int
}

func (f *faultyFile) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	number, epoch := f.node.faulty.inject(ctx, opRead, f.path, off, off+int64(len(dest)))
	switch {
	case number != 0:
		return nil, number
	case epoch != f.epoch:
		return nil, syscall.ESTALE
	}
	return f.below.Read(ctx, dest, off)
}

func (f *faultyFile) Release(ctx context.Context) syscall.Errno { return f.below.Release(ctx) }
