//go:build linux

package main

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/host/daemon"
)

// diary records what happens.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) write(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// read returns the lines until now.
func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// fakeMount is a mount that ends when a test closes ended.
type fakeMount struct {
	*diary
	ended, gone chan struct{}
	removed     bool  // before
	err         error // of Unmount
}

func (m fakeMount) Wait()                 { <-m.ended }
func (m fakeMount) Check() error          { return nil }
func (m fakeMount) Gone() <-chan struct{} { return m.gone }
func (m fakeMount) Unmount() (removed bool, err error) {
	m.write("unmount")
	return !m.removed, m.err
}

// event is something that happens to a mount, after some time.
type event struct {
	after time.Duration
	what  string // SIGTERM; closed: nothing is open; removed: by another program
}

// TestEnding: the first signal removes a mount, and the server ends when nothing is open, however late that is. A
// second signal ends it at once. A mount that is removed already is not removed again, because another may be in its
// place.
func TestEnding(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name    string
		removed bool  // the mount, which the server does not know yet
		err     error // of Unmount
		events  []event
		want    error
		after   time.Duration
		diary   []string
	}{
		{"unmounted", false, nil, []event{{time.Hour, "closed"}}, nil, time.Hour, nil},
		{"signal, not in use", false, nil, []event{{time.Hour, "SIGTERM"}, {time.Millisecond, "closed"}}, nil,
			time.Hour + time.Millisecond, []string{"release", "unmount"}},
		{"signal, in use", false, nil, []event{{0, "SIGTERM"}, {100 * time.Hour, "closed"}}, nil, 100 * time.Hour,
			[]string{"release", "unmount", "shrink"}},
		{"two signals", false, nil, []event{{0, "SIGTERM"}, {time.Hour, "SIGTERM"}}, nil, time.Hour,
			[]string{"release", "unmount", "shrink"}},
		{"two signals at once", false, nil, []event{{0, "SIGTERM"}, {0, "SIGTERM"}}, nil, 0,
			[]string{"release", "unmount"}},
		{"lazily unmounted", false, nil, []event{{0, "removed"}, {100 * time.Hour, "closed"}}, nil, 100 * time.Hour,
			[]string{"release", "shrink"}},
		{"lazily unmounted, and a signal", false, nil, []event{{0, "removed"}, {time.Hour, "SIGTERM"}}, nil, time.Hour,
			[]string{"release", "shrink"}},
		{"just removed, and a signal", true, nil, []event{{0, "SIGTERM"}}, nil, 0, []string{"release", "unmount"}},
		{"of another program", false, errNotOurs, []event{{0, "SIGTERM"}}, nil, 0, []string{"release", "unmount"}},
		{"cannot be unmounted", false, broken, []event{{0, "SIGTERM"}}, broken, 0, []string{"release", "unmount"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := fakeMount{new(diary), make(chan struct{}), make(chan struct{}), test.removed, test.err}
				signals := make(chan os.Signal, 2)
				e := ending{m, daemon.Manager{}, signals, slog.New(slog.DiscardHandler), func() { m.write("release") },
					func() { m.write("shrink") }}
				start, result := time.Now(), make(chan error, 1)
				go func() { result <- e.wait() }()
				for _, event := range test.events {
					time.Sleep(event.after)
					synctest.Wait()
					switch event.what {
					case "SIGTERM":
						signals <- syscall.SIGTERM
					case "removed":
						close(m.gone)
					case "closed":
						close(m.ended)
					}
				}
				if err := <-result; !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
					t.Errorf("got %v, want %v", err, test.want)
				}
				if took := time.Since(start); took != test.after {
					t.Errorf("the server ended after %v, want %v", took, test.after)
				}
				if got := m.read(); !slices.Equal(got, test.diary) {
					t.Errorf("it did %q, want %q", got, test.diary)
				}
				select {
				case <-m.ended:
				default:
					close(m.ended) // the goroutine that waits for the mount ends
				}
			})
		})
	}
}
