package integration

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// requestKinds make a request of each kind that a reader can make. The file is open.
var requestKinds = map[string]func(name string, fd int) error{
	"stat":      func(name string, _ int) error { return unix.Stat(name, new(unix.Stat_t)) },
	"access":    func(name string, _ int) error { return unix.Access(name, unix.R_OK) },
	"statfs":    func(name string, _ int) error { return unix.Statfs(name, new(unix.Statfs_t)) },
	"open":      requestOpen,
	"readdir":   func(name string, _ int) error { _, err := os.ReadDir(name); return err },
	"readlink":  func(name string, _ int) error { _, err := unix.Readlink(name, make([]byte, 100)); return err },
	"getxattr":  func(name string, _ int) error { _, err := unix.Getxattr(name, "user.wkwfs.dtype", nil); return err },
	"listxattr": func(name string, _ int) error { _, err := unix.Listxattr(name, nil); return err },
	"getattr": func(_ string, fd int) error {
		return unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_FORCE_SYNC, unix.STATX_ALL, new(unix.Statx_t))
	},
	"read":    func(_ string, fd int) error { _, err := unix.Pread(fd, make([]byte, 1<<20), 0); return err },
	"mmap":    requestPage,
	"lseek":   func(_ string, fd int) error { _, err := unix.Seek(fd, 0, unix.SEEK_HOLE); return err },
	"fstatfs": func(_ string, fd int) error { return unix.Fstatfs(fd, new(unix.Statfs_t)) },
	"fsync":   unix0(unix.Fsync),
	"close":   unix0(unix.Close),
}

func unix0(call func(fd int) error) func(string, int) error {
	return func(_ string, fd int) error { return call(fd) }
}

func requestOpen(name string, _ int) error {
	fd, err := unix.Open(name, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// mapped keeps the compiler from dropping the access to a mapping.
var mapped atomic.Int32

// requestPage reads the first page of a file through a mapping.
func requestPage(name string, fd int) error {
	if strings.Contains(name, "/.wkwfs/") {
		return nil // it has no size, and so no page
	}
	p, err := unix.Mmap(fd, 0, 1, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	mapped.Add(int32(p[0]))
	return unix.Munmap(p)
}

// requestsArgument makes the program a requester: a process that makes one kind of request for many files, each in a
// thread of its own, until it is killed. Its arguments are the kind and the files.
const requestsArgument = "requests"

// makeRequests is a requester. It opens the files and writes a line. After it has read a line, it makes requests. After
// another line, it writes the names of the files whose requests wait, and a line.
func makeRequests(kind string, names []string) error {
	// A page fault is no system call: Go has no other thread in its place. Nor could it stop all threads for the
	// collection of garbage.
	runtime.GOMAXPROCS(len(names) + 1)
	debug.SetGCPercent(-1)
	fds := make([]int, len(names))
	for i, name := range names {
		var err error
		if fds[i], err = unix.Open(name, unix.O_RDONLY, 0); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	input := bufio.NewScanner(os.Stdin)
	fmt.Println()
	input.Scan()
	starts := make([]atomic.Int64, len(names)) // times in ns; 0: no request is in flight
	for i := range names {
		go repeatRequest(kind, names[i], fds[i], &starts[i])
	}
	input.Scan()
	for i := range starts {
		if start := starts[i].Load(); start != 0 && time.Since(time.Unix(0, start)) > waitsAfter {
			fmt.Println(names[i])
		}
	}
	fmt.Println()
	select {}
}

// repeatRequest makes requests for one file. It closes a file once.
func repeatRequest(kind, name string, fd int, start *atomic.Int64) {
	for {
		start.Store(time.Now().UnixNano())
		_ = requestKinds[kind](name, fd) // only its end matters
		start.Store(0)
		if kind == "close" {
			return
		}
		// some requests after the second for which the kernel believes what it knows
		time.Sleep(400 * time.Millisecond)
		_ = unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED) // so that the page cache does not answer
	}
}

// requester is a process that makes requests.
type requester struct {
	kind   string
	cmd    *exec.Cmd
	input  io.Writer
	output *bufio.Scanner
	ended  chan error
}

// waitsAfter is after which time a request counts as one that waits. The count is only logged.
const waitsAfter = 5 * time.Second

// startRequester starts a requester and waits until it has opened its files.
func startRequester(t *testing.T, kind string, names []string) *requester {
	t.Helper()
	cmd := exec.Command(os.Args[0], slices.Concat([]string{requestsArgument, kind}, names)...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &requester{kind, cmd, input, bufio.NewScanner(output), make(chan error, 1)}
	if !r.output.Scan() {
		t.Fatalf("%s: the requester has ended: %v", kind, cmd.Wait())
	}
	return r
}

// begin makes it make requests.
func (r *requester) begin(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(r.input, "\n"); err != nil {
		t.Fatal(err)
	}
}

// waiting returns the files whose requests wait.
func (r *requester) waiting(t *testing.T) (names []string) {
	t.Helper()
	if _, err := io.WriteString(r.input, "\n"); err != nil {
		t.Fatal(err)
	}
	wantSoon(t, r.kind+": report", func() error {
		for r.output.Scan() && r.output.Text() != "" {
			names = append(names, r.output.Text())
		}
		return r.output.Err()
	})
	return names
}

// killAll kills all requesters. They have to end, though a request continues for 5 seconds after a signal.
func killAll(t *testing.T, all []*requester) {
	t.Helper()
	for _, r := range all {
		if err := r.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		go func() { r.ended <- r.cmd.Wait() }()
	}
	late := time.After(deadline)
	for _, r := range all {
		select {
		case <-r.ended: // it was killed
		case <-late:
			t.Errorf("%s: the reader does not end when it is killed", r.kind)
			late = time.After(0)
		}
	}
}
