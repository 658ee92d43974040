package latefs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test runs itself as another process. A process that reads its own mount could deadlock.
const (
	serveArgument     = "serve"     // serve a file system
	attributeArgument = "attribute" // read an extended attribute of a file
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

// content is what each file contains. All of its stripes differ.
var content = func() []byte {
	var b []byte
	for i := range 100 {
		b = append(b, bytes.Repeat([]byte{byte(i)}, Stripe)...)
	}
	return b
}()

// start mounts a directory of 50 equal files and a link.
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
			t.Error("the file system is still mounted")
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

// do changes the mode and returns the counts from before.
func (s *Server) do(t *testing.T, flags ...string) Counts {
	t.Helper()
	c, err := s.Do(flags...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// await waits until the counts meet the condition.
func (s *Server) await(t *testing.T, condition string, holds func(Counts) bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !holds(s.do(t)); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v without success until %s: %+v", timeout, condition, s.do(t))
		}
	}
}

// TestReads checks that each read is delayed and counted, also the second read of the same bytes.
func TestReads(t *testing.T) {
	s := start(t, "-read", "20ms")
	f, err := os.Open(filepath.Join(s.Dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 {
		start := time.Now()
		p := make([]byte, len(content))
		if _, err := f.ReadAt(p, 0); err != nil || !bytes.Equal(p, content) {
			t.Fatalf("wrong bytes, or error %v", err)
		}
		if took := time.Since(start); took < 20*time.Millisecond {
			t.Errorf("a read took %v, want at least 20ms", took)
		}
	}
	if c := s.do(t, "-reset"); c.Reads != 2 || c.Bytes != 2*int64(len(content)) || c.MostReads != 1 {
		t.Errorf("counted %+v, want two reads of %d bytes", c, len(content))
	}
	if c := s.do(t); c.Reads != 0 || c.Metadata != 0 {
		t.Errorf("after a reset: %+v", c)
	}
}

// TestInFlight checks that requests wait at the same time, and that they are counted.
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
				err = errors.New("wrong bytes")
			}
			answers <- err
		}()
	}
	s.await(t, "all reads hang", func(c Counts) bool { return c.Hanging[Read] == n })
	if _, err := os.Stat(filepath.Join(s.Dir, "8")); err != nil {
		t.Errorf("stat while reads hang: %v", err)
	}
	s.do(t, "-hang=", "-shuffle", "-read", "5ms")
	for range n {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if c := s.do(t); c.MostReads != n || c.Hanging[Read] != 0 || c.MostMetadata == 0 {
		t.Errorf("counted %+v, want %d reads in flight", c, n)
	}
}

// TestListingIsOneRequest checks that a listing brings the attributes of all entries without a request for
// each.
func TestListingIsOneRequest(t *testing.T) {
	s := start(t, "-metadata", "1ms")
	d, err := os.Open(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	infos, err := d.Readdir(-1)
	if err != nil || len(infos) != 51 {
		t.Fatalf("%d entries, %v", len(infos), err)
	}
	if c := s.do(t); c.Requests[Lookup] > 0 || c.Requests[Readdir] < 2 || c.Metadata > 20 {
		t.Errorf("counted %+v, want only a few requests", c)
	}
}
