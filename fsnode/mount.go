package fsnode

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Type is the file system type that the kernel shows for our mounts.
const Type = "fuse.wkwfs"

// Options says how to mount.
type Options struct {
	Source     string       // shown as the device of the mount
	AllowOther bool         // let other users in, as the permissions of the source allow
	ReadAhead  int          // KiB that the kernel reads ahead, set where permitted; 0 = leave
	Log        *slog.Logger // nil: nothing is logged
	Debug      bool         // log every request
	Observer   Observer     // nil: nobody looks on
	Kernel     []string     // further mount options for the kernel

	// Prompt reports whether the file system answers lookups, opens and listings at once, as local disks do. If it does
	// not, or is nil, a reader that waits for them can be killed, and each takes 30 to 40 µs longer.
	Prompt func() bool

	// What is shown instead of what the source says; nil: what the source says.
	UID, GID *uint32      // owner and group
	Umask    *fs.FileMode // everybody may read, but for these bits
}

// Server is a mount that is being served.
type Server struct {
	fuse       *fuse.Server
	nodes      fuse.RawFileSystem
	mountpoint string
}

const (
	// requestSize is the most that the kernel asks for, or gets, at once.
	requestSize = 1 << 20
	// background is how many requests the kernel may have under way for readahead.
	background = 64
	// inflight bounds the buffers for requests: 1 MiB each, also for small ones.
	inflight = 64 << 20
	// believed is for how long the kernel may trust names and attributes. Opens do
	// not depend on it (package comment).
	believed = time.Second
)

// Mount mounts fsys and returns when it is being served. As root it asks the kernel
// itself; other users need fusermount3. Whatever else the caller says, the mount is
// read-only, nosuid, nodev and noexec, and the kernel checks permissions.
func Mount(mountpoint string, fsys fs.FS, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	nodes, options, err := newNodes(fsys, o)
	if err != nil {
		return nil, err
	}
	server, err := fuse.NewServer(nodes, mountpoint, options)
	if err != nil {
		return nil, err
	}
	go server.Serve() // ends with the mount; Wait and Unmount wait for it
	if err := server.WaitMount(); err != nil {
		return nil, err
	}
	if o.ReadAhead > 0 {
		if err := setReadAhead(mountpoint, o.ReadAhead); err != nil {
			o.Log.Debug("readahead left as it is", "err", err)
		}
	}
	return &Server{server, nodes, mountpoint}, nil
}

// newNodes makes what answers the requests of a mount.
func newNodes(fsys fs.FS, o Options) (fuse.RawFileSystem, *fuse.MountOptions, error) {
	info, err := fs.Stat(fsys, ".")
	if err != nil {
		return nil, nil, err
	}
	top := &node{path: ".", served: &served{
		fsys:     fsys,
		log:      newReporter(o.Log, o.Observer),
		observer: o.Observer,
		access:   access{o.UID, o.GID, o.Umask},
		calls:    newCalls(o.Log, o.Prompt),
	}}
	top.root.info = info
	top.root.stat = func() (fs.FileInfo, error) { return fs.Stat(fsys, ".") }
	top.root.failed = func(err error) { top.log.errno("getattr", ".", err) }
	timeout := believed
	options := &gofs.Options{
		EntryTimeout:    &timeout,
		AttrTimeout:     &timeout,
		NullPermissions: true, // mode 0 in the source is mode 0 here
		RootStableAttr:  &gofs.StableAttr{Ino: rootIno, Gen: 1},
		MountOptions:    mountOptions(o),
	}
	return gofs.NewNodeFS(top, options), &options.MountOptions, nil
}

func mountOptions(o Options) fuse.MountOptions {
	m := fuse.MountOptions{
		FsName:                  o.Source,
		Name:                    "wkwfs",
		AllowOther:              o.AllowOther,
		Options:                 append([]string{"default_permissions"}, o.Kernel...),
		DirectMountFlags:        unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC,
		MaxWrite:                requestSize,
		MaxReadAhead:            requestSize,
		MaxBackground:           background,
		MaxInflightRequestBytes: inflight,
		// Splicing 1 MiB always falls back, after three system calls.
		DisableSplice: true,
		// Content never changes under a node, so there is nothing to invalidate.
		ExplicitDataCacheControl: true,
		IgnoreSecurityLabels:     true,
		ExtraCapabilities:        fuse.CAP_READDIRPLUS_AUTO, // plain listings need no attributes
		Debug:                    o.Debug,
		Logger:                   log.New(lines{o.Log}, "", 0),
		PanicHandler: func(p any) fuse.Status {
			o.Log.Error("panic while serving a request", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			return fuse.EIO
		},
	}
	if os.Geteuid() == 0 {
		m.DirectMountStrict = true
	} else {
		m.Options = append(m.Options, "ro", "nosuid", "nodev", "noexec")
	}
	return m
}

// Wait returns when the mount is gone and the last request was answered.
func (s *Server) Wait() { s.fuse.Wait() }

// Check returns when the server has answered a question that the kernel could have
// asked, but for which neither the kernel nor the source is needed. If it does not
// return, requests do not either.
func (s *Server) Check() error {
	var out fuse.StatfsOut
	if status := s.nodes.StatFs(nil, &fuse.InHeader{NodeId: fuse.FUSE_ROOT_ID}, &out); !status.Ok() {
		return fmt.Errorf("statfs: %w", syscall.Errno(status))
	}
	return nil
}

// Unmount takes the mount away. While it is busy, it disappears from the tree and is served until the last
// file is closed. Unmount does not wait for requests: the source may never answer them.
func (s *Server) Unmount() error {
	if err := unmountLazily(s.mountpoint); err != nil {
		return fmt.Errorf("unmount %s: %w", s.mountpoint, err)
	}
	return nil
}

// lines turns the lines of a log.Logger into debug records.
type lines struct{ log *slog.Logger }

func (l lines) Write(p []byte) (int, error) {
	l.log.LogAttrs(context.Background(), slog.LevelDebug, strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}
