package torture

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// probe is the testing.TB of one run of a case. Its failures do not fail the test that it belongs to.
type probe struct {
	testing.TB // for methods that a probe does not have

	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	failures []string
	log      []string
	failed   bool
	skipped  bool
	cleanups []func()
}

// runProbe calls do and then the cleanups that do registered, and waits for all of them.
func runProbe(t testing.TB, do func(testing.TB)) *probe {
	ctx, cancel := context.WithCancel(context.Background())
	p := &probe{TB: t, ctx: ctx, cancel: cancel}
	p.inOwnGoroutine(func() { do(p) })
	p.cancel()
	for cleanup := p.lastCleanup(); cleanup != nil; cleanup = p.lastCleanup() {
		p.inOwnGoroutine(cleanup)
	}
	return p
}

// inOwnGoroutine calls do in a goroutine and waits for its end. A panic in do is a failure. FailNow ends do and not the
// test.
func (p *probe) inOwnGoroutine(do func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if panicked := recover(); panicked != nil {
				p.Errorf("panic in the trial: %v\n%s", panicked, debug.Stack())
			}
		}()
		do()
	}()
	<-ended
}

func (p *probe) lastCleanup() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.cleanups) == 0 {
		return nil
	}
	last := p.cleanups[len(p.cleanups)-1]
	p.cleanups = p.cleanups[:len(p.cleanups)-1]
	return last
}

// report returns the failures as text. It is empty if there are none.
func (p *probe) report() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.failed && len(p.failures) == 0:
		return "failed without a message"
	case !p.failed:
		return ""
	}
	return strings.Join(p.failures, "\n")
}

func (p *probe) fail(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
	if text = strings.TrimRight(text, "\n"); text != "" {
		p.failures = append(p.failures, text)
	}
}

func (p *probe) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, f)
}

func (p *probe) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *probe) Skipped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.skipped
}

func (p *probe) SkipNow() {
	p.mu.Lock()
	p.skipped = true
	p.mu.Unlock()
	runtime.Goexit()
}

func (p *probe) Log(args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, fmt.Sprintln(args...))
}

func (p *probe) TempDir() string {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			p.Error(err)
		}
	})
	return dir
}

func (p *probe) Context() context.Context          { return p.ctx }
func (p *probe) Helper()                           {}
func (p *probe) Logf(format string, args ...any)   { p.Log(fmt.Sprintf(format, args...)) }
func (p *probe) Fail()                             { p.fail("") }
func (p *probe) FailNow()                          { p.fail(""); runtime.Goexit() }
func (p *probe) Error(args ...any)                 { p.fail(fmt.Sprintln(args...)) }
func (p *probe) Errorf(format string, args ...any) { p.fail(fmt.Sprintf(format, args...)) }
func (p *probe) Fatal(args ...any)                 { p.Error(args...); runtime.Goexit() }
func (p *probe) Fatalf(format string, args ...any) { p.Errorf(format, args...); runtime.Goexit() }
func (p *probe) Skip(args ...any)                  { p.Log(args...); p.SkipNow() }
func (p *probe) Skipf(format string, args ...any)  { p.Logf(format, args...); p.SkipNow() }
