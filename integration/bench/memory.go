package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// serveMemory is the first argument that makes the program a FUSE server. The second argument is the file that
// it serves, the third is the mountpoint.
const serveMemory = "serve-memory"

// Settings that affect the speed of a mount. They are those of wkwfs, except the readahead, which is the best one for a
// file in memory.
const (
	requestSize = 1 << 20
	background  = 64
	readAhead   = 256 // KiB
)

// memoryFile is a file in the server's memory. It shows the cost of FUSE alone.
type memoryFile struct {
	gofs.Inode
	data []byte
}

var (
	_ gofs.NodeOpener    = (*memoryFile)(nil)
	_ gofs.NodeReader    = (*memoryFile)(nil)
	_ gofs.NodeGetattrer = (*memoryFile)(nil)
)

func (f *memoryFile) Open(context.Context, uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0
}

func (f *memoryFile) Getattr(_ context.Context, _ gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size = 0o444, uint64(len(f.data))
	return 0
}

func (f *memoryFile) Read(_ context.Context, _ gofs.FileHandle, p []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	start := min(int(off), len(f.data))
	return fuse.ReadResultData(f.data[start:min(start+len(p), len(f.data))]), 0
}

// serveFromMemory serves a copy of the file until it is unmounted. It notifies NOTIFY_SOCKET when it serves.
func serveFromMemory(file, dir string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	root := &gofs.Inode{}
	server, err := gofs.Mount(dir, root, &gofs.Options{
		OnAdd: func(ctx context.Context) {
			child := root.NewPersistentInode(ctx, &memoryFile{data: data}, gofs.StableAttr{Mode: syscall.S_IFREG})
			root.AddChild(filepath.Base(file), child, false)
		},
		MountOptions: fuse.MountOptions{
			FsName: file, Name: "wkwfs-bench",
			MaxWrite: requestSize, MaxReadAhead: requestSize, MaxBackground: background,
			DirectMount: true, DisableSplice: true, ExplicitDataCacheControl: true,
		},
	})
	if err != nil {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	if err := setReadAhead(dir); err != nil {
		return err
	}
	if err := notifyReady(); err != nil {
		return err
	}
	server.Wait()
	return nil
}

// setReadAhead sets the kernel's readahead, if that is permitted.
func setReadAhead(dir string) error {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return err
	}
	path := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(st.Dev), unix.Minor(st.Dev))
	err := os.WriteFile(path, fmt.Append(nil, readAhead), 0)
	if os.IsPermission(err) {
		return nil
	}
	return err
}

// notifyReady notifies the process that started the server.
func notifyReady() error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: os.Getenv("NOTIFY_SOCKET"), Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("READY=1"))
	return err
}
