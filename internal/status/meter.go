package status

import (
	"os"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options says what a server is, and where numbers come from that it does not count.
type Options struct {
	Version    string
	Source     string
	Mountpoint string
	// Cache returns the numbers of the cache as they are; the rate is filled in. It may be
	// called by many at once.
	Cache func() Cache
	// SourceIO returns what was asked of the source. It may be called by many at once, and does not wait for the
	// source. Nil: nothing is known of that.
	SourceIO func() SourceIO
}

// slowThreshold is how long a read takes that is worth telling of: much longer than it
// takes to read and decode the blocks of one request.
const slowThreshold = time.Second

// Meter counts what a server does. It may be used by many at once.
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
	m := &Meter{options: o, started: time.Now()}
	m.register()
	m.history.add(m.sample())
	return m
}

// Read counts a read: n bytes of the file at the path, from the byte offset on; none where
// it failed. It took so long.
func (m *Meter) Read(path string, off int64, n int, took time.Duration) {
	m.latency.Observe(took.Seconds())
	m.bytes.Add(float64(n))
	if took >= slowThreshold {
		m.slow.Inc()
		m.slowest.add(SlowRead{time.Now(), path, off, n, took.Seconds()})
	}
}

// Pushed counts bytes that the kernel was given unasked.
func (m *Meter) Pushed(n int) { m.bytes.Add(float64(n)) }

// Failed counts a request that failed, by what it failed of.
func (m *Meter) Failed(_, _ string, err error) { m.errors[kindOf(err)].Inc() }

// Status returns what there is to know now.
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
		Errors:     make(map[Kind]uint64, len(kinds)),
		SlowReads:  SlowReads{slowThreshold.Seconds(), uint64(valueOf(m.slow)), m.slowest.last()},
		Process:    process(),
	}
	for kind, counter := range m.errors {
		s.Errors[kind] = uint64(valueOf(counter))
	}
	return s
}

// process asks the runtime.
func process() Process {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return Process{runtime.NumGoroutine(), memory.Sys - memory.HeapReleased}
}
