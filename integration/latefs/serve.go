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

// settings are what the command line says.
type settings struct {
	source, dir string
	mode        Mode
	control     string // path of a socket; empty: there is none
	hold        bool   // end when standard input does, or our parent
	counts      bool   // say at the end what was asked for
}

// Run is the command "latefs [flags] SOURCE MOUNTPOINT". It serves until the mount is gone, or until SIGTERM, SIGINT,
// SIGHUP or SIGQUIT comes, and takes the mount away, also while it is in use. It tells NOTIFY_SOCKET when it serves.
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
		_, c := g.now()
		fmt.Fprintf(stderr, "latefs: %d reads of %d KiB in all, at most %d in flight; %d looks, at most %d in flight: %v\n",
			c.Reads, c.Bytes>>10, c.MostReads, c.Looks, c.MostLooks, c.Requests)
	}
	return err
}

func parse(args []string, stderr io.Writer) (s settings, err error) {
	set := flag.NewFlagSet("latefs", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintln(stderr, "latefs [flags] SOURCE MOUNTPOINT: show a directory as a file system that answers late")
		set.PrintDefaults()
	}
	s.mode.register(set)
	set.StringVar(&s.control, "control", "", "`path` of a socket that takes these flags while it is mounted, a line each, and answers with counts")
	set.BoolVar(&s.hold, "hold", false, "end when standard input does, or the process that started it")
	set.BoolVar(&s.counts, "counts", false, "say at the end what was asked for")
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

// requestSize is the most that the kernel asks for at once, in bytes.
const requestSize = 1 << 20

func (s settings) mount(g *gate) (*fuse.Server, error) {
	root, err := gofs.NewLoopbackRoot(s.source)
	if err != nil {
		return nil, err
	}
	believed := time.Second
	o := gofs.Options{
		EntryTimeout: &believed, AttrTimeout: &believed, NullPermissions: true,
		MountOptions: fuse.MountOptions{
			FsName: s.source, Name: "latefs",
			MaxWrite: requestSize, MaxBackground: 1024,
			DisableSplice:        true,
			DisabledCapabilities: fuse.CAP_PASSTHROUGH, // reads have to come here
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

// serve returns when the mount is gone.
func (s settings) serve(g *gate, server *fuse.Server, signals <-chan os.Signal) error {
	gone := make(chan struct{})
	go func() { server.Wait(); close(gone) }()
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
	if err := tellReady(); err != nil {
		return errors.Join(err, unmount(s.dir))
	}
	select {
	case <-gone:
		return nil
	case <-signals:
	case <-ended:
	}
	g.set(Mode{}, false)
	// Files that are still open lose their server: it does not wait for them.
	return unmount(s.dir)
}

// awaitParent closes the channel when standard input ends, or when the process that started us does. The latter can
// wait for us while it ends, and has its files open as long.
func awaitParent(ended chan<- struct{}) {
	input := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(input) }() // an error is an end, too
	defer close(ended)
	for parent := os.Getppid(); !killed(uint32(parent)); {
		select {
		case <-input:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// unmount takes the mount away, also while it is in use.
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

// tellReady says to systemd, or who else has set NOTIFY_SOCKET, that the mount is there.
func tellReady() error {
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
