package main

import (
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/status"
)

// aStatus returns a status with all fields set.
func aStatus() status.Status {
	return status.Status{
		Version: "1.2.3", Source: "/data/cortex", Mountpoint: "/mnt/a\x1b[2Jb", PID: 4242, Uptime: 11537.4,
		Reads: status.Reads{Count: 1234567, Bytes: 3 << 30, Latency: status.Latency{P50: 123.4e-6, P99: 0.0123}},
		Now: status.Now{Seconds: 9.96, ReadsPerSecond: 12.34, BytesPerSecond: 45 << 20,
			Latency: status.Latency{P50: 99e-6, P99: 1.5}},
		Cache: status.Cache{BudgetBytes: 1 << 30, HeldBytes: 512 << 20, Decoded: 98765, DecodedBytes: 3 << 30,
			Dropped: 1000, HitRate: 0.9815},
		SourceIO: status.SourceIO{
			Reads: 123456, ReadBytes: 5 << 30, Lookups: 7890, InFlight: 64, MostInFlight: 64, LongestWait: 2.345,
			ReadLatency: status.Latency{P50: 0.00512, P99: 0.0204}, LookupLatency: status.Latency{P50: 0.001,
				P99: 0.0034}, Late: true, Requests: 2345, Repeated: 6,
		},
		DiskCache: status.DiskCache{
			Dir: "/var/cache/wkwfs", SizeBytes: 50 << 30, UsedBytes: 12 << 30, Hits: 45678, Shared: 12, Misses: 3456,
			HitBytes:     7 << 30,
			FetchedBytes: 4 << 30, WrittenBytes: 3 << 30, DroppedBytes: 1 << 30, Evicted: 99, EvictedBytes: 5 << 30,
			Damaged: 2,
		},
		Errors: map[status.Kind]uint64{
			status.NotFound: 12, status.Damaged: 3, status.Disk: 0,
		},
		SlowReads: status.SlowReads{Threshold: 1, Count: 2001, Last: []status.SlowRead{
			{Time: time.Date(2024, 2, 29, 12, 0, 0, 0, time.Local), Path: "color/1/volume.raw", Offset: 123456789,
				Bytes: 1 << 20, Seconds: 1.234},
		}},
		Process: status.Process{Goroutines: 34, MemoryBytes: 120 << 20},
		Log:     status.Log{To: "journal"},
	}
}

const aStatusText = `/mnt/a\x1b[2Jb shows /data/cortex
up 3h12m17s, wkwfs 1.2.3, process 4242: 120 MiB, 34 goroutines

            SINCE START  LAST 10 S
reads       1,234,567    12.3/s
bytes       3.0 GiB      45 MiB/s
p50         123µs        99µs
p99         12.3ms       1.5s

cache       512 MiB of 1.0 GiB, 98.2 % hits, 98,765 blocks decoded (3.0 GiB), 1,000 dropped
source      123,456 reads (5.0 GiB), 7,890 lookups, 64 in flight (at most 64), the oldest for 2.35s; it answers late
            2,345 requests over the network, 6 of them repeated
            reads p50 5.12ms, p99 20.4ms; lookups p50 1ms, p99 3.4ms
disk cache  12 GiB of 50 GiB in /var/cache/wkwfs, 45,678 hits (7.0 GiB), 3,456 misses (4.0 GiB), 12 shared
            3.0 GiB stored, 1.0 GiB not stored, 5.0 GiB evicted, 2 damaged pages read again
errors      3 damaged, 12 not found
log         journalctl -t wkwfs
slow reads  2,001 of more than 1s
  2024-02-29 12:00:00  1.23s  color/1/volume.raw, 1.0 MiB at 123456789
`

func TestStatusText(t *testing.T) {
	if got := statusText(aStatus()); got != aStatusText {
		t.Errorf("got\n%s\nwant\n%s", got, aStatusText)
	}
	panicked := statusText(status.Status{Panics: 2, Errors: map[status.Kind]uint64{status.Panicked: 1,
		status.NotFound: 3}})
	if want := "errors      1 panic, 3 not found\npanics      2: faults of wkwfs. Please report the stacks in the log\n"; !strings.Contains(panicked, want) {
		t.Errorf("no %q in\n%s", want, panicked)
	}
	got := statusText(status.Status{})
	for _, want := range []string{"source      0 reads (0 B), 0 lookups, 0 in flight (at most 0)\n",
		"errors      none\n", "slow reads  none\n", "p50         0s           0s\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("zero status: no %q in\n%s", want, got)
		}
	}
}

func TestSecondsText(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0s", 1e-9: "1ns", 999e-9: "999ns", 12.345e-6: "12.3µs", 0.0009999: "1ms", 0.123456: "123ms", 59.96: "1m0s",
		7.891: "7.89s", 90061.4: "25h1m1s",
	} {
		if got := secondsText(seconds); got != want {
			t.Errorf("%v: got %s, want %s", seconds, got, want)
		}
	}
}

// TestWatchedText: each text replaces the last one, in as many lines as the terminal has.
func TestWatchedText(t *testing.T) {
	var r redrawn
	for _, step := range []struct {
		text   string
		height int
		want   string
	}{
		{"a\nb\n", 24, "\x1b[?7la\x1b[K\nb\x1b[K\n\x1b[J\x1b[?7h"},
		{"c\n", 24, "\x1b[?7l\x1b[2Ac\x1b[K\n\x1b[J\x1b[?7h"},
		{"a\nb\nc\n", 3, "\x1b[?7l\x1b[1Aa\x1b[K\nb\x1b[K\n\x1b[J\x1b[?7h"},
		{"d\n", 3, "\x1b[?7l\x1b[2Ad\x1b[K\n\x1b[J\x1b[?7h"},
	} {
		if got := r.over(step.text, step.height); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

// TestStatusScreen: text has a line between two statuses, JSON has one line for each.
func TestStatusScreen(t *testing.T) {
	for _, test := range []struct {
		name        string
		json, watch bool
		lines       int
	}{
		{"text", false, true, 2*strings.Count(aStatusText, "\n") + 1},
		{"lines of JSON", true, true, 2},
	} {
		var out strings.Builder
		show := statusScreen(&out, test.json, test.watch)
		for range 2 {
			if err := show(aStatus()); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(out.String(), "\n"); n != test.lines {
			t.Errorf("%s: %d lines, want %d:\n%s", test.name, n, test.lines, &out)
		}
	}
}
