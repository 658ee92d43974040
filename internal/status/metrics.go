package status

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/wkwfs/wkwfs/internal/guard"
)

// latencyBounds are the upper bounds of the buckets for durations of reads, in seconds, from 1 µs, less than
// a hit takes, to 70 s. Each is at most ⅔ above the one before.
var latencyBounds = boundsOf(time.Microsecond, 100*time.Second)

func boundsOf(from, to time.Duration) (bounds []float64) {
	for decade := from; decade < to; decade *= 10 {
		for _, tenths := range []time.Duration{10, 15, 20, 30, 50, 70} {
			bounds = append(bounds, (decade * tenths / 10).Seconds())
		}
	}
	return bounds
}

// register makes the counters and their registry.
func (m *Meter) register() {
	m.latency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wkwfs_read_duration_seconds", Help: "Duration of the reads that the kernel requested.", Buckets: latencyBounds,
	})
	m.bytes = counter("wkwfs_read_bytes_total", "Bytes that the kernel read and bytes that were pushed to it.")
	m.slow = counter("wkwfs_slow_reads_total", fmt.Sprintf("Reads that took longer than %v.", slowThreshold))
	failed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "wkwfs_errors_total", Help: "Failed requests by kind of error.",
	}, []string{"kind"})
	m.errors = map[Kind]prometheus.Counter{}
	for _, kind := range kinds {
		m.errors[kind] = failed.WithLabelValues(string(kind))
	}
	panics := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "wkwfs_panics_total", Help: "Faults of the server that it recovered from.",
	}, func() float64 { return float64(guard.Count()) })
	about := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "wkwfs_info", Help: "Always 1. The labels describe the server.",
		ConstLabels: prometheus.Labels{"version": m.options.Version, "source": validLabel(m.options.Source), "mountpoint": validLabel(m.options.Mountpoint)},
	})
	about.Set(1)
	m.registry = prometheus.NewRegistry()
	m.registry.MustRegister(m.latency, m.bytes, m.slow, failed, panics, about,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerCache()
	m.registerSource()
	m.registerDiskCache()
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// validLabel makes a path valid UTF-8, as labels must be.
func validLabel(path string) string { return strings.ToValidUTF8(path, "\uFFFD") }

// registerCache registers the numbers of the cache.
func (m *Meter) registerCache() {
	for _, c := range []struct {
		name, help string
		of         func(Cache) uint64
	}{
		{"hits", "Blocks that were in the cache when a reader needed them.", func(c Cache) uint64 { return c.Hits }},
		{"shared", "Blocks for which a reader waited because another reader was loading them.", func(c Cache) uint64 { return c.Shared }},
		{"decoded", "Blocks that were read and decoded.", func(c Cache) uint64 { return c.Decoded }},
		{"failures", "Blocks that could not be read or decoded.", func(c Cache) uint64 { return c.Failures }},
		{"decoded_bytes", "Decoded bytes of the blocks that were read.", func(c Cache) uint64 { return c.DecodedBytes }},
		{"dropped", "Blocks that were evicted because of the budget.", func(c Cache) uint64 { return c.Dropped }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Name: "wkwfs_cache_" + c.name + "_total", Help: c.help},
			func() float64 { return float64(c.of(m.options.Cache())) }))
	}
	for _, g := range []struct {
		name, help string
		of         func(Cache) int64
	}{
		{"budget", "Maximum memory of decoded blocks.", func(c Cache) int64 { return c.BudgetBytes }},
		{"held", "Memory of decoded blocks.", func(c Cache) int64 { return c.HeldBytes }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "wkwfs_cache_" + g.name + "_bytes", Help: g.help},
			func() float64 { return float64(g.of(m.options.Cache())) }))
	}
}

// registerSource registers the numbers of the source.
func (m *Meter) registerSource() {
	for _, c := range []struct {
		name, help string
		of         func(SourceIO) uint64
	}{
		{"reads", "Reads of the source.", func(s SourceIO) uint64 { return s.Reads }},
		{"read_bytes", "Bytes read from the source.", func(s SourceIO) uint64 { return s.ReadBytes }},
		{"lookups", "Lookups in the source: files that were described or opened, and listed directories.", func(s SourceIO) uint64 { return s.Lookups }},
		{"requests", "Requests over the network to object stores.", func(s SourceIO) uint64 { return s.Requests }},
		{"repeated", "Requests to object stores that repeated one that had failed.", func(s SourceIO) uint64 { return s.Repeated }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Name: "wkwfs_source_" + c.name + "_total", Help: c.help},
			func() float64 { return float64(c.of(m.options.SourceIO())) }))
	}
	for _, g := range []struct {
		name, help string
		labels     prometheus.Labels
		of         func(SourceIO) float64
	}{
		{"in_flight", "Requests to the source in flight.", nil, func(s SourceIO) float64 { return float64(s.InFlight) }},
		{"most_in_flight", "The most requests to the source that were in flight at a time.", nil, func(s SourceIO) float64 { return float64(s.MostInFlight) }},
		{"longest_wait_seconds", "Time since the start of the oldest request in flight.", nil, func(s SourceIO) float64 { return s.LongestWait }},
		{"late", "1 if the source is late, 0 otherwise.", nil, func(s SourceIO) float64 { return boolValue(s.Late) }},
		{"latency_seconds", latencyHelp, latencyLabels("read", "0.5"), func(s SourceIO) float64 { return s.ReadLatency.P50 }},
		{"latency_seconds", latencyHelp, latencyLabels("read", "0.99"), func(s SourceIO) float64 { return s.ReadLatency.P99 }},
		{"latency_seconds", latencyHelp, latencyLabels("look", "0.5"), func(s SourceIO) float64 { return s.LookupLatency.P50 }},
		{"latency_seconds", latencyHelp, latencyLabels("look", "0.99"), func(s SourceIO) float64 { return s.LookupLatency.P99 }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "wkwfs_source_" + g.name, Help: g.help, ConstLabels: g.labels},
			func() float64 { return g.of(m.options.SourceIO()) }))
	}
}

const latencyHelp = "Time that answers of the source took in about the last minute."

func latencyLabels(request, quantile string) prometheus.Labels {
	return prometheus.Labels{"request": request, "quantile": quantile}
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// metricsText returns all metrics in the text format of Prometheus.
func (m *Meter) metricsText() ([]byte, error) {
	families, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// export returns the values of a metric. It cannot fail for the metrics of this package.
func export(m prometheus.Metric) *dto.Metric {
	var d dto.Metric
	if err := m.Write(&d); err != nil {
		panic(err)
	}
	return &d
}

func valueOf(c prometheus.Counter) float64 { return export(c).GetCounter().GetValue() }
