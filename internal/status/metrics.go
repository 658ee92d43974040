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
)

// latencyBounds are the ends of the ranges in which durations of reads are counted, in
// seconds: from 1 µs, less than a hit takes, to 70 s. None is more than ⅔ above the one before.
var latencyBounds = boundsOf(time.Microsecond, 100*time.Second)

func boundsOf(from, to time.Duration) (bounds []float64) {
	for decade := from; decade < to; decade *= 10 {
		for _, tenths := range []time.Duration{10, 15, 20, 30, 50, 70} {
			bounds = append(bounds, (decade * tenths / 10).Seconds())
		}
	}
	return bounds
}

// register makes the counters, and a registry of them.
func (m *Meter) register() {
	m.latency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "wkwfs_read_duration_seconds", Help: "How long reads took that the kernel asked for.", Buckets: latencyBounds,
	})
	m.bytes = counter("wkwfs_read_bytes_total", "Bytes given to the kernel, asked for or not.")
	m.slow = counter("wkwfs_slow_reads_total", fmt.Sprintf("Reads that took longer than %v.", slowThreshold))
	failed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "wkwfs_errors_total", Help: "Requests that failed, by what they failed of.",
	}, []string{"kind"})
	m.errors = map[Kind]prometheus.Counter{}
	for _, kind := range kinds {
		m.errors[kind] = failed.WithLabelValues(string(kind))
	}
	about := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "wkwfs_info", Help: "Always 1; the labels say what is served.",
		ConstLabels: prometheus.Labels{"version": m.options.Version, "source": valid(m.options.Source), "mountpoint": valid(m.options.Mountpoint)},
	})
	about.Set(1)
	m.registry = prometheus.NewRegistry()
	m.registry.MustRegister(m.latency, m.bytes, m.slow, failed, about,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerCache()
	m.registerSource()
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// valid is a path as a label, which has to be UTF-8.
func valid(path string) string { return strings.ToValidUTF8(path, "\uFFFD") }

// registerCache lets the numbers of the cache be asked for.
func (m *Meter) registerCache() {
	for _, c := range []struct {
		name, help string
		of         func(Cache) uint64
	}{
		{"hits", "Blocks that were in the cache when they were wanted.", func(c Cache) uint64 { return c.Hits }},
		{"shared", "Readers who waited for a block that another one had asked for.", func(c Cache) uint64 { return c.Shared }},
		{"decoded", "Blocks that were read and decoded.", func(c Cache) uint64 { return c.Decoded }},
		{"failures", "Blocks that could not be read or decoded.", func(c Cache) uint64 { return c.Failures }},
		{"decoded_bytes", "Decoded bytes of the blocks that were read.", func(c Cache) uint64 { return c.DecodedBytes }},
		{"dropped", "Blocks that had to go because of the budget.", func(c Cache) uint64 { return c.Dropped }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Name: "wkwfs_cache_" + c.name + "_total", Help: c.help},
			func() float64 { return float64(c.of(m.options.Cache())) }))
	}
	for _, g := range []struct {
		name, help string
		of         func(Cache) int64
	}{
		{"budget", "Memory that decoded blocks may take.", func(c Cache) int64 { return c.BudgetBytes }},
		{"held", "Memory that decoded blocks take.", func(c Cache) int64 { return c.HeldBytes }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "wkwfs_cache_" + g.name + "_bytes", Help: g.help},
			func() float64 { return float64(g.of(m.options.Cache())) }))
	}
}

// registerSource lets what was asked of the source be asked for.
func (m *Meter) registerSource() {
	for _, c := range []struct {
		name, help string
		of         func(SourceIO) uint64
	}{
		{"reads", "Reads of bytes of the source.", func(s SourceIO) uint64 { return s.Reads }},
		{"read_bytes", "Bytes that were read of the source.", func(s SourceIO) uint64 { return s.ReadBytes }},
		{"looks", "Attributes, opened files and listed directories of the source.", func(s SourceIO) uint64 { return s.Looks }},
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
		{"under_way", "Requests that wait for an answer of the source.", nil, func(s SourceIO) float64 { return float64(s.UnderWay) }},
		{"most_under_way", "The most requests that waited for the source at a time.", nil, func(s SourceIO) float64 { return float64(s.MostUnderWay) }},
		{"longest_wait_seconds", "How long a request that waits for the source has waited by now.", nil, func(s SourceIO) float64 { return s.LongestWait }},
		{"late", "1 if the source answers late, else 0.", nil, func(s SourceIO) float64 { return number(s.Late) }},
		{"latency_seconds", latencyHelp, ofLatency("read", "0.5"), func(s SourceIO) float64 { return s.ReadLatency.P50 }},
		{"latency_seconds", latencyHelp, ofLatency("read", "0.99"), func(s SourceIO) float64 { return s.ReadLatency.P99 }},
		{"latency_seconds", latencyHelp, ofLatency("look", "0.5"), func(s SourceIO) float64 { return s.LookLatency.P50 }},
		{"latency_seconds", latencyHelp, ofLatency("look", "0.99"), func(s SourceIO) float64 { return s.LookLatency.P99 }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "wkwfs_source_" + g.name, Help: g.help, ConstLabels: g.labels},
			func() float64 { return g.of(m.options.SourceIO()) }))
	}
}

const latencyHelp = "How long answers of the source took in about the last minute."

func ofLatency(request, quantile string) prometheus.Labels {
	return prometheus.Labels{"request": request, "quantile": quantile}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// text returns all metrics in the text format of Prometheus.
func (m *Meter) text() ([]byte, error) {
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

// written is what a metric writes of itself. Ours cannot fail to.
func written(m prometheus.Metric) *dto.Metric {
	var d dto.Metric
	if err := m.Write(&d); err != nil {
		panic(err)
	}
	return &d
}

func valueOf(c prometheus.Counter) float64 { return written(c).GetCounter().GetValue() }
