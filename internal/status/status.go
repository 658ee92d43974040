package status

import "time"

// Status is what there is to know about a server at one moment. Its JSON is an
// interface. Times are in seconds, sizes and lengths in bytes.
type Status struct {
	Version    string `json:"version"`
	Source     string `json:"source"`
	Mountpoint string `json:"mountpoint"`
	PID        int    `json:"pid"`

	Time    time.Time `json:"time"` // of this status
	Started time.Time `json:"started"`
	Uptime  float64   `json:"uptime_seconds"`

	Reads     Reads           `json:"reads"`
	Now       Now             `json:"now"`
	Cache     Cache           `json:"cache"`
	SourceIO  SourceIO        `json:"source_io"`
	Errors    map[Kind]uint64 `json:"errors"` // requests that failed; has all kinds
	SlowReads SlowReads       `json:"slow_reads"`
	Process   Process         `json:"process"`
}

// Reads are all reads that were asked of the server since it started. What readers find in
// the page cache of the kernel is not asked of it; but the bytes that the server put there unasked,
// ahead of who goes through a file, are counted.
type Reads struct {
	Count uint64 `json:"count"` // also of those that failed
	Bytes uint64 `json:"bytes"`
	Latency
}

// Now is what was read in the last ten seconds, or since the server started.
type Now struct {
	Seconds        float64 `json:"seconds"` // that it is about
	ReadsPerSecond float64 `json:"reads_per_second"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	Latency
}

// Latency is how long half of the reads took at most, and 99 in 100 of them, as well as can
// be told from how many were in ranges of which each ends at up to ⅔ more than the one before.
// It is 0 where there were no reads.
type Latency struct {
	P50 float64 `json:"p50_seconds"`
	P99 float64 `json:"p99_seconds"`
}

// Cache is what the cache of decoded blocks holds and did since the server started.
type Cache struct {
	BudgetBytes  int64   `json:"budget_bytes"`
	HeldBytes    int64   `json:"held_bytes"`
	Hits         uint64  `json:"hits"`     // blocks that were there when they were wanted
	Shared       uint64  `json:"shared"`   // readers who waited for a block that another one had asked for
	Decoded      uint64  `json:"decoded"`  // blocks that were read and decoded
	Failures     uint64  `json:"failures"` // blocks that could not be
	DecodedBytes uint64  `json:"decoded_bytes"`
	Dropped      uint64  `json:"dropped"`  // blocks that had to go because of the budget
	HitRate      float64 `json:"hit_rate"` // hits and shared, of all that were wanted: 0 to 1
}

// withRate fills in the rate of hits.
func (c Cache) withRate() Cache {
	if found, all := c.Hits+c.Shared, c.Hits+c.Shared+c.Decoded+c.Failures; all > 0 {
		c.HitRate = float64(found) / float64(all)
	}
	return c
}

// SourceIO is what the server asked of the source since it started: reads of bytes, and looks, which are attributes,
// opened files and listed directories. Its latencies are of about the last minute.
type SourceIO struct {
	Reads     uint64 `json:"reads"`
	ReadBytes uint64 `json:"read_bytes"`
	Looks     uint64 `json:"looks"`

	UnderWay     int     `json:"under_way"`            // requests that wait for an answer now
	MostUnderWay int     `json:"most_under_way"`       // so many waited at a time since the server started
	LongestWait  float64 `json:"longest_wait_seconds"` // so long one of those under way has waited by now

	ReadLatency Latency `json:"read_latency"`
	LookLatency Latency `json:"look_latency"`
	Late        bool    `json:"late"` // it answers late: many requests are sent at once
}

// SlowReads are the reads that took longer than a threshold.
type SlowReads struct {
	Threshold float64    `json:"threshold_seconds"`
	Count     uint64     `json:"count"`
	Last      []SlowRead `json:"last"` // a few, the latest first
}

// SlowRead is one of them.
type SlowRead struct {
	Time    time.Time `json:"time"` // when it ended
	Path    string    `json:"path"` // in the mount
	Offset  int64     `json:"offset"`
	Bytes   int       `json:"bytes"` // that were read; 0 where the read failed
	Seconds float64   `json:"seconds"`
}

// Process is what the server takes of the machine.
type Process struct {
	Goroutines  int    `json:"goroutines"`
	MemoryBytes uint64 `json:"memory_bytes"` // that the Go runtime has taken
}
