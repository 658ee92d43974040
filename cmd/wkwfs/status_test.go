package main

import (
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/status"
)

func TestMountOf(t *testing.T) {
	table := []mounted{{1, "/", "ext4", ""}, {2, "/mnt/a", "fuse.wkwfs", ""}, {3, "/mnt/a/b", "tmpfs", ""}, {4, "/mnt/c", "fuse.wkwfs", ""}, {5, "/mnt/c", "ext4", ""}}
	for path, want := range map[string]int{
		"/": 1, "/mnt": 1, "/mnt/a": 2, "/mnt/a/color/1": 2, "/mnt/ab": 1, "/mnt/a/b/x": 3, "/mnt/c/x": 5,
	} {
		if m, ok := mountOf(table, path); !ok || m.ID != want {
			t.Errorf("%s is in %+v, %v; want %d", path, m, ok, want)
		}
	}
	if m, ok := mountOf(table[1:], "/srv"); ok {
		t.Errorf("nowhere: %+v", m)
	}
}

// aStatus has something of everything.
func aStatus() status.Status {
	return status.Status{
		Version: "1.2.3", Source: "/data/cortex", Mountpoint: "/mnt/a\x1b[2Jb", PID: 4242, Uptime: 11537.4,
		Reads: status.Reads{Count: 1234567, Bytes: 3 << 30, Latency: status.Latency{P50: 123.4e-6, P99: 0.0123}},
		Now:   status.Now{Seconds: 9.96, ReadsPerSecond: 12.34, BytesPerSecond: 45 << 20, Latency: status.Latency{P50: 99e-6, P99: 1.5}},
		Cache: status.Cache{BudgetBytes: 1 << 30, HeldBytes: 512 << 20, Decoded: 98765, DecodedBytes: 3 << 30, Dropped: 1000, HitRate: 0.9815},
		SourceIO: status.SourceIO{
			Reads: 123456, ReadBytes: 5 << 30, Looks: 7890, UnderWay: 64, MostUnderWay: 64, LongestWait: 2.345,
			ReadLatency: status.Latency{P50: 0.00512, P99: 0.0204}, LookLatency: status.Latency{P50: 0.001, P99: 0.0034}, Late: true,
		},
		Errors: map[status.Kind]uint64{
			status.NotFound: 12, status.Damaged: 3, status.Disk: 0,
		},
		SlowReads: status.SlowReads{Threshold: 1, Count: 2001, Last: []status.SlowRead{
			{Time: time.Date(2024, 2, 29, 12, 0, 0, 0, time.Local), Path: "color/1/volume.raw", Offset: 123456789, Bytes: 1 << 20, Seconds: 1.234},
		}},
		Process: status.Process{Goroutines: 34, MemoryBytes: 120 << 20},
	}
}

const aStatusText = `"/mnt/a\x1b[2Jb" shows /data/cortex
up 3h12m17s, wkwfs 1.2.3, process 4242: 120 MiB, 34 goroutines

            SINCE START  LAST 10 S
reads       1,234,567    12.3/s
bytes       3.0 GiB      45 MiB/s
p50         123µs        99µs
p99         12.3ms       1.5s

cache       512 MiB of 1.0 GiB, 98.2 % hits, 98,765 blocks decoded (3.0 GiB), 1,000 dropped
source      123,456 reads (5.0 GiB), 7,890 looks, 64 under way (at most 64 so far), one of them for 2.35s; it answers late
            reads p50 5.12ms, p99 20.4ms; looks p50 1ms, p99 3.4ms
errors      3 damaged, 12 not found
slow reads  2,001 of more than 1s
  2024-02-29 12:00:00  1.23s  color/1/volume.raw, 1.0 MiB at 123456789
`

func TestStatusText(t *testing.T) {
	if got := statusText(aStatus()); got != aStatusText {
		t.Errorf("got\n%s\nwant\n%s", got, aStatusText)
	}
	got := statusText(status.Status{})
	for _, want := range []string{"source      0 reads (0 B), 0 looks, 0 under way (at most 0 so far)\n", "errors      none\n", "slow reads  none\n", "p50         0s           0s\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("of nothing: no %q in\n%s", want, got)
		}
	}
}

func TestSecondsText(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0s", 1e-9: "1ns", 999e-9: "999ns", 12.345e-6: "12.3µs", 0.0009999: "1ms", 0.123456: "123ms", 59.96: "1m0s", 7.891: "7.89s", 90061.4: "25h1m1s",
	} {
		if got := secondsText(seconds); got != want {
			t.Errorf("%v: got %s, want %s", seconds, got, want)
		}
	}
}

// TestWatchedText: each text is written over the last one, in as many lines as there is
// room for.
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

// TestStatusScreen: one block a status, with a line between, or one line of JSON.
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
