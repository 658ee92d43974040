package integration

import (
	"runtime"
	"testing"
)

// heavyTests has a place for each processor.
var heavyTests = make(chan struct{}, runtime.NumCPU())

// parallelHeavy runs a test that needs a processor for seconds together with parallel tests. As many of them run at a
// time as there are processors: other parallel tests have to answer in time. A test that measures time, needs the page
// cache, or asks for the peak memory of a child, must not be one: the kernel counts the memory of the parent before
// exec.
func parallelHeavy(t *testing.T) {
	t.Parallel()
	heavyTests <- struct{}{}
	t.Cleanup(func() { <-heavyTests })
}
