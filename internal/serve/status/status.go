package status

import (
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/diskcache"
)

// DiskCache describes the cache on a disk of a source with a URL. All is 0 if there is no such cache.
type DiskCache = diskcache.Stats

// Status describes a server at one time. Its JSON is a public interface. Durations are in seconds, sizes and
// offsets in bytes.
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
	DiskCache DiskCache       `json:"disk_cache"`
	Errors    map[Kind]uint64 `json:"errors"` // failed requests by kind; has all kinds
	// faults of the server. Each failed some requests, or something that was done ahead
	Panics    uint64    `json:"panics"`
	SlowReads SlowReads `json:"slow_reads"`
	Process   Process   `json:"process"`
	Log       Log       `json:"log"`
}

// Log says where the server logs.
type Log struct {
	To    string `json:"to"`    // stderr, journal, syslog, file, or nowhere
	File  string `json:"file"`  // path; empty unless To is file
	Error string `json:"error"` // why messages are lost; empty unless To is nowhere
}

// Reads counts the reads that the kernel requested since the start of the server. Reads from the page cache
// of the kernel are not counted. Bytes that the server pushed to the page cache are.
type Reads struct {
	Count uint64 `json:"count"` // including failed reads
	Bytes uint64 `json:"bytes"`
	Latency
}

// Now counts the reads of the last ten seconds, or since the start of the server.
type Now struct {
	Seconds        float64 `json:"seconds"` // length of that time
	ReadsPerSecond float64 `json:"reads_per_second"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	Latency
}

// Latency holds the 50th and 99th percentile of durations. They are estimated from a histogram whose bounds
// are at most ⅔ apart. They are 0 if there were no reads.
type Latency struct {
	P50 float64 `json:"p50_seconds"`
	P99 float64 `json:"p99_seconds"`
}

// Cache describes the cache of decoded blocks. It counts blocks since the start of the server.
type Cache struct {
	BudgetBytes int64 `json:"budget_bytes" metric:"Maximum memory of decoded blocks."`
	HeldBytes   int64 `json:"held_bytes" metric:"Memory of decoded blocks."`
	// found in the cache
	Hits uint64 `json:"hits" metric:"Blocks that were in the cache when a reader needed them."`
	// waited for, because another reader was loading them
	Shared uint64 `json:"shared" metric:"Blocks for which a reader waited because another reader was loading them."`
	// read and decoded
	Decoded uint64 `json:"decoded" metric:"Blocks that were read and decoded."`
	// could not be read or decoded
	Failures     uint64 `json:"failures" metric:"Blocks that could not be read or decoded."`
	DecodedBytes uint64 `json:"decoded_bytes" metric:"Decoded bytes of the blocks that were read."`
	// evicted because of the budget
	Dropped uint64 `json:"dropped" metric:"Blocks that were evicted because of the budget."`
	// fraction of Hits and Shared among all blocks that readers needed, 0 to 1
	HitRate float64 `json:"hit_rate"`
}

// withRate sets the hit rate.
func (c Cache) withRate() Cache {
	if found, all := c.Hits+c.Shared, c.Hits+c.Shared+c.Decoded+c.Failures; all > 0 {
		c.HitRate = float64(found) / float64(all)
	}
	return c
}

// SourceIO counts the requests to the source since the start of the server. A lookup describes or opens a
// file, or lists a directory. The latencies are those of about the last minute.
type SourceIO struct {
	Reads     uint64 `json:"reads" metric:"Reads of the source."`
	ReadBytes uint64 `json:"read_bytes" metric:"Bytes read from the source."`
	Lookups   uint64 `json:"lookups" metric:"Lookups in the source: files that were described or opened, and listed directories."`

	// requests without an answer
	InFlight int `json:"in_flight" metric:"Requests to the source in flight."`
	// the maximum of InFlight since the start
	MostInFlight int `json:"most_in_flight" metric:"The most requests to the source that were in flight at a time."`
	// time since the start of the oldest request in flight
	LongestWait float64 `json:"longest_wait_seconds" metric:"Time since the start of the oldest request in flight."`

	ReadLatency   Latency `json:"read_latency"`
	LookupLatency Latency `json:"look_latency"`
	// many requests are sent at once (see package store)
	Late bool `json:"late" metric:"1 if the source is late, 0 otherwise."`

	// Requests over the network to object stores, and those that repeated one that had failed. 0 for directories.
	Requests uint64 `json:"requests" metric:"Requests over the network to object stores."`
	Repeated uint64 `json:"repeated" metric:"Requests to object stores that repeated one that had failed."`
}

// SlowReads counts the reads that took at least Threshold seconds.
type SlowReads struct {
	Threshold float64    `json:"threshold_seconds"`
	Count     uint64     `json:"count"`
	Last      []SlowRead `json:"last"` // the last ten, the latest first
}

// SlowRead is a slow read.
type SlowRead struct {
	Time    time.Time `json:"time"` // of its end
	Path    string    `json:"path"` // in the mount
	Offset  int64     `json:"offset"`
	Bytes   int       `json:"bytes"` // read; 0 if the read failed
	Seconds float64   `json:"seconds"`
}

// Process describes the process of the server.
type Process struct {
	Goroutines  int    `json:"goroutines"`
	MemoryBytes uint64 `json:"memory_bytes"` // that the Go runtime has from the operating system
}
