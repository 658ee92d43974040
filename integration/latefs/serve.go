package latefs

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// settings are the parsed command line.
type settings struct {
	source, dir string
	mode        Mode
	control     string // path of a socket; empty: no socket
	hold        bool   // end when standard input or the parent ends
	counts      bool   // print the counts at the end
}

// Run is the command "latefs [flags] SOURCE MOUNTPOINT". It serves until something unmounts the mount, or until
// it gets SIGTERM, SIGINT, SIGHUP or SIGQUIT. After a signal it unmounts, also while the mount is in use. It
// notifies NOTIFY_SOCKET when it serves.
func Run(args []string, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	g := newGate(s.mode)
	server, err := s.mount(g)
	if err != nil {
		return fmt.Errorf("mount %s: %w", s.dir, err)
	}
	err = s.serve(g, server, signals)
	if s.counts {
		_, c := g.snapshot()
		fmt.Fprintf(stderr,
			"latefs: %d reads of %d KiB in total, at most %d in flight; %d metadata requests, at most %d in flight: %v\n",
			c.Reads, c.Bytes>>10, c.MostReads, c.Metadata, c.MostMetadata, c.Requests)
	}
	return err
}

func parse(args []string, stderr io.Writer) (s settings, err error) {
	set := flag.NewFlagSet("latefs", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintln(stderr, "latefs [flags] SOURCE MOUNTPOINT: mount a directory as a file system that answers late")
		set.PrintDefaults()
	}
	s.mode.register(set)
	set.StringVar(&s.control, "control", "",
		"`path` of a socket that reads lines of these flags while the file system is mounted, and answers with counts")
	set.BoolVar(&s.hold, "hold", false, "end when standard input or the parent process ends")
	set.BoolVar(&s.counts, "counts", false, "print the number of requests at the end")
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if set.NArg() != 2 {
		return s, fmt.Errorf("expected SOURCE and MOUNTPOINT, found %q", set.Args())
	}
	if s.source, err = filepath.Abs(set.Arg(0)); err != nil {
		return s, err
	}
	s.dir, err = filepath.Abs(set.Arg(1))
	return s, errors.Join(err, s.mode.check())
}

// requestSize is the maximum size of a request, in bytes.
const requestSize = 1 << 20

func (s settings) mount(g *gate) (*fuse.Server, error) {
	root, err := gofs.NewLoopbackRoot(s.source)
	if err != nil {
		return nil, err
	}
	cacheTime := time.Second
	o := gofs.Options{
		EntryTimeout: &cacheTime, AttrTimeout: &cacheTime, NullPermissions: true,
		MountOptions: fuse.MountOptions{
			FsName: s.source, Name: "latefs",
			MaxWrite: requestSize, MaxBackground: 1024,
			DisableSplice:        true,
			DisabledCapabilities: fuse.CAP_PASSTHROUGH, // every read must reach this server
			DirectMount:          os.Geteuid() == 0,
			DirectMountFlags:     unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV,
		},
	}
	if os.Geteuid() == 0 {
		o.AllowOther = true
	} else {
		o.Options = []string{"ro"}
	}
	server, err := fuse.NewServer(&requests{gofs.NewNodeFS(root, &o), g}, s.dir, &o.MountOptions)
	if err != nil {
		return nil, err
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return nil, errors.Join(err, unmount(s.dir))
	}
	return server, nil
}

// serve returns when nothing is mounted any more.
func (s settings) serve(g *gate, server *fuse.Server, signals <-chan os.Signal) error {
	unmounted := make(chan struct{})
	go func() { server.Wait(); close(unmounted) }()
	if s.control != "" {
		l, err := listen(s.control, g)
		if err != nil {
			return errors.Join(err, unmount(s.dir))
		}
		defer l.Close()
	}
	var ended chan struct{}
	if s.hold {
		ended = make(chan struct{})
		go awaitParent(ended)
	}
	if err := notifyReady(); err != nil {
		return errors.Join(err, unmount(s.dir))
	}
	select {
	case <-unmounted:
		return nil
	case <-signals:
	case <-ended:
	}
	g.set(Mode{}, false)
	// Do not wait for files that are open: they lose their server.
	return unmount(s.dir)
}

// awaitParent closes the channel when standard input or the parent process ends. It has to poll the parent:
// while the parent ends, it may wait for this file system, and its end of the pipe stays open for that time.
func awaitParent(ended chan<- struct{}) {
	input := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(input) }() // an error also ends the input
	defer close(ended)
	for parent := os.Getppid(); !killed(uint32(parent)); {
		select {
		case <-input:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// unmount removes the mount, also while it is in use.
func unmount(dir string) error {
	if os.Geteuid() == 0 {
		return os.NewSyscallError("umount "+dir, unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW))
	}
	output, err := exec.Command("fusermount3", "-u", "-z", "--", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("unmounting %s: %w: %s", dir, err, output)
	}
	return nil
}

// notifyReady notifies the service manager at NOTIFY_SOCKET that the file system is mounted.
func notifyReady() error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("READY=1"))
	return err
}
