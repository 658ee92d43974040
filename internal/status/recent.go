package status

import (
	"context"
	"slices"
	"sync"
	"time"
)

// sample is what was read until a moment.
type sample struct {
	at    time.Time
	count uint64
	bytes uint64
	upTo  []uint64 // reads that took no longer than each of latencyBounds
}

// sample counts now.
func (m *Meter) sample() sample {
	h := written(m.latency).GetHistogram()
	s := sample{at: time.Now(), count: h.GetSampleCount(), bytes: uint64(valueOf(m.bytes))}
	for _, b := range h.GetBucket() {
		s.upTo = append(s.upTo, b.GetCumulativeCount())
	}
	return s
}

func (s sample) latencies() latencies { return latencies{s.count, s.upTo} }

// since returns what was read after another sample.
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

// history is the last samples.
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

// Run takes samples, so that it can be told what is read now, until ctx is done.
func (m *Meter) Run(ctx context.Context) {
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.history.add(m.sample())
		}
	}
}

// latencies counts reads by how long they took.
type latencies struct {
	count uint64
	upTo  []uint64 // that took no longer than each of latencyBounds
}

func (l latencies) latency() Latency { return Latency{l.quantile(0.50), l.quantile(0.99)} }

// quantile returns, in seconds, what a part q of the reads did not exceed: exact as to the
// range, and in it as if all were evenly spread. Beyond the last range it is the end of that.
func (l latencies) quantile(q float64) float64 {
	if l.count == 0 {
		return 0
	}
	rank := q * float64(l.count)
	begin, below := 0.0, 0.0
	for i, end := range latencyBounds {
		upTo := float64(l.upTo[i])
		if upTo >= rank {
			return begin + (end-begin)*(rank-below)/(upTo-below)
		}
		begin, below = end, upTo
	}
	return begin
}
