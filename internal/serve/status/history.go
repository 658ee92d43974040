package status

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// sample holds the counts of reads at one time.
type sample struct {
	at    time.Time
	count uint64
	bytes uint64
	upTo  []uint64 // by bucket of latencyBounds: reads up to its upper bound
}

// sample returns the current counts.
func (m *Meter) sample() sample {
	h := export(m.latency).GetHistogram()
	s := sample{at: time.Now(), count: h.GetSampleCount(), bytes: uint64(valueOf(m.bytes))}
	for _, b := range h.GetBucket() {
		s.upTo = append(s.upTo, b.GetCumulativeCount())
	}
	return s
}

func (s sample) latencies() latencies { return latencies{s.count, s.upTo} }

// since returns the reads between an earlier sample and this one.
func (s sample) since(before sample) Now {
	between := latencies{s.count - before.count, slices.Clone(s.upTo)}
	for i := range between.upTo {
		between.upTo[i] -= before.upTo[i]
	}
	n := Now{Seconds: s.at.Sub(before.at).Seconds(), Latency: between.latency()}
	if n.Seconds > 0 {
		n.ReadsPerSecond = float64(between.count) / n.Seconds
		n.BytesPerSecond = float64(s.bytes-before.bytes) / n.Seconds
	}
	return n
}

const (
	sampleInterval = time.Second
	maxSamples     = 10
)

// history holds the last samples.
type history struct {
	mu      sync.Mutex
	samples []sample // the oldest first
}

func (h *history) add(s sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.samples) == maxSamples {
		h.samples = slices.Delete(h.samples, 0, 1)
	}
	h.samples = append(h.samples, s)
}

func (h *history) oldest() sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.samples[0]
}

// Run takes a sample each second for [Status].Now, until ctx is done.
func (m *Meter) Run(ctx context.Context) {
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			guard.Func("status.sample", func() {
				guard.Pass("status.sample")
				m.history.add(m.sample())
			})()
		}
	}
}

// latencies counts reads by their duration.
type latencies struct {
	count uint64
	upTo  []uint64 // by bucket of latencyBounds: reads up to its upper bound
}

func (l latencies) latency() Latency { return Latency{l.quantile(0.50), l.quantile(0.99)} }

// quantile returns the duration in seconds that a fraction q of the reads did not exceed. Inside a bucket it
// interpolates linearly. For durations above the last bound it returns that bound.
func (l latencies) quantile(q float64) float64 {
	if l.count == 0 {
		return 0
	}
	rank := q * float64(l.count)
	start, below := 0.0, 0.0
	for i, end := range latencyBounds {
		upTo := float64(l.upTo[i])
		if upTo >= rank {
			return start + (end-start)*(rank-below)/(upTo-below)
		}
		start, below = end, upTo
	}
	return start
}
