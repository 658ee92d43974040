package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

func TestFindManager(t *testing.T) {
	self := strconv.Itoa(os.Getpid())
	tests := []struct {
		socket, usec, pid string
		want              Manager
	}{
		{"", "", "", Manager{}},
		{"/s", "", "", Manager{true, 0}},
		{"/s", "2000000", "", Manager{true, 2 * time.Second}},
		{"/s", "2000000", self, Manager{true, 2 * time.Second}},
		{"/s", "2000000", "1", Manager{true, 0}},
		{"/s", "0", "", Manager{true, 0}},
		{"/s", "-1", "", Manager{true, 0}},
		{"/s", "x", "", Manager{true, 0}},
		{"/s", "9223372036854775807", "", Manager{true, 0}},
	}
	for _, test := range tests {
		t.Setenv("NOTIFY_SOCKET", test.socket)
		t.Setenv("WATCHDOG_USEC", test.usec)
		t.Setenv("WATCHDOG_PID", test.pid)
		if got := FindManager(); got != test.want {
			t.Errorf("%+v: got %v, want %v", test, got, test.want)
		}
	}
}

// TestWatch counts the signs of life in ten seconds.
func TestWatch(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	hangs := make(chan struct{})
	tests := []struct {
		name     string
		watchdog time.Duration
		check    func(n int) error
		want     int
	}{
		{"alive", 4 * time.Second, func(int) error { return nil }, 5},
		{"no watchdog", 0, func(int) error { return nil }, 0},
		{"fails at times", 4 * time.Second, func(n int) error {
			if n%2 == 1 {
				return errors.New("it broke")
			}
			return nil
		}, 3},
		{"panics at times", 4 * time.Second, func(n int) error {
			if n%2 == 1 {
				panic("it broke")
			}
			return nil
		}, 3},
		{"hangs", 4 * time.Second, func(n int) error {
			if n == 2 {
				<-hangs
			}
			return nil
		}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s")})
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			t.Setenv("NOTIFY_SOCKET", socket.LocalAddr().String())
			m := Manager{true, test.watchdog}
			synctest.Test(t, func(t *testing.T) {
				hangs = make(chan struct{})
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				defer cancel()
				n := -1
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					m.Watch(ctx, func() error { n++; return test.check(n) }, slog.New(slog.DiscardHandler))
				}()
				<-ctx.Done()
				close(hangs)
				<-ended
			})
			for i := range test.want {
				got := make([]byte, 64)
				if k, err := socket.Read(got); err != nil || string(got[:k]) != daemon.SdNotifyWatchdog {
					t.Fatalf("sign %d: %q, %v", i, got[:k], err)
				}
			}
			if err := socket.SetReadDeadline(time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			if _, err := socket.Read(make([]byte, 64)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("more than %d signs: %v", test.want, err)
			}
		})
	}
}
