package view

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls do for 0 … n−1 from as many goroutines as there are cores, the
// caller's one of them, and returns the first error; what has not begun by then is
// not done.
func parallel(n int, do func(i int) error) error { return parallelOn(runtime.NumCPU(), n, do) }

// parallelOn is parallel from so many goroutines, if n is not less.
func parallelOn(goroutines, n int, do func(i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Pointer[error]
		group  sync.WaitGroup
	)
	work := func() {
		for failed.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := do(i); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}
	}
	for range min(n, goroutines) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
