package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// explorer looks at a mount of which nothing is known: it asks for everything that can be asked, and accepts each
// answer that says what is wrong with the source. None may have bytes from beside the source.
type explorer struct {
	t    testing.TB
	w    *watched
	r    *rand.Rand
	left int // entries that it looks at
}

// sourceErrors are what a damaged source may be the reason of.
var sourceErrors = []error{nil, io.EOF, unix.EIO, unix.ENOENT, unix.ENOTDIR, unix.ENXIO, unix.ELOOP, unix.ENAMETOOLONG,
	unix.EFBIG, unix.EOVERFLOW, unix.ENODATA, unix.EACCES}

// ask does something that the server answers.
func (e *explorer) ask(what, name string, do func() error) error {
	var err error
	e.w.request(e.t, what+" "+name, func() { err = do() })
	if !slices.ContainsFunc(sourceErrors, func(allowed error) bool { return errors.Is(err, allowed) }) {
		e.t.Fatalf("%s: %v", what, err)
	}
	return err
}

// walk looks at a file, or at a directory and what lies below it.
func (e *explorer) walk(name string, depth int) {
	if e.left--; e.left < 0 || depth > 8 {
		return
	}
	var info fs.FileInfo
	if e.ask("stat", name, func() (err error) { info, err = os.Lstat(name); return err }) != nil {
		return
	}
	e.ask("list attributes", name, func() error { _, err := unix.Llistxattr(name, make([]byte, 1<<16)); return err })
	if !info.IsDir() {
		e.file(name, info.Size())
		return
	}
	var entries []fs.DirEntry
	e.ask("list", name, func() (err error) { entries, err = readSome(name, 2000); return err })
	e.r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for _, d := range entries[:min(len(entries), 40)] {
		e.walk(filepath.Join(name, d.Name()), depth+1)
	}
	if slices.ContainsFunc(entries, func(d fs.DirEntry) bool { return d.Name() == "box" }) {
		e.boxes(filepath.Join(name, "box"))
	}
}

// readSome reads at most n entries of a directory.
func readSome(name string, n int) ([]fs.DirEntry, error) {
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir(n)
}

// boxes names some boxes that no listing has.
func (e *explorer) boxes(dir string) {
	for _, box := range []string{"0-9_0-9_0-9.raw", "-5-3_0-1_2-3.npy", "0-1099511627776_0-1_0-1.raw",
		"0-4194304_0-4194304_0-4194304.raw", "0-0_0-0_0-0.raw", "9223372036854775807-9223372036854775808_0-1_0-1.raw"} {
		name := filepath.Join(dir, box)
		var info fs.FileInfo
		if e.ask("stat", name, func() (err error) { info, err = os.Lstat(name); return err }) == nil {
			e.file(name, info.Size())
		}
	}
}

// file reads the start of a file, its end and a place between them.
func (e *explorer) file(name string, size int64) {
	var f *os.File
	if e.ask("open", name,
		func() (err error) { f, err = os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0); return err }) != nil {
		return
	}
	defer f.Close()
	p := make([]byte, 1<<16)
	for _, off := range []int64{0, e.r.Int64N(max(size, 1)), max(size-100, 0)} {
		var n int
		e.ask("read", name, func() (err error) { n, err = f.ReadAt(p, off); return err })
		if bytes.Contains(p[:n], foreign[:60]) {
			e.t.Fatalf("%s has bytes from beside the source at %d", name, off)
		}
	}
	e.ask("seek", name, func() error { _, err := unix.Seek(int(f.Fd()), 0, unix.SEEK_HOLE); return err })
}

// runLimited runs the program to its end, which must come in time, without a crash and without much memory.
func runLimited(t testing.TB, args ...string) result {
	t.Helper()
	cmd := exec.Command(program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	forgetPeakMemory(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(deadline, func() { _ = cmd.Process.Signal(unix.SIGQUIT) }) // it may have ended
	_ = cmd.Wait()                                                                    // the state says it
	if !late.Stop() {
		t.Fatalf("wkwfs %q did not end within %v:\n%.6000s", args, deadline, stderr.String())
	}
	r := result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if i := crashIn(r.stderr); i >= 0 || r.code < 0 || r.code > 2 {
		t.Fatalf("wkwfs %q crashed, exit code %d:\n%.6000s", args, r.code, r.stderr)
	}
	if r.code != 0 && r.stderr == "" && r.stdout == "" {
		t.Fatalf("wkwfs %q: exit code %d without a word", args, r.code)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if ok && usage.Maxrss<<10 > commandMemory && os.Getenv(raceVariable) != "1" {
		t.Fatalf("wkwfs %q used %d MiB", args, usage.Maxrss>>10)
	}
	return r
}

// forgetPeakMemory makes the peak of the memory of this process what it uses now. The kernel counts it as the peak of a
// command that this process starts.
func forgetPeakMemory(t testing.TB) {
	t.Helper()
	if peakMemory(t, os.Getpid()) < commandMemory {
		return
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}

// commandMemory is how much memory a command may use for a small source.
const commandMemory = 512 << 20

func marshalled(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // for no value of a case
	}
	return b
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Skip("no JSON: ", err)
	}
	return b
}

// panicking is the testing.TB of what cannot fail.
type panicking struct{ testing.TB }

func (panicking) Helper()                           {}
func (panicking) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (panicking) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
