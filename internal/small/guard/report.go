package guard

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// reportDelay is how long a request may take to log the panic that it fails of.
	reportDelay = time.Second
	// maxStacks bounds the stacks that are remembered. After that many, all are forgotten, and a stack may be logged a
	// second time.
	maxStacks = 1000
)

var (
	count  atomic.Uint64
	logger atomic.Pointer[slog.Logger] // nil: slog.Default()

	mu      sync.Mutex
	logged  = map[calls]struct{}{}
	waiting = map[*Error]struct{}{} // that nobody has logged yet
)

// Count returns how many panics were recovered since the start of the program.
func Count() uint64 { return count.Load() }

// LogTo sets the logger for panics that no request logs, and forgets which stacks were logged. The default, or nil, is
// slog.Default().
func LogTo(l *slog.Logger) {
	logger.Store(l)
	mu.Lock()
	defer mu.Unlock()
	clear(logged)
}

// remember makes sure that a panic is logged, by a request or after reportDelay.
func remember(e *Error) {
	mu.Lock()
	defer mu.Unlock()
	waiting[e] = struct{}{}
	time.AfterFunc(reportDelay, func() { Report(e) })
}

// TakeStack returns the stack of the panic that err is or wraps. It is empty if there is none, or if this stack was
// logged before. The caller logs it.
func TakeStack(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.taken.Swap(true) {
		return ""
	}
	mu.Lock()
	defer mu.Unlock()
	delete(waiting, e)
	if _, ok := logged[e.calls]; ok {
		return ""
	}
	if len(logged) >= maxStacks {
		clear(logged)
	}
	logged[e.calls] = struct{}{}
	return e.Stack
}

// Report logs the panic that err is or wraps, unless its stack was logged before. attrs are further attributes, such as
// the file.
func Report(err error, attrs ...any) {
	defer func() { _ = recover() }() // of the handler of the log
	stack := TakeStack(err)
	if stack == "" {
		return
	}
	log := logger.Load()
	if log == nil {
		log = slog.Default()
	}
	log.Error("a fault of the program: what it was doing is dropped", append(attrs, "err", err, "stack", stack)...)
}

// Flush logs the panics that no request has logged yet. A program calls it before it ends.
func Flush() {
	mu.Lock()
	var rest []*Error
	for e := range waiting {
		rest = append(rest, e)
	}
	mu.Unlock()
	for _, e := range rest {
		Report(e)
	}
}
