package status

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/wkwfs/wkwfs/internal/small/guard"
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
		Name: "wkwfs_read_duration_seconds", Help: "Duration of the reads that the kernel requested.",
		Buckets: latencyBounds,
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
		ConstLabels: prometheus.Labels{"version": m.options.Version, "source": validLabel(m.options.Source),
			"mountpoint": validLabel(m.options.Mountpoint)},
	})
	about.Set(1)
	m.registry = prometheus.NewRegistry()
	m.registry.MustRegister(m.latency, m.bytes, m.slow, failed, panics, about,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerNumbers("wkwfs_cache_", func() any { return m.options.Cache() })
	m.registerNumbers("wkwfs_source_", func() any { return m.options.SourceIO() })
	m.registerNumbers("wkwfs_disk_cache_", func() any { return m.options.DiskCache() })
	m.registerLatencies()
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// validLabel makes a path valid UTF-8, as labels must be.
func validLabel(path string) string { return strings.ToValidUTF8(path, "\uFFFD") }

// registerNumbers registers the fields of a struct that have a tag metric, which is the help of the metric. of returns
// the struct with its current numbers. Fields of type uint64 are counters, others are gauges. The name of a metric is
// that of the field in JSON.
func (m *Meter) registerNumbers(prefix string, of func() any) {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(of())) {
		help, ok := field.Tag.Lookup("metric")
		if !ok {
			continue
		}
		name, value := prefix+field.Tag.Get("json"),
			func() float64 { return number(reflect.ValueOf(of()).FieldByIndex(field.Index)) }
		if field.Type.Kind() == reflect.Uint64 {
			m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name + "_total", Help: help},
				value))
		} else {
			m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
		}
	}
}

// number returns the value of a field of a type that statuses have.
func number(v reflect.Value) float64 {
	switch {
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.Kind() == reflect.Bool:
		return 0
	}
	return v.Convert(reflect.TypeFor[float64]()).Float()
}

// registerLatencies registers how long answers of the source took.
func (m *Meter) registerLatencies() {
	for _, g := range []struct {
		request, quantile string
		of                func(SourceIO) float64
	}{
		{"read", "0.5", func(s SourceIO) float64 { return s.ReadLatency.P50 }},
		{"read", "0.99", func(s SourceIO) float64 { return s.ReadLatency.P99 }},
		{"look", "0.5", func(s SourceIO) float64 { return s.LookupLatency.P50 }},
		{"look", "0.99", func(s SourceIO) float64 { return s.LookupLatency.P99 }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "wkwfs_source_latency_seconds",
			Help:        "Time that answers of the source took in about the last minute.",
			ConstLabels: prometheus.Labels{"request": g.request, "quantile": g.quantile},
		}, func() float64 { return g.of(m.options.SourceIO()) }))
	}
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
