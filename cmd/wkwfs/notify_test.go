package main

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
)

func TestFindManager(t *testing.T) {
	self := strconv.Itoa(os.Getpid())
	tests := []struct {
		socket, usec, pid string
		want              manager
	}{
		{"", "", "", manager{}},
		{"/s", "", "", manager{"/s", 0}},
		{"/s", "2000000", "", manager{"/s", 2 * time.Second}},
		{"/s", "2000000", self, manager{"/s", 2 * time.Second}},
		{"/s", "2000000", "1", manager{"/s", 0}},
		{"/s", "0", "", manager{"/s", 0}},
		{"/s", "-1", "", manager{"/s", 0}},
		{"/s", "x", "", manager{"/s", 0}},
		{"/s", "9223372036854775807", "", manager{"/s", 0}},
	}
	for _, test := range tests {
		env := map[string]string{"NOTIFY_SOCKET": test.socket, "WATCHDOG_USEC": test.usec, "WATCHDOG_PID": test.pid}
		if got := findManager(func(name string) string { return env[name] }); got != test.want {
			t.Errorf("%v: got %v, want %v", env, got, test.want)
		}
	}
}

// TestWatch counts the signs of life in ten seconds.
func TestWatch(t *testing.T) {
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
			m := manager{socket.LocalAddr().String(), test.watchdog}
			synctest.Test(t, func(t *testing.T) {
				hangs = make(chan struct{})
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				defer cancel()
				n := -1
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					m.watch(ctx, func() error { n++; return test.check(n) }, slog.New(slog.DiscardHandler))
				}()
				<-ctx.Done()
				close(hangs)
				<-ended
			})
			for i := range test.want {
				got := make([]byte, 64)
				if k, err := socket.Read(got); err != nil || string(got[:k]) != stateAlive {
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
