package latefs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What the test is as a process of its own. One that reads its own mount could wait for itself.
const (
	serveArgument     = "serve"     // the server
	attributeArgument = "attribute" // one who asks for an extended attribute of a file
)

func TestMain(m *testing.M) {
	var err error
	switch args := append(os.Args, ""); args[1] {
	case serveArgument:
		err = Run(os.Args[2:], os.Stderr)
	case attributeArgument:
		_, err = syscall.Getxattr(os.Args[2], "user.none", nil)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// content is what the files have: each of its stripes is another one.
var content = func() []byte {
	var b []byte
	for i := range 100 {
		b = append(b, bytes.Repeat([]byte{byte(i)}, Stripe)...)
	}
	return b
}()

// start mounts a directory of many equal files.
func start(t *testing.T, flags ...string) *Server {
	t.Helper()
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		if os.Getenv("WKWFS_REQUIRE_FUSE") == "1" {
			t.Fatal(err)
		}
		t.Skip("no FUSE:", err)
	} else {
		f.Close()
	}
	source, dir := t.TempDir(), t.TempDir()
	for i := range 50 {
		if err := os.WriteFile(filepath.Join(source, fmt.Sprint(i)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("7", filepath.Join(source, "link")); err != nil {
		t.Fatal(err)
	}
	s, err := Start([]string{os.Args[0], serveArgument}, source, dir, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if mounted(t, dir) {
			t.Error("the mount was left behind")
		}
	})
	return s
}

// mounted reports whether something is mounted on the directory.
func mounted(t *testing.T, dir string) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(table), " "+dir+" ")
}

// do changes the mode and returns the counts before.
func (s *Server) do(t *testing.T, flags ...string) Counts {
	t.Helper()
	c, err := s.Do(flags...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// await waits until the counts are as they should be.
func (s *Server) await(t *testing.T, what string, good func(Counts) bool) {
	t.Helper()
	for end := time.Now().Add(patience); !good(s.do(t)); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s: %+v", what, s.do(t))
		}
	}
}

func TestReads(t *testing.T) {
	s := start(t, "-read", "20ms")
	f, err := os.Open(filepath.Join(s.Dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 { // no page cache answers the second time
		begin := time.Now()
		p := make([]byte, len(content))
		if _, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p, content) {
			t.Fatalf("other bytes, %v", err)
		}
		if took := time.Since(begin); took < 20*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	}
	if c := s.do(t, "-reset"); c.Reads != 2 || c.Bytes != 2*int64(len(content)) || c.MostReads != 1 {
		t.Errorf("counted %+v, want two reads of %d bytes", c, len(content))
	}
	if c := s.do(t); c.Reads != 0 || c.Looks != 0 {
		t.Errorf("from 0 on: %+v", c)
	}
}

// TestInFlight: requests wait at the same time, and are counted.
func TestInFlight(t *testing.T) {
	const n = 40
	s := start(t, "-hang", "read")
	f, err := os.Open(filepath.Join(s.Dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	answers := make(chan error)
	for i := range n {
		go func() {
			p := make([]byte, Stripe)
			_, err := f.ReadAt(p, int64(i*Stripe))
			if err == nil && !bytes.Equal(p, content[i*Stripe:][:Stripe]) {
				err = errors.New("other bytes")
			}
			answers <- err
		}()
	}
	s.await(t, "all reads hang", func(c Counts) bool { return c.Hanging[Read] == n })
	if _, err := os.Stat(filepath.Join(s.Dir, "8")); err != nil {
		t.Errorf("other requests: %v", err)
	}
	s.do(t, "-hang=", "-shuffle", "-read", "5ms")
	for range n {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if c := s.do(t); c.MostReads != n || c.Hanging[Read] != 0 || c.MostLooks == 0 {
		t.Errorf("counted %+v, want %d reads in flight", c, n)
	}
}

// TestListingIsOneLook: what a listing says of its entries is not asked for one by one.
func TestListingIsOneLook(t *testing.T) {
	s := start(t, "-look", "1ms")
	d, err := os.Open(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	infos, err := d.Readdir(-1)
	if err != nil || len(infos) != 51 {
		t.Fatalf("%d entries, %v", len(infos), err)
	}
	if c := s.do(t); c.Requests[Lookup] > 0 || c.Requests[Readdir] < 2 || c.Looks > 20 {
		t.Errorf("counted %+v, want a few requests", c)
	}
}

// TestHang: requests of each kind hang, can be given up, and others do not.
func TestHang(t *testing.T) {
	for kind, args := range map[Kind][]string{
		Lookup:   {"stat", "9"},
		Getattr:  {"stat", "--cached=never", "."},
		Open:     {"cat", "7"},
		Read:     {"cat", "7"},
		Readdir:  {"ls", "."},
		Getxattr: {os.Args[0], attributeArgument, "7"},
		Readlink: {"readlink", "link"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			if _, err := exec.LookPath(args[0]); err != nil {
				t.Skip(err)
			}
			s := start(t)
			cmd := exec.Command("sh", "-c", `cd "$0" && exec "$@"`, s.Dir)
			cmd.Args = append(cmd.Args, args...)
			s.do(t, "-hang", string(kind))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s.await(t, "a request hangs", func(c Counts) bool { return c.Hanging[kind] == 1 })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			s.await(t, "it is given up", func(c Counts) bool { return c.Hanging[kind] == 0 })
		})
	}
}

// TestInterrupt: a signal that does not kill ends no wait, unless the mode says so.
func TestInterrupt(t *testing.T) {
	s := start(t, "-hang", "read")
	cmd := exec.Command("sh", "-c", `trap : USR1; read -r line <"$0"`, filepath.Join(s.Dir, "7"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // what it read matters nothing
	s.await(t, "a request hangs", func(c Counts) bool { return c.Hanging[Read] == 1 })
	for range 3 {
		if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if c := s.do(t, "-interrupt", "-hang", "read"); c.Hanging[Read] != 1 || c.Reads != 1 {
		t.Errorf("after a signal: %+v, want one read, which hangs", c)
	}
	s.await(t, "it is given up", func(c Counts) bool { return c.Hanging[Read] == 0 || c.Reads > 1 })
	s.do(t, "-hang=")
}

// TestFail: reads fail that touch a stripe that fails, and no others.
func TestFail(t *testing.T) {
	mode := Mode{Fail: 0.3, FailFrom: 5 * Stripe, Seed: 3}
	s := start(t, "-fail", fmt.Sprint(mode.Fail), "-fail-from", fmt.Sprint(mode.FailFrom), "-seed", fmt.Sprint(mode.Seed))
	f, err := os.Open(filepath.Join(s.Dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	failed := 0
	for off := int64(100); off < int64(len(content))-2*Stripe; off += Stripe {
		p := make([]byte, 2*Stripe)
		_, err := f.ReadAt(p, off)
		switch {
		case mode.Fails(off, int64(len(p))):
			failed++
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("bytes from %d on: %v, want EIO", off, err)
			}
		case err != nil || !bytes.Equal(p, content[off:][:len(p)]):
			t.Errorf("bytes from %d on: other bytes, %v", off, err)
		}
	}
	if failed < 30 || failed > 90 {
		t.Errorf("%d reads of 98 failed, want about two thirds", failed)
	}
}

// TestSlow: one request of a few is held back.
func TestSlow(t *testing.T) {
	s := start(t)
	s.do(t, "-slow-one-in", "4", "-slow", "50ms")
	f, err := os.Open(filepath.Join(s.Dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	slow := 0
	for range 40 {
		begin := time.Now()
		if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
			t.Fatal(err)
		}
		if time.Since(begin) >= 50*time.Millisecond {
			slow++
		}
	}
	if slow == 0 || slow > 30 {
		t.Errorf("%d reads of 40 were slow, want about 10", slow)
	}
}

// TestEnd: the server ends and takes its mount along while a file is open and a reader waits.
func TestEnd(t *testing.T) {
	s := start(t, "-hang", "read")
	f, err := os.Open(filepath.Join(s.Dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	answer := make(chan error)
	go func() { _, err := f.ReadAt(make([]byte, 1), 0); answer <- err }()
	s.await(t, "a reader waits", func(c Counts) bool { return c.Hanging[Read] == 1 })
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if err := <-answer; err != nil && !errors.Is(err, syscall.ENOTCONN) && !errors.Is(err, syscall.ECONNABORTED) {
		t.Errorf("the reader got %v", err)
	}
}

// TestSignal: so it does on SIGTERM.
func TestSignal(t *testing.T) {
	s := start(t)
	f, err := os.Open(filepath.Join(s.Dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); mounted(t, s.Dir); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still mounted %v after the signal", patience)
		}
	}
}

func TestErrors(t *testing.T) {
	s := start(t)
	for _, test := range []struct{ flags, want string }{
		{"-hang writes", "no kind of requests"},
		{"-read -1s", "no value below 0"},
		{"-fail 2", "at most 1"},
		{"-slower", "not defined"},
		{"read", "expected flags"},
	} {
		if _, err := s.Do(strings.Fields(test.flags)...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.flags, err, test.want)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"/"}, "SOURCE and MOUNTPOINT"},
		{[]string{"-hang", "x", "/", "/mnt"}, "no kind"},
		{[]string{filepath.Join(s.Dir, "none"), s.Dir}, "no such file"},
	} {
		var stderr bytes.Buffer
		if err := Run(test.args, &stderr); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.args, err, test.want)
		}
	}
}
