//go:build linux

package fsnode

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// Type is the file system type of the mounts in /proc/self/mounts.
const Type = "fuse.wkwfs"

// Options are the options of a mount. The zero value is valid.
type Options struct {
	Source     string       // device name in the table of mounts
	AllowOther bool         // other users may use the mount, within the permissions of its files
	ReadAhead  int          // readahead of the kernel in KiB, if the process may set it; 0: the default of the kernel
	Log        *slog.Logger // nil: nothing is logged
	Debug      bool         // log each request, at the level Debug
	Observer   Observer     // nil: nothing is counted
	Kernel     []string     // further mount options for the kernel

	// AnswersAtOnce reports whether the file system answers without delay, as local disks do. If it returns
	// false, or is nil, a program that waits for a lookup, an open, a listing or a read without a context can
	// be killed, but each of them takes 30 to 40 µs longer. AnswersAtOnce is called for each request. It must
	// be fast and safe for concurrent use.
	AnswersAtOnce func() bool

	// Writable lets programs write the files that are a [Writer], within their permissions. Without it the mount is
	// read-only.
	Writable bool
	// Saver lets programs save whole files, if the mount is Writable. It is fsys, or knows its names.
	Saver Saver

	// UID and GID replace the owner and the group of all entries, unless they are nil.
	UID, GID *uint32
	// Umask replaces the permissions of all entries: 0444 for files and 0555 for directories, without the
	// bits of Umask. Nil: the permissions of the fs.FS, without write permission.
	Umask *fs.FileMode
}

// A Server serves a mount. Its methods are safe for concurrent use.
type Server struct {
	fuse       *fuse.Server
	nodes      fuse.RawFileSystem
	mountpoint string
	served     <-chan struct{} // closed when the last request was answered
}

const (
	// maxRequest is the maximum size of a read request, in bytes.
	maxRequest = 1 << 20
	// maxBackground is the maximum number of readahead requests in flight.
	maxBackground = 64
	// maxRequestBytes bounds the buffers of requests. Each request has a buffer of 1 MiB, even a small one.
	maxRequestBytes = 64 << 20
	// cacheTimeout is how long the kernel may use names and attributes from its cache. Opens do not depend on
	// it (see the package comment).
	cacheTimeout = time.Second
)

// Mount mounts fsys at the directory mountpoint and serves it in the background. It returns when the mount answers
// requests. A process of root mounts by itself. For other users the program fusermount3 must be installed. The mount is
// read-only unless [Options].Writable is set, and always nosuid, nodev and noexec, and the kernel checks the
// permissions of its files.
//
// If mountpoint is a [Descriptor], Mount serves the mount of another program, and needs no privileges. That program has
// chosen the options of the mount.
//
// fsys must be safe for concurrent use. The caller keeps it open until [Server.Wait] returns.
func Mount(mountpoint string, fsys fs.FS, o Options) (*Server, error) {
	o = o.withDefaults()
	m, nodes, options, err := newNodes(fsys, o)
	if err != nil {
		return nil, err
	}
	if _, ok := Descriptor(mountpoint); ok {
		options.DirectMountStrict = false // there is nothing to mount
	}
	server, err := fuse.NewServer(nodes, mountpoint, options)
	if err != nil {
		return nil, err
	}
	m.mapsDirect.Store(server.KernelSettings().Flags64()&fuse.CAP_DIRECT_IO_ALLOW_MMAP != 0)
	served := serve(server)
	if err := server.WaitMount(); err != nil {
		return nil, err
	}
	if _, ok := Descriptor(mountpoint); !ok && o.ReadAhead > 0 {
		if err := setReadAhead(mountpoint, o.ReadAhead); err != nil {
			o.Log.Debug("cannot set the readahead of the kernel", "err", err)
		}
	}
	return &Server{server, nodes, mountpoint, served}, nil
}

// serve starts the loops that serve a mount. The channel is closed when all of them have ended: after a panic of the
// first, the others go on.
func serve(loops interface {
	Serve() // the first loop, which starts the others
	Wait()  // for the others
}) <-chan struct{} {
	served := make(chan struct{})
	go guard.Func("fsnode.serve", func() { // ends with the mount
		defer close(served)
		defer loops.Wait()
		loops.Serve()
		guard.Pass("fsnode.serve")
	})()
	return served
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = noObserver{}
	}
	return o
}

// newNodes returns the state of a mount, the handler of its requests, and the options to mount it with.
func newNodes(fsys fs.FS, o Options) (*mount, fuse.RawFileSystem, *fuse.MountOptions, error) {
	info, err := fs.Stat(fsys, ".")
	if err != nil {
		return nil, nil, nil, err
	}
	m := &mount{
		fsys:     fsys,
		log:      newReporter(o.Log, o.Observer),
		observer: o.Observer,
		override: override{o.UID, o.GID, o.Umask},
		calls:    newSourceCalls(o.AnswersAtOnce),
		limits:   usual,
	}
	m.writable, m.saver = o.Writable, o.Saver
	m.onceReads.limits = usual.once
	top := m.newNode(".")
	top.info.set(info)
	timeout := cacheTimeout
	options := &gofs.Options{
		EntryTimeout:    &timeout,
		AttrTimeout:     &timeout,
		NullPermissions: true, // otherwise mode 0 becomes 0644
		RootStableAttr:  &gofs.StableAttr{Ino: rootIno, Gen: 1},
		ExternalNodeID:  true,
		MountOptions:    mountOptions(o),
	}
	return m, inodeNumbers{readOnly{gofs.NewNodeFS(top, options), o.Writable}}, &options.MountOptions, nil
}

func mountOptions(o Options) fuse.MountOptions {
	m := fuse.MountOptions{
		FsName:                  o.Source,
		Name:                    "wkwfs",
		AllowOther:              o.AllowOther,
		Options:                 append([]string{"default_permissions"}, o.Kernel...),
		DirectMountFlags:        unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC,
		MaxWrite:                maxRequest,
		MaxReadAhead:            maxRequest,
		MaxBackground:           maxBackground,
		MaxInflightRequestBytes: maxRequestBytes,
		// Splicing 1 MiB always falls back to writing, after three system calls.
		DisableSplice: true,
		// The content of a node never changes, so there is nothing to invalidate.
		ExplicitDataCacheControl: true,
		IgnoreSecurityLabels:     true,
		// READDIRPLUS_AUTO: plain listings need no attributes. EXPORT_SUPPORT: the kernel asks for nodes that it
		// has forgotten (LookupNode). DIRECT_IO_ALLOW_MMAP: see mapsDirect.
		ExtraCapabilities: fuse.CAP_READDIRPLUS_AUTO | fuse.CAP_EXPORT_SUPPORT | fuse.CAP_DIRECT_IO_ALLOW_MMAP,
		Debug:             o.Debug,
		Logger:            log.New(debugWriter{o.Log}, "", 0),
		PanicHandler: func(p any) fuse.Status {
			err := guard.Recovered("fsnode.request", p)
			o.Log.Error("panic while serving a request", "err", err, "stack", guard.TakeStack(err))
			return fuse.EIO
		},
	}
	if os.Geteuid() == 0 {
		m.DirectMountStrict = true
	} else {
		m.Options = append(m.Options, "nosuid", "nodev", "noexec")
	}
	if o.Saver != nil { // opening and truncating are one request, so that it is known who saves
		m.ExtraCapabilities |= fuse.CAP_ATOMIC_O_TRUNC
	}
	if !o.Writable {
		m.DirectMountFlags |= unix.MS_RDONLY
		if !m.DirectMountStrict {
			m.Options = append(m.Options, "ro")
		}
	}
	return m
}

// Wait returns after the mount has ended and the last request was answered.
func (s *Server) Wait() { <-s.served }

// Check returns nil if the server can answer requests. If it does not return, the server hangs. It needs
// neither the kernel nor the file system.
func (s *Server) Check() error {
	var out fuse.StatfsOut
	if status := s.nodes.StatFs(nil, &fuse.InHeader{NodeId: fuse.FUSE_ROOT_ID}, &out); !status.Ok() {
		return fmt.Errorf("statfs: %w", syscall.Errno(status))
	}
	return nil
}

// Unmount removes the mount from the tree. Open files can be read until they are closed. Unmount does not
// wait for that, nor for requests, because the file system may never answer them. The error is [ErrNotOurs] if the
// mountpoint is a [Descriptor].
func (s *Server) Unmount() error {
	if _, ok := Descriptor(s.mountpoint); ok {
		return ErrNotOurs
	}
	if err := unmountLazily(s.mountpoint); err != nil {
		return fmt.Errorf("unmount %s: %w", s.mountpoint, err)
	}
	return nil
}

// debugWriter logs the lines of a log.Logger at the level Debug.
type debugWriter struct{ log *slog.Logger }

func (w debugWriter) Write(p []byte) (int, error) {
	w.log.LogAttrs(context.Background(), slog.LevelDebug, strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}
