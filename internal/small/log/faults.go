package log

import (
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// maxFaults bounds how many different faults are remembered. After that many, all are
// forgotten, and a fault may be logged a second time.
const maxFaults = 10_000

// Faults logs errors of files, each fault once: if a program reads a damaged block ten
// thousand times, that is one line. It is safe for concurrent use.
type Faults struct {
	to *slog.Logger

	mu     sync.Mutex
	logged map[string]struct{} // by the text of the error
}

// NewFaults returns Faults that write to the logger.
func NewFaults(to *slog.Logger) *Faults {
	return &Faults{to: to, logged: map[string]struct{}{}}
}

// Report logs "cannot op", with the path and the error, unless this fault has been logged. Two faults are equal if
// their errors have the same text. If the error is an fs.PathError of the same path, only the error in it is compared.
// So one fault in the source is logged once, even if it shows in many files of a mount. If the error is that of a
// panic, the line also has its stack, unless that was logged before.
func (f *Faults) Report(op, path string, err error) {
	var outer *fs.PathError
	if errors.As(err, &outer) && outer.Path == path {
		err = outer.Err
	}
	attrs := []any{"path", path, "err", err}
	stack := guard.TakeStack(err)
	if stack != "" {
		attrs = append(attrs, "stack", stack)
	}
	if f.isNew(err.Error()) || stack != "" {
		f.to.Error("cannot "+op, attrs...)
	}
}

// isNew reports whether the text is new, and remembers it.
func (f *Faults) isNew(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.logged[text]; ok {
		return false
	}
	if len(f.logged) >= maxFaults {
		clear(f.logged)
	}
	f.logged[text] = struct{}{}
	return true
}
