//go:build linux

package fsnode

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/small/guard"
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
	r.replace(thread, &reopen{openFile: f, path: path}).end()
	return true
}

// replace keeps a file for a thread. It returns the one that was kept before, or nil.
func (r *reopens) replace(thread uint32, kept *reopen) (last *reopen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = map[uint32]*reopen{}
	}
	last = r.files[thread]
	r.files[thread] = kept
	kept.timer = time.AfterFunc(reopenTimeout, guard.Func("fsnode.reopen", func() { r.drop(thread, kept) }))
	return last
}

// drop closes a file that its thread has not opened again.
func (r *reopens) drop(thread uint32, kept *reopen) {
	if r.remove(thread, kept) {
		defer kept.close()
		guard.Pass("fsnode.reopen")
	}
}

// remove removes a file. It returns false if it is not kept any more.
func (r *reopens) remove(thread uint32, kept *reopen) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files[thread] != kept {
		return false
	}
	delete(r.files, thread)
	return true
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
	kept := r.pop(threadOf(ctx))
	if kept == nil || kept.path != path || vfs.VersionOf(kept.info) != version {
		kept.end()
		return openFile{}, false
	}
	kept.timer.Stop()
	return kept.openFile, true
}

// pop removes the file that is kept for a thread, and returns it. It returns nil if there is none.
func (r *reopens) pop(thread uint32) *reopen {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.files[thread]
	delete(r.files, thread)
	return kept
}

// end closes a file that was removed from the map. kept may be nil.
func (kept *reopen) end() {
	if kept != nil {
		kept.timer.Stop()
		kept.close()
	}
}
