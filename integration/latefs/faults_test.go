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

// TestHang checks that requests of each kind can hang, and that killing the caller cancels them.
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
			_ = cmd.Wait() // the error is that it was killed
			s.await(t, "it is canceled", func(c Counts) bool { return c.Hanging[kind] == 0 })
		})
	}
}

// TestInterrupt checks that a signal other than SIGKILL cancels a request only if the mode has Interrupt.
func TestInterrupt(t *testing.T) {
	s := start(t, "-hang", "read")
	cmd := exec.Command("sh", "-c", `trap : USR1; read -r line <"$0"`, filepath.Join(s.Dir, "7"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // its result does not matter
	s.await(t, "a request hangs", func(c Counts) bool { return c.Hanging[Read] == 1 })
	for range 3 {
		if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if c := s.do(t, "-interrupt", "-hang", "read"); c.Hanging[Read] != 1 || c.Reads != 1 {
		t.Errorf("after signals: %+v, want one read that still hangs", c)
	}
	s.await(t, "it is canceled", func(c Counts) bool { return c.Hanging[Read] == 0 || c.Reads > 1 })
	s.do(t, "-hang=")
}

// TestFail checks that exactly the reads that touch a failing stripe fail.
func TestFail(t *testing.T) {
	mode := Mode{Fail: 0.3, FailFrom: 5 * Stripe, Seed: 3}
	s := start(t, "-fail", fmt.Sprint(mode.Fail), "-fail-from", fmt.Sprint(mode.FailFrom), "-seed",
		fmt.Sprint(mode.Seed))
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
				t.Errorf("read at offset %d: %v, want EIO", off, err)
			}
		case err != nil || !bytes.Equal(p, content[off:][:len(p)]):
			t.Errorf("read at offset %d: wrong bytes, or error %v", off, err)
		}
	}
	if failed < 30 || failed > 90 {
		t.Errorf("%d reads of 98 failed, want about two thirds", failed)
	}
}

// TestSlow checks that one of a few requests is slow.
func TestSlow(t *testing.T) {
	s := start(t)
	s.do(t, "-slow-one-in", "4", "-slow", "200ms")
	f, err := os.Open(filepath.Join(s.Dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	slow := 0
	for range 40 {
		start := time.Now()
		if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
			t.Fatal(err)
		}
		if time.Since(start) >= 200*time.Millisecond {
			slow++
		}
	}
	if slow == 0 || slow > 30 {
		t.Errorf("%d reads of 40 were slow, want about 10", slow)
	}
}

// TestErrors checks that wrong flags and arguments are errors.
func TestErrors(t *testing.T) {
	s := start(t)
	for _, test := range []struct{ flags, want string }{
		{"-hang writes", "unknown kind"},
		{"-read -1s", "no negative value"},
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
		{[]string{"-hang", "x", "/", "/mnt"}, "unknown kind"},
		{[]string{filepath.Join(s.Dir, "none"), s.Dir}, "no such file"},
	} {
		var stderr bytes.Buffer
		if err := Run(test.args, &stderr); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.args, err, test.want)
		}
	}
}
