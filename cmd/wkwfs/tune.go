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

// workMemory is what the Go runtime may use beside blocks: requests in flight, open files' tables, itself.
const workMemory = 64 << 20

// garbagePercent is how much of the heap's size in use may be garbage. The cache maps the memory of blocks of
// a page or more, and the garbage collector does not see it. What is left on the heap is small where blocks
// are large: about 20 MiB. With blocks of one page there are 85 MiB of entries for each GiB of cache, and Go's own
// 100 % would take as much again. 50 % costs 1 to 3 % more of the
// processors' time.
const garbagePercent = 50

// tuneRuntime fits the Go runtime to a file server, except where the environment
// says otherwise.
func tuneRuntime(cacheSize int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	// Blocks of less than a page are on the heap, which may be the whole cache then. The limit makes the
	// collector work harder instead of letting garbage add to that. A full cache of 256 MiB of blocks of 512 bytes took
	// 326 MiB with it and 515 without.
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
