package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// processors is the number of processors that the program may use: those of the machine, or fewer
// if its container has a quota or GOMAXPROCS is set. tuneRuntime raises GOMAXPROCS later.
var processors = runtime.GOMAXPROCS(0)

// workMemory is the memory of the Go runtime in bytes, without blocks: requests in flight, tables of
// open files, the runtime.
const workMemory = 64 << 20

// garbagePercent is GOGC: how much garbage the heap may have, in percent of what is in use. Blocks of
// a page or more are mapped by the cache and are not on the heap, which is about 20 MiB then. With
// blocks of one page, the heap has 85 MiB of entries for each GiB of cache, and Go's default of 100 %
// would take another 85 MiB. 50 % costs 1 to 3 % more processor time.
const garbagePercent = 50

// ballast is never touched, so it takes no memory. But the collector counts it: garbage may grow to half of it before
// it is collected, however small the rest of the heap is. Without it, a collection would start after each 2 MiB. Those
// took a sixth of the processor time for the first byte of 2,000 cubes. It is made before there is garbage: memory that
// was used before would be cleared, and so touched.
var ballast = make([]byte, 32<<20)

// tuned is whether tuneRuntime has set how much garbage the heap may have.
var tuned bool

// tuneRuntime adapts the Go runtime to a file server with a cache of cacheSize bytes. Variables of the
// environment take precedence.
func tuneRuntime(cacheSize int64) {
	if tuned = os.Getenv("GOGC") == ""; tuned {
		debug.SetGCPercent(garbagePercent)
	} else {
		ballast = nil
	}
	// Blocks of less than a page are on the heap, so the whole cache may be. The limit makes the
	// collector work harder instead of adding garbage to that. A full cache of 256 MiB with blocks of
	// 512 bytes takes 326 MiB with it and 515 MiB without.
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(cacheSize + workMemory + int64(len(ballast)))
	}
	// A thread that waits in a read of /dev/fuse holds its processor until the scheduler takes it
	// away. Until then, decoders wait. Two more processors keep the cores busy: on two cores
	// 1.35 GB/s instead of 0.94 to 1.18. They are added to the quota of a container, not to the cores
	// of the machine: with those, a container would use up its quota early and then stand still.
	// The runtime does not follow later changes of the quota.
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(processors + 2)
	}
}

// tuneForObjects lets the heap have half as much garbage, because loads from object stores have up to 64 MiB of stored
// blocks on it.
var tuneForObjects = sync.OnceFunc(func() {
	if tuned { // else the environment, or the command, has other settings
		debug.SetGCPercent(garbagePercent / 2)
	}
})
