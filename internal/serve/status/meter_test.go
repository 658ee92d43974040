package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// newTestMeter returns a meter with fixed numbers of a cache.
func newTestMeter() *Meter {
	return NewMeter(Options{Version: "1.2.3", Source: "/data/cortex", Mountpoint: "/mnt/cortex", Cache: func() Cache {
		return Cache{BudgetBytes: 1000, HeldBytes: 700, Hits: 80, Shared: 10, Decoded: 9, Failures: 1,
			DecodedBytes: 4096, Dropped: 2}
	}})
}

func TestKindOf(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Kind
	}{
		{fs.ErrNotExist, NotFound},
		{&fs.PathError{Op: "open", Path: "x0.wkw", Err: syscall.ENOENT}, NotFound},
		{syscall.ENOTDIR, NotFound},
		{&fs.PathError{Op: "open", Path: "x0.wkw", Err: syscall.EACCES}, Permission},
		{fmt.Errorf("block: %w", context.Canceled), Interrupted},
		{context.DeadlineExceeded, Interrupted},
		{fmt.Errorf("x0.wkw: %w", vfs.ErrChanged), Changed},
		{fs.ErrInvalid, Invalid},
		{syscall.ENAMETOOLONG, Invalid},
		{syscall.EMFILE, Exhausted},
		{syscall.ENFILE, Exhausted},
		{syscall.ENOMEM, Exhausted},
		{&fs.PathError{Op: "read", Path: "x0.wkw", Err: syscall.EIO}, Disk},
		{syscall.ESTALE, Disk},
		{errors.New("x0.wkw: block 3: bad"), Damaged},
		{fmt.Errorf("x0.wkw: block 3: %w", &guard.Error{}), Panicked},
	} {
		m := newTestMeter()
		m.Failed("read", "x0.raw", test.err)
		for kind, n := range m.Status().Errors {
			if want := kind == test.want; (n == 1) != want {
				t.Errorf("%v: counted %d as %s, want %s", test.err, n, kind, test.want)
			}
		}
	}
}

// TestPanics: the status and the metrics count the panics that the server has recovered from.
func TestPanics(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	m := newTestMeter()
	before := m.Status().Panics
	guard.Func("a.place", func() { panic("broken") })()
	after := m.Status().Panics
	text, err := m.metricsText()
	if want := fmt.Sprintf("\nwkwfs_panics_total %d\n", after); err != nil || after != before+1 ||
		!strings.Contains(string(text), want) {
		t.Errorf("%d panics before, %d after; %v; no %q in\n%s", before, after, err, want, text)
	}
}

// TestNumbersPanic: after a panic in numbers of others, the status and the metrics have the rest, and samples go on.
func TestNumbersPanic(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	synctest.Test(t, func(t *testing.T) {
		panics := 0
		defer guard.Inject(func(place string) {
			if place == "status.sample" && panics == 0 {
				panics++
				panic("injected")
			}
		})()
		m := NewMeter(Options{Cache: func() Cache { panic("broken") }})
		ctx, cancel := context.WithCancel(t.Context())
		go m.Run(ctx)
		m.Read("x0.raw", 0, 10, time.Millisecond)
		time.Sleep(3*sampleInterval + sampleInterval/2)
		cancel()
		synctest.Wait()
		text, err := m.metricsText()
		if err != nil || !strings.Contains(string(text), "\nwkwfs_cache_hits_total 0\n") ||
			!strings.Contains(string(text), "\nwkwfs_read_bytes_total 10\n") {
			t.Errorf("%v, the metrics are\n%s", err, text)
		}
		if s := m.Status(); s.Cache != (Cache{}) || s.Reads.Count != 1 || len(m.history.samples) != 3 || panics != 1 {
			t.Errorf("%+v, %d samples", s, len(m.history.samples))
		}
	})
}

// TestAllKinds: the errors of a status have all kinds, even those that have not occurred.
func TestAllKinds(t *testing.T) {
	errors := newTestMeter().Status().Errors
	for _, kind := range Kinds() {
		if n, ok := errors[kind]; !ok || n != 0 {
			t.Errorf("%s: %d, %v", kind, n, ok)
		}
	}
}

func TestQuantile(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	for _, test := range []struct {
		name     string
		took     []time.Duration
		p50, p99 float64 // at least, up to ⅔ more
	}{
		{"none", nil, 0, 0},
		{"one", []time.Duration{40 * us}, 30e-6, 30e-6},
		{"at a bound", []time.Duration{50 * us}, 30e-6, 30e-6},
		{"0 s", []time.Duration{0}, 0, 0},
		{"one of two is slow", []time.Duration{40 * us, 4 * ms}, 30e-6, 3e-3},
		{"above the last bound", []time.Duration{time.Hour}, 70, 70},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newTestMeter()
			for _, d := range test.took {
				m.Read("f", 0, 1, d)
			}
			got := m.Status().Reads.Latency
			for _, q := range []struct{ got, want float64 }{{got.P50, test.p50}, {got.P99, test.p99}} {
				if q.got < q.want || q.got > q.want*5/3+10e-6 {
					t.Errorf("got %v, want about %v", q.got, q.want)
				}
			}
		})
	}
}

// TestQuantileOfMany compares with the percentiles of evenly spread durations.
func TestQuantileOfMany(t *testing.T) {
	m := newTestMeter()
	for i := range 1000 {
		m.Read("f", 0, 1, time.Duration(i)*time.Millisecond)
	}
	got := m.Status().Reads.Latency
	if math.Abs(got.P50-0.5) > 0.01 || math.Abs(got.P99-0.99) > 0.02 {
		t.Errorf("got %v, want 0.5 and 0.99", got)
	}
}

func TestLatencyBounds(t *testing.T) {
	if latencyBounds[0] != 1e-6 || latencyBounds[len(latencyBounds)-1] != 70 {
		t.Errorf("bounds %v", latencyBounds)
	}
	for i, b := range latencyBounds[1:] {
		if ratio := b / latencyBounds[i]; ratio <= 1 || ratio > 1.67 {
			t.Errorf("%v after %v", b, latencyBounds[i])
		}
	}
}

// TestNow reads at a constant rate, and then stops.
func TestNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newTestMeter()
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { m.Run(ctx) })
		defer running.Wait()
		defer stop()
		read := func(n int, each time.Duration) {
			for range n {
				time.Sleep(each) // synctest: takes no real time
				m.Read("f", 0, 1000, time.Millisecond)
			}
		}
		near := func(name string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > want/5 {
				t.Errorf("%s: %v, want about %v", name, got, want)
			}
		}
		read(20, 100*time.Millisecond)
		now := m.Status().Now
		near("seconds after two", now.Seconds, 2)
		near("reads", now.ReadsPerSecond, 10)
		read(600, 50*time.Millisecond)
		now = m.Status().Now
		near("seconds after many", now.Seconds, 10)
		near("reads", now.ReadsPerSecond, 20)
		near("bytes", now.BytesPerSecond, 20_000)
		near("p50", now.P50, 0.85e-3)
		time.Sleep(15 * time.Second)
		if now = m.Status().Now; now.ReadsPerSecond != 0 || now.BytesPerSecond != 0 || now.P99 != 0 {
			t.Errorf("long after the last read: %+v", now)
		}
		s := m.Status()
		near("uptime", s.Uptime, 47)
		if s.Reads.Count != 620 || s.Reads.Bytes != 620_000 {
			t.Errorf("all: %+v", s.Reads)
		}
	})
}

func TestSlowReads(t *testing.T) {
	m := newTestMeter()
	if last := m.Status().SlowReads.Last; last == nil || len(last) != 0 {
		t.Errorf("without slow reads: %#v, want an empty list", last)
	}
	m.Read("quick", 0, 1, slowThreshold-1)
	for i := range maxSlow + 3 {
		m.Read(fmt.Sprint("f", i), int64(i), 100+i, slowThreshold+time.Duration(i)*time.Second)
	}
	s := m.Status().SlowReads
	if s.Count != maxSlow+3 || len(s.Last) != maxSlow || s.Threshold != 1 {
		t.Fatalf("%d slow reads, %d of them listed, threshold %v", s.Count, len(s.Last), s.Threshold)
	}
	for i, r := range s.Last {
		n := maxSlow + 2 - i
		if want := (SlowRead{r.Time, fmt.Sprint("f", n), int64(n), 100 + n, float64(1 + n)}); r != want {
			t.Errorf("%d: got %+v, want %+v", i, r, want)
		}
	}
}

// TestFields: the JSON has exactly these names, because they are a public interface.
func TestFields(t *testing.T) {
	m := newTestMeter()
	m.Read("color/1/volume.raw", 512, 1024, 2*time.Second)
	b, err := m.statusJSON()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"": {"version", "source", "mountpoint", "pid", "time", "started", "uptime_seconds", "reads", "now",
			"cache", "source_io", "disk_cache", "errors", "panics", "slow_reads", "process", "log"},
		"reads": {"count", "bytes", "p50_seconds", "p99_seconds"},
		"now":   {"seconds", "reads_per_second", "bytes_per_second", "p50_seconds", "p99_seconds"},
		"cache": {"budget_bytes", "held_bytes", "hits", "shared", "decoded", "failures", "decoded_bytes", "dropped",
			"hit_rate"},
		"source_io": {"reads", "read_bytes", "lookups", "in_flight", "most_in_flight", "longest_wait_seconds",
			"requests", "repeated", "read_latency",
			"look_latency", "late"},
		"disk_cache": {"dir", "size_bytes", "used_bytes", "hits", "shared", "misses", "hit_bytes", "fetched_bytes",
			"written_bytes",
			"dropped_bytes", "evicted", "evicted_bytes", "damaged"},
		"errors": {"not_found", "permission", "interrupted", "changed", "invalid", "exhausted", "disk", "damaged",
			"panic"},
		"slow_reads": {"threshold_seconds", "count", "last"},
		"process":    {"goroutines", "memory_bytes"},
		"log":        {"to", "file", "error"},
	}
	for object, names := range want {
		of := got
		if object != "" {
			of = got[object].(map[string]any)
		}
		found := map[string]bool{}
		for name := range of {
			found[name] = true
		}
		expected := map[string]bool{}
		for _, name := range names {
			expected[name] = true
		}
		if !reflect.DeepEqual(found, expected) {
			t.Errorf("%q has %v, want %v", object, found, expected)
		}
	}
	if rate := got["cache"].(map[string]any)["hit_rate"]; rate != 0.9 {
		t.Errorf("hit rate %v, want 0.9", rate)
	}
}

// TestManyReaders: no read is lost while many readers and a reader of the status run.
func TestManyReaders(t *testing.T) {
	m := newTestMeter()
	var group sync.WaitGroup
	const readers, reads = 8, 500
	for range readers {
		group.Go(func() {
			for i := range reads {
				m.Read("f", int64(i), 10, time.Duration(i)*10*time.Millisecond)
				m.Failed("read", "f", fs.ErrNotExist)
			}
		})
	}
	group.Go(func() {
		for range 50 {
			m.Status()
		}
	})
	group.Wait()
	s := m.Status()
	if s.Reads.Count != readers*reads || s.Reads.Bytes != 10*readers*reads || s.Errors[NotFound] != readers*reads ||
		s.SlowReads.Count != readers*(reads-100) {
		t.Errorf("%+v, errors %v, slow %d", s.Reads, s.Errors, s.SlowReads.Count)
	}
}

func BenchmarkRead(b *testing.B) {
	m := newTestMeter()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Read("color/1/volume.raw", 0, 1<<20, 300*time.Microsecond)
		}
	})
}
