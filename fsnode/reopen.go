//go:build linux

package fsnode

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// reopens keeps the files that the kernel opens again.
//
// If a file has changed since its lookup, Open returns ESTALE. The kernel then looks up the name and opens the
// file once more, in the same system call. If the file changes between these two requests, a second ESTALE
// reaches the program. So Open keeps the new version open. The lookup and the open that follow, from the same
// thread, find this version, whatever the source has by then. It was current during the system call.
//
// The kernel does not repeat the open if the thread is killed, or if the new version forbids the open. So the
// file is closed after reopenTimeout, or when the thread opens something else.
type reopens struct {
	mu    sync.Mutex
	files map[uint32]*reopen // by thread
}

// reopen is a file that a thread opens again.
type reopen struct {
	openFile
	path  string
	timer *time.Timer
}

// reopenTimeout is how long a file is kept. The kernel repeats an open at once, but a source may answer the
// lookups of the directories late.
const reopenTimeout = time.Second

// threadOf returns the thread that sent a request. It returns 0 if the thread is in another PID namespace.
func threadOf(ctx context.Context) uint32 {
	if caller, ok := fuse.FromContext(ctx); ok {
		return caller.Pid
	}
	return 0
}

// keep keeps a file until the thread opens it again. It returns false if the thread is not known.
func (r *reopens) keep(ctx context.Context, path string, f openFile) bool {
	thread := threadOf(ctx)
	if thread == 0 {
		return false
	}
	kept := &reopen{openFile: f, path: path}
	r.mu.Lock()
	if r.files == nil {
		r.files = map[uint32]*reopen{}
	}
	last := r.files[thread]
	r.files[thread] = kept
	kept.timer = time.AfterFunc(reopenTimeout, func() { r.drop(thread, kept) })
	r.mu.Unlock()
	last.end()
	return true
}

// drop closes a file that its thread has not opened again.
func (r *reopens) drop(thread uint32, kept *reopen) {
	r.mu.Lock()
	ours := r.files[thread] == kept
	if ours {
		delete(r.files, thread)
	}
	r.mu.Unlock()
	if ours {
		kept.close()
	}
}

// stat returns the description of a path that the thread opens again, or nil.
func (r *reopens) stat(ctx context.Context, path string) fs.FileInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept := r.files[threadOf(ctx)]; kept != nil && kept.path == path {
		return kept.info
	}
	return nil
}

// take returns the file that was kept for the thread, if it is this version of this path.
func (r *reopens) take(ctx context.Context, path string, version vfs.Version) (f openFile, ok bool) {
	thread := threadOf(ctx)
	r.mu.Lock()
	kept := r.files[thread]
	delete(r.files, thread)
	r.mu.Unlock()
	if kept == nil || kept.path != path || vfs.VersionOf(kept.info) != version {
		kept.end()
		return openFile{}, false
	}
	kept.timer.Stop()
	return kept.openFile, true
}

// end closes a file that was removed from the map. kept may be nil.
func (kept *reopen) end() {
	if kept != nil {
		kept.timer.Stop()
		kept.close()
	}
}
