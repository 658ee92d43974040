package guard

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

// Error is a panic that a boundary recovered. It wraps no error, not even the value of the panic: nobody may take a
// fault of the program for an absent file.
type Error struct {
	Place string // of the boundary
	Value any    // of the panic
	Stack string // of the goroutine, at the panic

	calls calls // on the stack
	taken atomic.Bool
}

// Error returns the place and the value, without the stack.
func (e *Error) Error() string { return fmt.Sprintf("panic in %s: %v", e.Place, e.Value) }

// calls identifies a stack: the innermost calls.
type calls [32]uintptr

// Recovered returns the error of a panic that the caller has recovered, and counts the panic. The caller is a deferred
// function. If a Relay has repeated the panic, Recovered returns the error of the first boundary.
func Recovered(place string, value any) *Error {
	if again, ok := value.(repeated); ok {
		return again.first
	}
	e := &Error{Place: place, Value: value, Stack: fromPanic(string(debug.Stack()))}
	runtime.Callers(2, e.calls[:])
	count.Add(1)
	remember(e)
	return e
}

// fromPanic returns a stack without the calls after the panic, which are those of the boundary.
func fromPanic(stack string) string {
	first, rest, _ := strings.Cut(stack, "\n")
	if i := strings.Index(rest, "\npanic("); i >= 0 {
		rest = rest[i+1:]
	}
	return first + "\n" + rest
}

// repeated is the value of a panic that repeats a panic of another goroutine. If nobody recovers it, the runtime prints
// its text.
type repeated struct{ first *Error }

func (r repeated) Error() string { return r.first.Error() + "\n\n" + r.first.Stack }

// Is reports whether an error is that of a panic, or wraps one.
func Is(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}
