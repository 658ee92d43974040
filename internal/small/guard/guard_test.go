package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// logTo lets panics be logged to a buffer, and forgets those of other tests.
func logTo(t *testing.T) *bytes.Buffer {
	LogTo(slog.New(slog.DiscardHandler))
	Flush()
	var out bytes.Buffer
	LogTo(slog.New(slog.NewTextHandler(&out, nil)))
	t.Cleanup(func() { LogTo(nil) })
	return &out
}

func stacks(out *bytes.Buffer) int { return strings.Count(out.String(), "stack=") }

//go:noinline
func broken() { panic("broken") }

// TestFunc: a panic is counted, and logged once with its place and its stack. Later panics with the same stack are only
// counted.
func TestFunc(t *testing.T) {
	out := logTo(t)
	before := Count()
	for range 3 {
		Func("a.place", broken)()
	}
	if n := Count() - before; n != 3 {
		t.Errorf("%d panics were counted, expected 3", n)
	}
	if text := out.String(); stacks(out) != 1 || !strings.Contains(text, "panic in a.place: broken") ||
		!strings.Contains(text, "guard.broken(") || strings.Contains(text, "guard.Recovered(") {
		t.Errorf("logged %s", text)
	}
	Func("a.place", func() { panic("elsewhere") })()
	if stacks(out) != 2 {
		t.Errorf("another stack was not logged: %s", out)
	}
}

// TestResults: what f returns is passed on. A panic becomes an error that wraps nothing.
func TestResults(t *testing.T) {
	logTo(t)
	fault := errors.New("fault")
	for _, test := range []struct {
		f       func() (int, error)
		n       int
		err     error
		message string
	}{
		{func() (int, error) { return 7, nil }, 7, nil, ""},
		{func() (int, error) { return 7, fault }, 7, fault, "fault"},
		{func() (int, error) { panic(fs.ErrNotExist) }, 0, nil, "panic in a.place: file does not exist"},
		{func() (int, error) { return []int{}[len(t.Name())], nil }, 0, nil,
			"panic in a.place: runtime error: index out of range [11] with length 0"},
	} {
		n, err := Call("a.place", test.f)
		switch {
		case n != test.n, err == nil != (test.message == ""), err != nil && err.Error() != test.message:
			t.Errorf("got %d, %v; expected %d, %q", n, err, test.n, test.message)
		case test.err != nil && err != test.err, errors.Is(err, fs.ErrNotExist),
			Is(err) != strings.HasPrefix(test.message, "panic"):
			t.Errorf("%v is of a wrong kind", err)
		}
	}
}

// TestFault: memory that is not mapped is a panic, and not the end of the program.
func TestFault(t *testing.T) {
	logTo(t)
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	if err := Do("a.place", func() error { page[0] = 1; return nil }); !Is(err) {
		t.Errorf("got %v", err)
	}
}

// TestTakeStack: the request that fails logs the stack, and nothing else logs it.
func TestTakeStack(t *testing.T) {
	out := logTo(t)
	synctest.Test(t, func(t *testing.T) {
		err := fmt.Errorf("block 3: %w", Do("a.place", func() error { broken(); return nil }))
		if stack := TakeStack(err); !strings.Contains(stack, "guard.broken(") {
			t.Errorf("the stack is %q", stack)
		}
		if stack := TakeStack(err); stack != "" {
			t.Errorf("the stack is taken twice: %q", stack)
		}
		time.Sleep(2 * reportDelay)
		if stack := TakeStack(errors.New("another")); out.Len() > 0 || stack != "" {
			t.Errorf("logged %s; stack %q", out, stack)
		}
	})
}

// TestNobodyTakesTheStack: a panic whose error is lost is logged after a while, and when the program ends.
func TestNobodyTakesTheStack(t *testing.T) {
	out := logTo(t)
	synctest.Test(t, func(t *testing.T) {
		_ = Do("a.place", func() error { broken(); return nil })
		time.Sleep(2 * reportDelay)
		synctest.Wait()
		if stacks(out) != 1 {
			t.Errorf("logged %s", out)
		}
		_ = Do("b.place", func() error { panic("at the end") })
		Flush()
		if stacks(out) != 2 || !strings.Contains(out.String(), "b.place") {
			t.Errorf("logged %s", out)
		}
	})
	if len(waiting) != 0 {
		t.Errorf("%d panics are remembered", len(waiting))
	}
}

// TestRelay: a panic of a goroutine reaches the boundary of the caller with the place and the stack of the goroutine,
// and counts once. Without a boundary, the text of the panic has the stack.
func TestRelay(t *testing.T) {
	logTo(t)
	before := Count()
	together := func() error {
		var relay Relay
		var group sync.WaitGroup
		for range 3 {
			group.Go(relay.Func("helper", func() {}))
		}
		group.Go(relay.Func("helper", broken))
		group.Wait()
		relay.Repeat()
		return nil
	}
	e, ok := errors.AsType[*Error](Do("caller", together))
	if !ok || e.Place != "helper" || e.Value != "broken" || !strings.Contains(e.Stack, "guard.broken(") ||
		Count()-before != 1 {
		t.Errorf("got %+v; %d panics", e, Count()-before)
	}
	func() {
		defer func() {
			if text := fmt.Sprint(recover()); !strings.Contains(text, "guard.broken(") {
				t.Errorf("the text of the panic is %q", text)
			}
		}()
		_ = together()
	}()
}

// TestSeq: a panic of a sequence is its last error, also for a caller that pulls it. If the caller has stopped, it is
// logged.
func TestSeq(t *testing.T) {
	out := logTo(t)
	items := Seq("a.place", func(yield func(int, error) bool) {
		defer broken()
		_ = yield(1, nil) && yield(2, nil)
	})
	next, stop := iter.Pull2(items)
	defer stop()
	for want := range 4 {
		n, err, ok := next()
		if want == 2 {
			if e, is := errors.AsType[*Error](err); !is || !strings.Contains(e.Stack, "guard.broken(") || n != 0 ||
				!ok {
				t.Errorf("got %d, %v, %v", n, err, ok)
			}
		} else if ok != (want < 2) || err != nil || ok && n != want+1 {
			t.Errorf("%d: got %d, %v, %v", want, n, err, ok)
		}
	}
	for n := range items {
		if n != 1 {
			t.Error(n)
		}
		break
	}
	if stacks(out) != 1 {
		t.Errorf("logged %s", out)
	}
}

// TestInject: an injected panic is recovered like any other.
func TestInject(t *testing.T) {
	logTo(t)
	restore := Inject(func(place string) {
		if place == "b.place" {
			panic("injected")
		}
	})
	do := func(place string) error { return Do(place, func() error { Pass(place); return nil }) }
	if a, b := do("a.place"), do("b.place"); a != nil || b == nil {
		t.Errorf("got %v and %v", a, b)
	}
	restore()
	if err := do("b.place"); err != nil {
		t.Error(err)
	}
}

// TestStacksAreBounded: any number of stacks is logged, and all are forgotten after maxStacks.
func TestStacksAreBounded(t *testing.T) {
	logTo(t)
	for i := range maxStacks + 1 {
		if TakeStack(&Error{Stack: "stack", calls: calls{uintptr(i + 1)}}) == "" {
			t.Fatalf("stack %d is not new", i)
		}
	}
	if len(logged) != 1 {
		t.Errorf("%d stacks are remembered", len(logged))
	}
}

func BenchmarkDo(b *testing.B) {
	for b.Loop() {
		_ = Do("a.place", func() error { return nil })
	}
}
