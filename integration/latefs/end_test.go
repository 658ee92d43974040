package latefs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestEnd checks that Stop unmounts and ends the server while a file is open and a reader waits.
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

// TestSignal checks that SIGTERM unmounts while a file is open.
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
	for end := time.Now().Add(timeout); mounted(t, s.Dir); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still mounted %v after the signal", timeout)
		}
	}
}
