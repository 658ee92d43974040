package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// processors is how many the program may use at once: those of the machine, or fewer
// if its container has a quota of their time, or GOMAXPROCS says so. It is as it was at
// the start: tuneRuntime raises GOMAXPROCS.
var processors = runtime.GOMAXPROCS(0)

// workMemory is what the server needs beside the cache: requests in flight, open
// files' tables, the runtime itself.
const workMemory = 64 << 20

// tuneRuntime fits the Go runtime to a file server, except where the environment
// says otherwise.
func tuneRuntime(cacheSize int64) {
	// The heap would grow to twice the cache before a collection: the limit makes
	// the collector work harder instead, and so --cache-size mean what it says.
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(cacheSize + workMemory)
	}
	// Threads that wait in a read of /dev/fuse hold their processor until the
	// scheduler takes it away, and decoders wait for it. Two more keep the cores
	// busy: on two cores 1.35 GB/s instead of 0.94 to 1.18. With two more than the machine
	// has, a container would use up its quota early, and stand still until the next one.
	// From now on the runtime no longer follows a quota that changes.
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(processors + 2)
	}
}
