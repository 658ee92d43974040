package status

import (
	"os"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// Options describe a server, and the numbers that its meter does not count.
type Options struct {
	Version    string
	Source     string
	Mountpoint string
	Log        Log
	// Cache returns the numbers of the cache, without the hit rate. Calls may be concurrent.
	Cache func() Cache
	// SourceIO returns the numbers of the source. Calls may be concurrent, and must not wait for the source.
	// Nil: all numbers are 0.
	SourceIO func() SourceIO
	// DiskCache returns the numbers of the disk cache. Calls may be concurrent. Nil: all numbers are 0.
	DiskCache func() DiskCache
}

// slowThreshold is the duration of a slow read. Reading and decoding the blocks of one request takes much
// less.
const slowThreshold = time.Second

// Meter counts what a server does. It is safe for concurrent use.
type Meter struct {
	options Options
	started time.Time

	registry *prometheus.Registry
	latency  prometheus.Histogram
	bytes    prometheus.Counter
	errors   map[Kind]prometheus.Counter
	slow     prometheus.Counter

	slowest slowReads
	history history
}

// NewMeter returns a meter of a server that starts now.
func NewMeter(o Options) *Meter {
	if o.SourceIO == nil {
		o.SourceIO = func() SourceIO { return SourceIO{} }
	}
	if o.DiskCache == nil {
		o.DiskCache = func() DiskCache { return DiskCache{} }
	}
	// Prometheus asks for numbers in goroutines of its own.
	o.Cache, o.SourceIO, o.DiskCache = numbers(o.Cache), numbers(o.SourceIO), numbers(o.DiskCache)
	m := &Meter{options: o, started: time.Now()}
	m.register()
	m.history.add(m.sample())
	return m
}

// numbers is of behind a boundary. After a panic, all numbers are 0.
func numbers[T any](of func() T) func() T {
	return func() T {
		n, err := guard.Call("status.numbers", func() (T, error) {
			guard.Pass("status.numbers")
			return of(), nil
		})
		guard.Report(err)
		return n
	}
}

// Read counts a read of n bytes at a byte offset of a file. n is 0 if the read failed. took is its duration.
func (m *Meter) Read(path string, off int64, n int, took time.Duration) {
	m.latency.Observe(took.Seconds())
	m.bytes.Add(float64(n))
	if took >= slowThreshold {
		m.slow.Inc()
		m.slowest.add(SlowRead{time.Now(), path, off, n, took.Seconds()})
	}
}

// Pushed counts n bytes that were pushed to the page cache of the kernel.
func (m *Meter) Pushed(n int) { m.bytes.Add(float64(n)) }

// Failed counts a failed request by the kind of its error.
func (m *Meter) Failed(_, _ string, err error) { m.errors[kindOf(err)].Inc() }

// Status returns the current status.
func (m *Meter) Status() Status {
	now := m.sample()
	s := Status{
		Version:    m.options.Version,
		Source:     m.options.Source,
		Mountpoint: m.options.Mountpoint,
		PID:        os.Getpid(),
		Time:       now.at,
		Started:    m.started,
		Uptime:     now.at.Sub(m.started).Seconds(),
		Reads:      Reads{now.count, now.bytes, now.latencies().latency()},
		Now:        now.since(m.history.oldest()),
		Cache:      m.options.Cache().withRate(),
		SourceIO:   m.options.SourceIO(),
		DiskCache:  m.options.DiskCache(),
		Errors:     make(map[Kind]uint64, len(kinds)),
		Panics:     guard.Count(),
		SlowReads:  SlowReads{slowThreshold.Seconds(), uint64(valueOf(m.slow)), m.slowest.last()},
		Process:    process(),
		Log:        m.options.Log,
	}
	for kind, counter := range m.errors {
		s.Errors[kind] = uint64(valueOf(counter))
	}
	return s
}

// process returns the numbers of the Go runtime.
func process() Process {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return Process{runtime.NumGoroutine(), memory.Sys - memory.HeapReleased}
}
