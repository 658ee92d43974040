package status

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// around returns a file system with a few files and the status files.
func around(t *testing.T, m *Meter) fs.FS {
	t.Helper()
	return m.Around(fstest.MapFS{"color/1/volume.raw": {Data: []byte("voxels")}, ".wkwfsish": {}})
}

func TestTree(t *testing.T) {
	fsys := around(t, newTestMeter())
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil || len(entries) != 2 || entries[0].Name() != ".wkwfsish" || entries[1].Name() != "color" {
		t.Errorf("the root lists %v, %v", entries, err)
	}
	below, err := fs.Sub(fsys, Dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err = fs.ReadDir(below, ".")
	if err != nil || len(entries) != 2 || entries[0].Name() != "metrics" || entries[1].Name() != "status.json" {
		t.Errorf("%s lists %v, %v", Dir, entries, err)
	}
	if b, err := fs.ReadFile(fsys, "color/1/volume.raw"); string(b) != "voxels" || err != nil {
		t.Errorf("the served file system: %q, %v", b, err)
	}
}

func TestTreeErrors(t *testing.T) {
	fsys := around(t, newTestMeter())
	for _, test := range []struct {
		op   string
		do   func(string) error
		name string
		want error
	}{
		{"open", func(n string) error { _, err := fsys.Open(n); return err }, Dir + "/x", fs.ErrNotExist},
		{"open", func(n string) error { _, err := fsys.Open(n); return err }, Dir + "/metrics/x", fs.ErrNotExist},
		{"open", func(n string) error { _, err := fsys.Open(n); return err }, "x", fs.ErrNotExist},
		{"stat", func(n string) error { _, err := fs.Stat(fsys, n); return err }, Dir + "/x", fs.ErrNotExist},
		{"readdir", func(n string) error { _, err := fs.ReadDir(fsys, n); return err }, Dir + "/x", fs.ErrNotExist},
		{"readdir", func(n string) error { _, err := fs.ReadDir(fsys, n); return err }, StatusFile, syscall.ENOTDIR},
	} {
		err := test.do(test.name)
		var of *fs.PathError
		if !errors.Is(err, test.want) || !errors.As(err, &of) || of.Op != test.op || of.Path != test.name {
			t.Errorf("%s %s: %v", test.op, test.name, err)
		}
	}
}

// TestFilesAreSnapshots: an open file keeps its content, and the next open returns new content.
func TestFilesAreSnapshots(t *testing.T) {
	m := newTestMeter()
	fsys := around(t, m)
	open := func() fs.File {
		t.Helper()
		f, err := fsys.Open(StatusFile)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	count := func(f fs.File) uint64 {
		t.Helper()
		b := make([]byte, 1<<16)
		n, err := vfs.ReadAt(context.Background(), f, b, 0)
		if err != io.EOF {
			t.Fatal(err)
		}
		var s Status
		if err := json.Unmarshal(b[:n], &s); err != nil {
			t.Fatal(err)
		}
		return s.Reads.Count
	}
	before := open()
	m.Read("f", 0, 1, 0)
	after := open()
	if b, a := count(before), count(after); b != 0 || a != 1 {
		t.Errorf("%d reads before, %d after; want 0 and 1", b, a)
	}
}

// TestInfo: only the owner may read the status files, their size is 0, and their version is constant.
func TestInfo(t *testing.T) {
	fsys := around(t, newTestMeter())
	for name, mode := range map[string]fs.FileMode{Dir: fs.ModeDir | 0o500, StatusFile: 0o400, MetricsFile: 0o400} {
		info, err := fs.Stat(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		if info.Mode() != mode || info.Name() != filepath.Base(name) || info.Size() != 0 || !vfs.DetailsOf(info).Live ||
			int(st.Uid) != os.Geteuid() {
			t.Errorf("%s: mode %v, name %s, size %d, live %v, owner %d", name, info.Mode(), info.Name(), info.Size(),
				vfs.DetailsOf(info).Live, st.Uid)
		}
		again, err := fs.Stat(fsys, name)
		if err != nil || vfs.VersionOf(again) != vfs.VersionOf(info) {
			t.Errorf("%s: another version the second time, %v", name, err)
		}
	}
	if info, err := fs.Stat(fsys, "color"); err != nil || vfs.DetailsOf(info).Live {
		t.Errorf("the served file system: live, %v", err)
	}
}

// TestOpenDir: the open directory lists its entries and cannot be read.
func TestOpenDir(t *testing.T) {
	f, err := around(t, newTestMeter()).Open(Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := f.(fs.ReadDirFile)
	var names []string
	for {
		entries, err := dir.ReadDir(1)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, entries[0].Name())
	}
	if rest, err := dir.ReadDir(-1); len(rest) != 0 || err != nil || strings.Join(names, " ") != "metrics status.json" {
		t.Errorf("one at a time %q, then %v, %v", names, rest, err)
	}
	if _, err := f.Read(nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("read: %v", err)
	}
}

// TestMetrics reads the metrics as Prometheus does, from the file and over HTTP.
func TestMetrics(t *testing.T) {
	m := NewMeter(Options{
		Source: "/data/\xff", Cache: func() Cache { return Cache{Hits: 80, HeldBytes: 700} },
		SourceIO: func() SourceIO {
			return SourceIO{Reads: 9, InFlight: 6, Late: true,
				LookupLatency: Latency{P99: 0.5}}
		},
		DiskCache: func() DiskCache { return DiskCache{Hits: 12, UsedBytes: 345} },
	})
	m.Read("f", 0, 1000, 0)
	m.Failed("read", "f", fs.ErrNotExist)
	file, err := fs.ReadFile(around(t, m), MetricsFile)
	if err != nil {
		t.Fatal(err)
	}
	reply := httptest.NewRecorder()
	m.Handler().ServeHTTP(reply, httptest.NewRequest("GET", "/metrics", nil))
	for where, text := range map[string]string{"file": string(file), "HTTP": reply.Body.String()} {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		failed := 0.0
		for _, metric := range families["wkwfs_errors_total"].GetMetric() {
			failed += metric.GetCounter().GetValue()
		}
		for name, values := range map[string][2]float64{
			"bytes": {families["wkwfs_read_bytes_total"].GetMetric()[0].GetCounter().GetValue(), 1000},
			"reads": {float64(families["wkwfs_read_duration_seconds"].GetMetric()[0].GetHistogram().GetSampleCount()),
				1},
			"errors": {failed, 1},
			"hits":   {families["wkwfs_cache_hits_total"].GetMetric()[0].GetCounter().GetValue(), 80},
			"looked": {families["wkwfs_source_reads_total"].GetMetric()[0].GetCounter().GetValue(), 9},
			"wait":   {families["wkwfs_source_in_flight"].GetMetric()[0].GetGauge().GetValue(), 6},
			"late":   {families["wkwfs_source_late"].GetMetric()[0].GetGauge().GetValue(), 1},
			"p99":    {quantile(families["wkwfs_source_latency_seconds"], "look", "0.99"), 0.5},
			"disk":   {families["wkwfs_disk_cache_hits_total"].GetMetric()[0].GetCounter().GetValue(), 12},
			"used":   {families["wkwfs_disk_cache_used_bytes"].GetMetric()[0].GetGauge().GetValue(), 345},
			"held":   {families["wkwfs_cache_held_bytes"].GetMetric()[0].GetGauge().GetValue(), 700},
		} {
			if values[0] != values[1] {
				t.Errorf("%s: %s: %v, want %v", where, name, values[0], values[1])
			}
		}
		if families["go_goroutines"] == nil || families["process_open_fds"] == nil {
			t.Errorf("%s: no metrics of the runtime or the process", where)
		}
	}
}

// quantile returns the value of a quantile of the latency of a kind of request.
func quantile(family *dto.MetricFamily, request, quantile string) float64 {
	for _, m := range family.GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["request"] == request && labels["quantile"] == quantile {
			return m.GetGauge().GetValue()
		}
	}
	return -1
}

func TestProfiles(t *testing.T) {
	for path, status := range map[string]int{
		"/debug/pprof/": 200, "/debug/pprof/goroutine?debug=1": 200, "/debug/pprof/cmdline": 200,
		"/debug/pprof/symbol": 200,
		"/":                   404, "/debug": 404, "/debug/pprof/nothing": 404,
	} {
		reply := httptest.NewRecorder()
		newTestMeter().Handler().ServeHTTP(reply, httptest.NewRequest("GET", path, nil))
		if reply.Code != status {
			t.Errorf("%s: %d, want %d", path, reply.Code, status)
		}
	}
}
