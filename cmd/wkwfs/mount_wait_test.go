//go:build linux

package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/host/daemon"
)

// fakeServer is a server in another process. It ends when a test closes ended, or when it is killed.
type fakeServer struct {
	*diary
	ended chan struct{}
	err   error
}

func (s *fakeServer) PID() int               { return 4711 }
func (s *fakeServer) Ended() <-chan struct{} { return s.ended }
func (s *fakeServer) Err() error             { return s.err }
func (s *fakeServer) Signal(signal os.Signal) error {
	s.write(signal.String())
	return nil
}
func (s *fakeServer) Kill() error {
	s.write("kill")
	close(s.ended)
	return nil
}

// TestWait: the process of --wait ends when the mount is removed, and does not wait for files that are open. A server
// that crashes is an error, and one that hangs is killed.
func TestWait(t *testing.T) {
	crashed := errors.New("the server has ended: signal: aborted")
	tests := []struct {
		name   string
		err    error // of the server
		events []event
		want   string // part of the error
		after  time.Duration
		diary  []string // of the server
	}{
		{"unmounted", nil, []event{{time.Hour, "removed"}, {time.Millisecond, "closed"}}, "",
			time.Hour + time.Millisecond, nil},
		{"lazily unmounted", nil, []event{{time.Hour, "removed"}}, "", time.Hour + lastTime, nil},
		{"signal, not in use", nil, []event{{0, "SIGTERM"}, {time.Millisecond, "closed"}}, "", time.Millisecond,
			[]string{"terminated"}},
		{"signal, in use", nil, []event{{0, "SIGTERM"}, {time.Millisecond, "removed"}}, "", time.Millisecond + lastTime,
			[]string{"terminated"}},
		{"two signals", nil, []event{{0, "SIGTERM"}, {0, "SIGTERM"}, {0, "closed"}}, "", 0,
			[]string{"terminated", "terminated"}},
		{"crash", crashed, []event{{time.Hour, "closed"}}, "signal: aborted", time.Hour, nil},
		{"crash while unmounting", crashed, []event{{0, "SIGTERM"}, {0, "closed"}}, "signal: aborted", 0,
			[]string{"terminated"}},
		{"does not unmount", nil, []event{{0, "SIGTERM"}}, "(process 4711) did not unmount within 5s", stopTime,
			[]string{"terminated", "kill"}},
		{"watchdog, crashes", crashed, []event{{0, "SIGABRT"}, {time.Millisecond, "closed"}}, "signal: aborted",
			time.Millisecond, []string{"aborted"}},
		{"watchdog, hangs", nil, []event{{0, "SIGABRT"}}, "(process 4711) did not answer", lastTime,
			[]string{"aborted", "kill"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakeServer{new(diary), make(chan struct{}), test.err}
				gone, signals := make(chan struct{}), make(chan os.Signal, 2)
				start, result := time.Now(), make(chan error, 1)
				go func() { result <- wait(s, gone, daemon.Manager{}, signals) }()
				for _, event := range test.events {
					time.Sleep(event.after)
					synctest.Wait()
					switch event.what {
					case "SIGTERM":
						signals <- syscall.SIGTERM
					case "SIGABRT":
						signals <- syscall.SIGABRT
					case "removed":
						close(gone)
					case "closed":
						close(s.ended)
					}
				}
				if err := <-result; (err == nil) != (test.want == "") ||
					err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				if took := time.Since(start); took != test.after {
					t.Errorf("it ended after %v, want %v", took, test.after)
				}
				if got := s.read(); !slices.Equal(got, test.diary) {
					t.Errorf("the server got %q, want %q", got, test.diary)
				}
			})
		})
	}
}
